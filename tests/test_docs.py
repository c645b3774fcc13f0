"""The pages for readers: what they link to is there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").glob("*.md")]
)
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_NO_WORD = re.compile(r"[^\w\- ]")


def links(text: str) -> list[str]:
    """Targets of the links and images of a page, in its order, those to other sites left out."""
    found = _LINK.findall(_CODE.sub("`code`", _FENCE.sub("", text)))
    return [target for target in found if not re.match(r"[a-z][a-z0-9+.-]*:", target)]


def anchors(text: str) -> set[str]:
    """What the headings of a page are called in links, as GitHub names them."""
    names: set[str] = set()
    times: Counter[str] = Counter()
    for heading in _HEADING.findall(_FENCE.sub("", text)):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = _NO_WORD.sub("", title.strip().lower()).replace(" ", "-")
        names.add(f"{name}-{times[name]}" if times[name] else name)
        times[name] += 1
    return names


def faults(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            found.append(f"{link}: no such file")
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            found.append(f"{link}: no such heading")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert faults(page) == []


def test_every_picture_is_shown_on_a_page() -> None:
    shown = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in links(page.read_text(encoding="utf-8"))
    }
    assert set((ROOT / "docs" / "images").iterdir()) <= shown


def test_links_and_headings_are_found_as_a_reader_sees_them(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `deduplicate: exact` day\n\n## Same\n\n## Same\n\n"
        "[a](#one-deduplicate-exact-day) [b](#same-1) [c](page.md#same) ![d](gone.png)\n"
        "[e](#gone) [f](https://example.org/gone) `[g](gone.md)`\n"
        "```sh\n# comment\n[h](gone.md)\n```\n[i](#comment)\n"
    )
    assert faults(page) == [
        "gone.png: no such file", "#gone: no such heading", "#comment: no such heading"
    ]  # fmt: skip
