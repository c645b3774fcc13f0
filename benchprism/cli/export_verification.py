"""What ``benchprism export --verify`` prints: what real libraries made of an exported folder."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchprism.cli.output import print_table, say
from benchprism.records.errors import InputError, enumerated

if TYPE_CHECKING:
    from benchprism.compose.export.harness.rendering import Counts
    from benchprism.compose.export.harness.verify import LibraryReport


def require_provable(*, verify: bool, ids_only: bool, python: Path | None) -> None:
    """Refuse options that do not go together.

    Raises:
        InputError: they do not.
    """
    if verify and ids_only:
        raise InputError(
            "--verify with --ids-only",
            wanted="an export with texts, which can be rendered and scored",
            mend="leave out one of them",
        )
    if python is not None and not verify:
        raise InputError(
            f"--python {str(python)!r} without --verify",
            wanted="--python to say where --verify finds the harnesses",
            mend="add --verify",
        )


def verified(folder: Path, subset: Path, python: Path | None) -> list[LibraryReport]:
    """Verify an exported folder against the subset that it was made of; say what goes on.

    Args:
        folder: the exported folder.
        subset: the subset's folder.
        python: the Python of another environment, where the harnesses are.

    Raises:
        InputError: there is no such Python.
    """
    from benchprism.compose.export.harness.verify import verify_export
    from benchprism.compose.store import read_subset

    say("Loading, rendering and scoring the export by each library ...")
    return verify_export(folder, read_subset(subset).items, python=python)


def verification(reports: list[LibraryReport]) -> list[dict[str, Any]]:
    """The reports as plain data; of an absent library it is not known whether it holds."""
    return [
        {
            **asdict(report),
            "absent": report.is_absent,
            "holds": None if report.is_absent else report.holds,
        }
        for report in reports
    ]


def print_verification(reports: list[LibraryReport], *, figures: bool) -> None:
    """Print a row for each library and benchmark; say what differs and what was not checked."""
    rows = [
        [name, benchmark, *_figures(counts)]
        for report in reports
        for name, found in (
            (f"{report.library} {report.version}", report.benchmarks),
            ("eval.yaml", report.without_code),
        )
        for benchmark, counts in found.items()
    ]
    head = ["by", "benchmark", "items", "left out", "texts", "keys", "scored right", "joined"]
    if rows and figures:
        print_table(head, rows, title="Verified")
    for report in reports:
        if report.is_absent:
            say(f"Not checked: {report.library} is not installed; --python PATH names where it is.")
        elif report.error is not None:
            say(
                f"{report.library} in {os.path.relpath(report.python or '')} failed: {report.error}"
            )
        for difference in report.differences:
            say(f"{report.library}: {difference}")
    if all(report.holds for report in reports):
        checked = [report.library for report in reports if not report.is_absent]
        say(f"All of it holds, by {enumerated(checked)}.")


def _figures(counts: Counts) -> list[Any]:
    shown = (counts.rendered, counts.keyed, counts.right, counts.joined)
    return [counts.items, counts.left_out, *("" if n is None else n for n in shown)]
