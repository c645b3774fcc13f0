"""Composing from what a project holds today, and comparing with what it composed before."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchprism.project import Project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.compose.composer import Composition
    from benchprism.compose.language.errors import Relaxation
    from benchprism.compose.screening import Screening

Show = Callable[["Screening", Sequence["Relaxation"]], None]
_PLACE = re.compile(r"(?P<file>.+), line (?P<line>\d+), column (?P<column>\d+): (?P<message>.+)")


def composed(project: Project, path: Path, show_shortage: Show | None = None) -> Composition:
    """Compose what a criteria file says of the project's items.

    Args:
        project: the project.
        path: the criteria file.
        show_shortage: told what the rules leave when that is too little, before the error.

    Raises:
        InputError: the criteria do not fit, or cannot be met; with file, line and column.
    """
    from benchprism.annotate.review.judging.gate import CALIBRATION, read_gate
    from benchprism.cli.gather import (
        earlier_compositions,
        evidence_for,
        project_attribute_table,
        project_catalogue,
    )
    from benchprism.compose.composer import finish
    from benchprism.compose.language.errors import Infeasible, located
    from benchprism.compose.language.extends import read_criteria
    from benchprism.compose.screening import screen

    criteria, catalogue = read_criteria(path), project_catalogue(project)
    with located(path):
        screening = screen(
            criteria,
            project_attribute_table(project),
            catalogue=catalogue,
            seed=project.settings.seed,
            evidence=evidence_for(project, criteria),
            earlier=earlier_compositions(project, criteria),
            gate=read_gate(project.review / CALIBRATION, catalogue),
        )
        try:
            return finish(screening)
        except Infeasible as error:
            if show_shortage is not None:
                show_shortage(screening, error.relaxations)
            raise


def lock_of(project: Project, composition: Composition) -> dict[str, Any]:
    """The lock of a composition of the project's items."""
    from benchprism.cli.gather import (
        earlier_compositions,
        project_annotators,
        project_catalogue,
        project_provenance,
    )
    from benchprism.compose.locking.lock import lock, lock_digest

    earlier = earlier_compositions(project, composition.criteria)
    return lock(
        composition,
        catalogue=project_catalogue(project),
        provenance=project_provenance(project, composition.available),
        annotators=project_annotators(project, composition.chosen_ids),
        earlier={name: lock_digest(subset.lock) for name, subset in earlier.items()},
    )


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """Something that is not as criteria say."""

    file: str
    line: int
    column: int
    message: str

    @property
    def annotation(self) -> str:
        """As GitHub's workflow commands want it."""
        where = f"file={_property(self.file)},line={self.line},col={self.column}"
        return f"::error {where},title=benchprism compose::{_data(self.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def check_files(project: Project, paths: Sequence[Path]) -> list[CheckFinding]:
    """Compose each criteria file in memory and compare with what is stored."""
    return [finding for path in paths for finding in _check(project, path)]


def _check(project: Project, path: Path) -> Iterator[CheckFinding]:
    from benchprism.compose.language.errors import where
    from benchprism.compose.locking.verification import verify

    try:
        composition = composed(project, path)
        found = verify(project.subsets / composition.name, lock_of(project, composition))
    except InputError as error:
        yield _finding(path, str(error))
        return
    for finding in composition.findings:
        if not finding.met:
            of = f" (of {finding.group})" if finding.group else ""
            message = f"expected {finding.text}{of}; found {finding.value:.4g}"
            yield _finding(path, f"{where(path, finding.place)}: {message}")
    for sentence in (*found.moved, *found.damaged):
        yield _finding(path, f"{where(path, ('name',))}: {sentence}")


def _finding(path: Path, sentence: str) -> CheckFinding:
    """Take the place out of the sentence that names it; without one it is the file's start."""
    match = _PLACE.fullmatch(sentence)
    if match is None:
        return CheckFinding(os.path.relpath(path), 1, 1, sentence)
    file = os.path.relpath(match["file"])
    return CheckFinding(file, int(match["line"]), int(match["column"]), match["message"])
