"""The item inside a prompt: the last question of it, and its lettered choices.

For logs that keep nothing else. Instructions and examples stand before the question, so the
question is the end of the text before the choices; where it starts can only be guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .content import NO_CONTENT, Content, stated_content

_CHOICE = re.compile(r"^\s*\(?([A-Z])[.):：]\s*(.*)$")
_MARKS = re.compile(r"(?:问题[：:]|Question[：:]|Problem[：:]|Q[：:])[ \t]*")
_TAIL = re.compile(r"\n?\s*(?:Answer|A|Solution|答案|选项|Choices|Options)\s*[：:]\s*$")
_PARAGRAPHS = 5


def content_of_prompt(
    prompt: str, choices: Sequence[str] = (), *, source_id: str | None = None
) -> Content:
    """Find the item at the end of a prompt; ``choices`` are given when the log names them."""
    text = _TAIL.sub("", prompt.rstrip()).rstrip()
    text, found = _split_choices(text)
    if not text.strip():
        return NO_CONTENT
    text = _TAIL.sub("", text).rstrip()
    forms = _questions(text)
    return stated_content(forms[0], choices or found, forms=forms, source_id=source_id)


def last_message(messages: Any) -> str | None:
    """Take the text of the last message that is not the model's; a plain text is itself."""
    if isinstance(messages, str):
        return messages
    if not isinstance(messages, list):
        return None
    asked = [
        message
        for message in messages
        if isinstance(message, dict) and str(message.get("role", "user")).lower() in _ASKING
    ]
    if not asked:
        return None
    return _text(asked[-1].get("content", asked[-1].get("prompt")))


_ASKING = frozenset({"user", "human"})


def _text(content: Any) -> str | None:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) else None


def _split_choices(text: str) -> tuple[str, tuple[str, ...]]:
    """Take the lettered lines at the end of a text, which have to run A, B, C, ..."""
    lines = text.split("\n")
    start = len(lines)
    while start and (match := _CHOICE.match(lines[start - 1])):
        start -= 1
        if match[1] == "A":
            break
    matches = [match for line in lines[start:] if (match := _CHOICE.match(line))]
    letters = "".join(match[1] for match in matches)
    if len(letters) < 2 or letters != "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(letters)]:
        return text, ()
    return "\n".join(lines[:start]), tuple(match[2].strip() for match in matches)


def _questions(text: str) -> list[str]:
    """List where the last question may start: after its mark, or at one of the last paragraphs."""
    marks = list(_MARKS.finditer(text))
    forms = [text[marks[-1].end() :]] if marks else []
    paragraphs = re.split(r"\n[ \t]*\n", text)
    for count in range(1, min(len(paragraphs), _PARAGRAPHS) + 1):
        end = "\n\n".join(paragraphs[-count:])
        forms += [end, end.rpartition("\n")[0]]
    forms.append(text)
    return list(dict.fromkeys(form.strip() for form in forms if form.strip()))
