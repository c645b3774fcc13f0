"""Cells of sheets that people open: a text that a spreadsheet would run as a formula is guarded.

A spreadsheet reads a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end as
something to compute. An apostrophe before it makes it text again; reading the sheet takes it away.
"""

from __future__ import annotations

import re
from typing import TypeVar

Cell = TypeVar("Cell")

_FORMULA = r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
_TO_GUARD = re.compile(rf"'*{_FORMULA}")
_GUARDED = re.compile(rf"'+{_FORMULA}")


def guarded(cell: Cell) -> Cell | str:
    """Put an apostrophe before a text that a spreadsheet would run; numbers are left alone.

    >>> guarded("=cmd()"), guarded("'-3"), guarded("'tis"), guarded(-3)
    ("'=cmd()", "''-3", "'tis", -3)
    """
    return f"'{cell}" if isinstance(cell, str) and _TO_GUARD.match(cell) else cell


def unguarded(cell: Cell) -> Cell | str:
    """Take away what ``guarded`` put before a text.

    >>> unguarded("'=cmd()"), unguarded("''-3"), unguarded("'tis"), unguarded(-3)
    ('=cmd()', "'-3", "'tis", -3)
    """
    return cell[1:] if isinstance(cell, str) and _GUARDED.match(cell) else cell
