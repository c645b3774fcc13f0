"""The guard of cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchprism.records.sheets import guarded, unguarded


@given(st.text(alphabet="'=+-@\t\r\n＝＋－＠a ", max_size=6) | st.text(max_size=4))
def test_a_text_comes_back(text: str) -> None:
    assert unguarded(guarded(text)) == text


@given(st.sampled_from("=+-@\t\r\n＝＋－＠"), st.text(max_size=5))
def test_no_formula_is_left(first: str, rest: str) -> None:
    assert guarded(first + rest) == "'" + first + rest


@pytest.mark.parametrize("cell", ["plain", "'tis", "'", "", "1-2", -3, 2.5, None, True])
def test_what_is_harmless_is_left_alone(cell: object) -> None:
    assert guarded(cell) == cell
    assert unguarded(cell) == cell
