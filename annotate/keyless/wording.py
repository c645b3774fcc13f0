"""What the rules read of an item: its words, without program code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)|\[PYTHON\].*?(?:\[/PYTHON\]|\Z)", re.DOTALL)
_DRAWING = re.compile(r"\[asy\].*?(?:\[/asy\]|\Z)", re.DOTALL)
_CODE_LINE = re.compile(
    r"^[ \t]*(?:def \w+\(.*\):|class \w+.*:|assert .+|return\b.*|import \w+.*|from \w+ import .+"
    r"|#include\b.*|(?:public|private|static) .*[{;]|(?:for|while|if|elif)\b.*[:{]|\}"
    r"|(?:\w+[ \t]+)?[\w.\[\]]+[ \t]*(?:[-+*/]?=|\().*;)[ \t]*$",
    re.MULTILINE,
)
_INLINE_OPTIONS = re.compile(
    r"(?:(?i:\bOptions:|\bAnswer choices:)|\(A\)(?=.{0,2000}\(B\))).*\Z", re.DOTALL
)
_SENTENCE_END = re.compile(r"(?<=[.?!])[\"')\]]*\s+")


@dataclass(frozen=True)
class Wording:
    """The texts of one item."""

    question: str
    context: str
    choices: tuple[str, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Wording:
        """Take the texts from one row of an items table."""
        return cls(row["question"], row["context"], tuple(row["choices"]))

    @cached_property
    def _text(self) -> str:
        text = _DRAWING.sub("", f"{self.context}\n{self.question}")
        return text.replace("\u2019", "'")

    @cached_property
    def has_code(self) -> bool:
        """Whether the question or its context holds a block or several lines of program code."""
        text = self._text
        return bool(_CODE_BLOCK.search(text)) or len(_CODE_LINE.findall(text)) >= 2

    @cached_property
    def has_inline_options(self) -> bool:
        """Whether the options stand in the question's own text."""
        return not self.choices and bool(_INLINE_OPTIONS.search(self._text))

    @cached_property
    def prose(self) -> str:
        """Context and question without code and without options that stand in the text."""
        text = _CODE_LINE.sub("", _CODE_BLOCK.sub("", self._text))
        return (_INLINE_OPTIONS.sub("", text) if self.has_inline_options else text).strip()

    @cached_property
    def asked(self) -> str:
        """The last sentence when it is a question; otherwise all of the prose."""
        last = _SENTENCE_END.split(self.prose)[-1]
        return last if last.rstrip("\"')] ").endswith("?") else self.prose
