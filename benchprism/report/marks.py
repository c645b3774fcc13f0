"""Marks: the SVG elements that figures are made of, as escaped text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup, escape

NARROW = 352
"""Figures up to this width shrink with the page; wider ones are scrolled."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def printable(text: object) -> str:
    """Show characters that no document may contain as the replacement character."""
    return _CONTROL.sub("\ufffd", str(text))


def element(tag: str, content: object = "", **attributes: object) -> Markup:
    """An element; ``class_`` becomes ``class``, ``_`` becomes ``-``, numbers lose spare digits.

    >>> element("text", "a < b", class_="label", x=1.50, text_anchor="end")
    Markup('<text class="label" x="1.5" text-anchor="end">a &lt; b</text>')
    """
    given = Markup("").join(
        Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), _written(value))
        for name, value in attributes.items()
        if value is not None
    )
    inside = content if isinstance(content, Markup) else escape(printable(content))
    return Markup("<{0}{1}>{2}</{0}>").format(tag, given, inside)


def _written(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return printable(value)


def drawing(width: float, height: float, marks: Iterable[Markup], *, label: str) -> Markup:
    """A figure with text of a fixed size; ``label`` is read out loud."""
    return element(
        "svg",
        Markup("").join(marks),
        class_="figure" if width <= NARROW else "figure broad",
        viewBox=f"0 0 {_written(float(width))} {_written(float(height))}",
        width=float(width),
        height=float(height),
        role="img",
        aria_label=label,
    )


def rect(x: float, y: float, width: float, height: float, css: str, tip: str = "") -> Markup:
    """A rectangle, with a tooltip when one is given."""
    return element("rect", tooltip(tip), class_=css, x=x, y=y, width=width, height=height)


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> Markup:
    """A straight line."""
    return element("line", class_=css, x1=x1, y1=y1, x2=x2, y2=y2)


def dot(x: float, y: float, radius: float, css: str, tip: str = "") -> Markup:
    """A filled circle, with a tooltip when one is given."""
    return element("circle", tooltip(tip), class_=css, cx=x, cy=y, r=radius)


def words(
    x: float, y: float, content: str, css: str = "", *, anchor: str | None = None, tip: str = ""
) -> Markup:
    """Text on a line of its own direction; its baseline is at ``y``."""
    inside = Markup("{}{}").format(tooltip(tip), printable(content))
    return element("text", inside, class_=f"w {css}".rstrip(), x=x, y=y, text_anchor=anchor)


def tooltip(text: str) -> Markup:
    """What a pointer that rests on the mark is told."""
    return element("title", text) if text else Markup("")


def shortened(text: str, width: float, *, per_character: float = 6.5) -> str:
    """Cut text that would be wider than ``width`` pixels, with an ellipsis.

    >>> shortened("reading comprehension", 60)
    'reading …'
    """
    room = max(2, int(width / per_character))
    return text if len(text) <= room else text[: room - 1] + "…"
