"""What a reviewer is handed without a server: the same items and questions as page and as sheet."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....prompts.catalogue import Value
from ..case import Case
from ..form import Mode, ReviewForm

FORMAT = "benchprism-review"
VERSION = 1


@dataclass(frozen=True, slots=True)
class HandoutCase:
    """One item of a handout."""

    case: Case
    mode: Mode

    def is_for(self, reviewer: str) -> bool:
        """Whether it is for a reviewer, or for a handout that is nobody's own."""
        return not reviewer or not self.case.reviewers or reviewer in self.case.reviewers

    def suggested(self, form: ReviewForm) -> dict[str, Value]:
        """What is filled in before the reviewer begins."""
        if self.mode == "blind":
            return {}
        asked = [question.name for question in form.asked_of(self.case.kind)]
        shown = self.case.suggestions
        return {name: shown[name].value for name in asked if name in shown}


@dataclass(frozen=True, slots=True)
class Handout:
    """Items for a reviewer, and what is asked about them."""

    project: str
    """The project's name."""
    form: ReviewForm
    cases: tuple[HandoutCase, ...]
    reviewer: str = ""
    """Who is to fill it in; empty when anyone may."""

    @property
    def id(self) -> str:
        """Identify the handout by what the reviewer sees: 16 hexadecimal digits."""
        seen = [
            [s.case.item_id, s.case.content_hash, s.mode, s.suggested(self.form)]
            for s in self.cases
        ]
        asked = [question.name for question in self.form]
        about = [self.project, self.form.catalogue.hash, self.reviewer, asked, seen]
        return hashlib.blake2b(json.dumps(about).encode(), digest_size=8).hexdigest()

    @property
    def about(self) -> dict[str, Any]:
        """What import needs to know about the handout."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "page": self.id,
            "project": self.project,
            "catalogue": self.form.catalogue.hash,
            "dimension": self.form.dimension,
        }


def on_the_wire(values: Mapping[str, Value], form: ReviewForm) -> dict[str, object]:
    """Write values by attribute as they travel."""
    return {name: form[name].wire(value) for name, value in values.items()}
