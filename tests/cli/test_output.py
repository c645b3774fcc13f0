"""What tables look like on narrow terminals and in pipes."""

from __future__ import annotations

import pytest

from benchprism.cli.output import print_table

COLUMNS = ("benchmark", "items", "CBRC")
ROWS = (("mmlu", 14042, "0.74 [0.71, 0.79]"), ("gsm8k", 1319, "undefined because of two models"))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A terminal without colors, whose width a test sets."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    return monkeypatch


def test_a_wide_terminal_shows_a_row_on_a_line(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.setenv("COLUMNS", "80")
    print_table(COLUMNS, ROWS)
    assert "mmlu        14042   0.74 [0.71, 0.79]" in capsys.readouterr().out


def test_a_narrow_terminal_wraps_between_words(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.setenv("COLUMNS", "40")
    print_table(COLUMNS, ROWS)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 40
    assert {"undefined", "because", "0.79]"} <= set(out.split())


def test_where_words_do_not_fit_a_row_is_a_block(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.setenv("COLUMNS", "30")
    print_table(COLUMNS, ROWS, title="Scores")
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:4] == [
        "Scores",
        "benchmark  mmlu",
        "items      14042",
        "CBRC       0.74 [0.71, 0.79]",
    ]


def test_a_pipe_gets_whole_words_however_long(capsys: pytest.CaptureFixture[str]) -> None:
    word = "x" * 300
    print_table(("item",), ((word,),))
    assert word in capsys.readouterr().out.split()
