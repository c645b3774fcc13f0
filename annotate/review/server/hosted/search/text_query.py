r"""What a person types into the search box: parsed once, matched against many texts.

The syntax is Elasticsearch's ``simple_query_string``: words are joined by AND, ``|`` is OR, ``-``
is NOT, ``"..."`` is a phrase, ``word*`` a prefix, ``( )`` a group, and ``\`` takes the next sign
as it is. Operators have no precedence: they are taken from left to right. ``~1``, which asks for a
fuzzy match, is read over.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

_DEEPEST = 50
_ALONE = "\u3005\u3007\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Signs of scripts that put no space between words: each is a word of its own."""
_LETTER = rf"[^\W{_ALONE}]"
"""A sign of the other words."""
_WORD = re.compile(rf"[{_ALONE}]|{_LETTER}+")
_END = rf"(?!{_LETTER})"
_PART = re.compile(r'"((?:\\.|[^"\\])*)"?(?:~\d+)?|([()|+])|(-)|((?:\\.|[^\s"()|+])+)', re.DOTALL)
_FUZZY = re.compile(r"(?<!\\)~\d*\Z")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Words:
    """Words that stand next to each other, in this order."""

    words: tuple[str, ...]
    prefix: bool = False
    """The last word may go on."""


@dataclass(frozen=True, slots=True)
class Not:
    """What must not match."""

    part: Query


@dataclass(frozen=True, slots=True)
class Joined:
    """Parts of which all, or any, must match."""

    how: Literal["all", "any"]
    parts: tuple[Query, ...]


Query = Words | Not | Joined


def folded(text: str) -> str:
    """Fold case and Unicode variants.

    >>> folded("STRASSE Straße ﬁne")
    'strasse strasse fine'
    """
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()


def parse_query(text: str) -> Query | None:
    """Parse what was typed; none when there is no word in it.

    >>> parse_query('alpha -"beta gamma"')
    Joined(how='all', parts=(Words(words=('alpha',), prefix=False), \
Not(part=Words(words=('beta', 'gamma'), prefix=False))))
    """
    groups = [_Group()]
    for phrase, sign, minus, term in (match.groups() for match in _PART.finditer(text)):
        if minus:
            groups[-1].negated = not groups[-1].negated
        elif sign == "(" and len(groups) < _DEEPEST:
            groups.append(_Group())
        elif sign == ")" and len(groups) > 1:
            inner = groups.pop().query
            groups[-1].add(inner)
        elif sign in {"|", "+"}:
            groups[-1].how = "any" if sign == "|" else "all"
        elif term or phrase:
            groups[-1].add(_words(term or phrase, is_term=bool(term)))
    while len(groups) > 1:
        inner = groups.pop().query
        groups[-1].add(inner)
    return groups[0].query


class _Group:
    """One pair of brackets while it is read from left to right."""

    def __init__(self) -> None:
        self.query: Query | None = None
        self.how: Literal["all", "any"] = "all"
        self.negated = False

    def add(self, part: Query | None) -> None:
        if part is not None:
            part = Not(part) if self.negated else part
            self.query = part if self.query is None else _joined(self.how, self.query, part)
        self.how, self.negated = "all", False


def _joined(how: Literal["all", "any"], left: Query, right: Query) -> Joined:
    parts = left.parts if isinstance(left, Joined) and left.how == how else (left,)
    return Joined(how, (*parts, right))


def _words(text: str, *, is_term: bool) -> Words | None:
    text = _FUZZY.sub("", text) if is_term else text
    words = _WORD.findall(folded(_ESCAPE.sub(r"\1", text)))
    prefix = is_term and text.endswith("*") and not text.endswith("\\*")
    return Words(tuple(words), prefix) if words else None


def matches(query: Query, texts: Sequence[str]) -> bool:
    """Tell whether texts, which must be folded, answer the query.

    Words that stand together must do so in one of the texts; others may be in different ones.

    >>> matches(parse_query("quick fo*"), ["the quick", "brown fox"])
    True
    >>> matches(parse_query('"quick brown"'), ["the quick", "brown fox"])
    False
    """
    match query:
        case Words(words, prefix):
            return any(_stand_in(text, words, prefix) for text in texts)
        case Not(part):
            return not matches(part, texts)
        case Joined("all", parts):
            return all(matches(part, texts) for part in parts)
        case Joined(_, parts):
            return any(matches(part, texts) for part in parts)


def _stand_in(text: str, words: tuple[str, ...], prefix: bool) -> bool:
    return all(word in text for word in words) and bool(_pattern(words, prefix).search(text))


@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...], prefix: bool) -> re.Pattern[str]:
    """The words, whole, with nothing but punctuation and space between them."""
    whole = [_whole(word) for word in words]
    if prefix:
        whole[-1] = whole[-1].removesuffix(_END)
    return re.compile(r"\W*".join(whole))


def _whole(word: str) -> str:
    return word if re.match(f"[{_ALONE}]", word) else rf"(?<!{_LETTER}){word}{_END}"
