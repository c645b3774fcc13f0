from __future__ import annotations

import doctest

import pytest

from benchprism.annotate.review.server.hosted.search import text_query
from benchprism.annotate.review.server.hosted.search.text_query import (
    Joined,
    Not,
    Query,
    Words,
    folded,
    matches,
    parse_query,
)


def word(*words: str, prefix: bool = False) -> Words:
    return Words(words, prefix)


def both(*parts: Query) -> Joined:
    return Joined("all", parts)


def either(*parts: Query) -> Joined:
    return Joined("any", parts)


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ("", None),
        ("?! ...", None),
        ("a", word("a")),
        ("a b c", both(word("a"), word("b"), word("c"))),
        ("a + b", both(word("a"), word("b"))),
        ("a | b | c", either(word("a"), word("b"), word("c"))),
        ("a | b c", both(either(word("a"), word("b")), word("c"))),
        ("a b | c", either(both(word("a"), word("b")), word("c"))),
        ("a | (b c)", either(word("a"), both(word("b"), word("c")))),
        ("-a", Not(word("a"))),
        ("--a", word("a")),
        ("-(a b)", Not(both(word("a"), word("b")))),
        ("a-b", word("a", "b")),
        ('"a b"', word("a", "b")),
        ('"a b', word("a", "b")),
        ('"a b"*', word("a", "b")),
        ('"say \\"a\\""', word("say", "a")),
        ("ab*", word("ab", prefix=True)),
        ("ab\\*", word("ab")),
        ("a.b*", word("a", "b", prefix=True)),
        ("\\-a", word("a")),
        ("word~1", word("word")),
        ("word~", word("word")),
        ("word\\~1", word("word", "1")),
        ('"a b"~3', word("a", "b")),
        ("a OR b", both(word("a"), word("or"), word("b"))),
        ("(((a)))", word("a")),
        ("((a", word("a")),
        ("a))", word("a")),
        ("() a", word("a")),
    ],
)
def test_what_was_typed_is_read_from_left_to_right(typed: str, query: Query | None) -> None:
    assert parse_query(typed) == query


def test_brackets_without_end_are_read_without_end() -> None:
    assert parse_query("(" * 100_000 + "a") == word("a")
    assert matches(both(*[word("a")] * 10_000), ["a"])


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Zêta-ETA", "zêta-eta"),
        ("STRASSE Straße", "strasse strasse"),
        ("ﬁne ＦＵＬＬ e\u0301", "fine full é"),
    ],
)
def test_case_and_unicode_variants_are_folded(text: str, seen: str) -> None:
    assert folded(text) == seen


@pytest.mark.parametrize(
    ("typed", "text", "found"),
    [
        ("the", "the quick", True),
        ("the", "other", False),
        ("the", "then", False),
        ("the*", "then", True),
        ("the*", "other", False),
        ('"the quick"', "the -- quick!", True),
        ('"the quick"', "thequick", False),
        ('"the the"', "the", False),
        ("3.14", "is 3.14.", True),
        ("3.14", "is 314", False),
        ("3.14", "is 3.145", False),
        ("snake", "snake_case", False),
        ("数学", "中文数学题", True),
        ("数学", "数 学", True),
        ("学数", "中文数学题", False),
        ("ok数", "中ok数", True),
        ("k数", "中ok数", False),
        ("a+b.c", "a ( b.c", True),
        ("🎉 party", "party", True),
    ],
)
def test_words_are_found_whole(typed: str, text: str, found: bool) -> None:
    query = parse_query(typed)
    assert query is not None
    assert matches(query, [text]) is found


def test_words_of_a_phrase_stand_in_one_text_and_others_may_not() -> None:
    text = ["the quick", "brown fox"]
    assert matches(word("the", "quick"), text)
    assert matches(word("the", "qui", prefix=True), text)
    assert not matches(word("the", "qui"), text)
    assert not matches(word("he", "quick"), text)
    assert not matches(word("quick", "brown"), text)
    assert matches(both(word("quick"), word("brown")), text)
    assert not matches(Not(word("fox")), text)


def test_the_examples_are_true() -> None:
    assert doctest.testmod(text_query).failed == 0
