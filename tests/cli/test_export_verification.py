from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.cli.export_verification import (
    print_verification,
    require_provable,
    verification,
)
from benchprism.compose.export.harness.rendering import Counts
from benchprism.compose.export.harness.verify import LibraryReport
from benchprism.records.errors import InputError

GOOD = LibraryReport(
    "lm_eval", "0.4.13", "/env/bin/python", benchmarks={"arc": Counts(3, 1, 3, 3, 3, 3)}
)
BAD = LibraryReport(
    "inspect_ai",
    "0.3",
    "/env/bin/python",
    benchmarks={"arc": Counts(3, 0, 3, 2, 2, 3)},
    differences=("arc/test/0: the key 'B'",),
)


def test_options_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(InputError, match="--verify with --ids-only"):
        require_provable(verify=True, ids_only=True, python=None)
    with pytest.raises(InputError, match="without --verify"):
        require_provable(verify=False, ids_only=False, python=Path("env"))
    require_provable(verify=True, ids_only=False, python=Path("env"))


def test_a_key_that_differs_does_not_hold_and_a_missing_library_is_no_fault() -> None:
    absent, failed = LibraryReport("datasets"), LibraryReport("x", python="/p", error="boom")
    told = verification([GOOD, BAD, absent, failed])
    assert [one["holds"] for one in told] == [True, False, None, False]
    assert [one["absent"] for one in told] == [False, False, True, False]
    assert told[1]["benchmarks"]["arc"]["keyed"] == 2


def test_people_are_told_what_differs_and_what_was_not_checked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_verification([GOOD, BAD, LibraryReport("datasets")], figures=True)
    printed = capsys.readouterr()
    assert "arc" in printed.out
    assert "inspect_ai: arc/test/0: the key 'B'" in printed.err
    assert "Not checked: datasets is not installed" in printed.err
    assert "All of it holds" not in printed.err

    print_verification([GOOD], figures=False)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "All of it holds, by lm_eval." in printed.err
