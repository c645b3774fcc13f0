"""The page: items to review as one HTML file that works without a server and loads nothing.

Whatever an item holds is shown as text: it lies in the page as JSON in which no character can end
the element, and the script puts it into the document as text alone. The page's own policy forbids
every other script, and every connection.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from ....prompts.catalogue import NONE_LABEL
from ....prompts.messages import visible
from ..form import Question
from .handout import Handout, HandoutCase, on_the_wire

_SCRIPTS = ("page.js", "page_view.js", "page_files.js")
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def render_page(handout: Handout, name: str) -> str:
    """Write a handout as an HTML page.

    Args:
        handout: The items and the questions.
        name: How the files of answers begin that the page saves.
    """
    css, js = _source("page.css"), "".join(map(_source, _SCRIPTS))
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(_source("page.html")).render(
        project=visible(handout.project),
        policy=_policy(css, js),
        css=Markup(css),  # noqa: S704
        js=Markup(js),  # noqa: S704
        data=Markup(embedded(_content(handout, name))),  # noqa: S704
    )


def embedded(data: object) -> str:
    r"""Write data as JSON that can stand in a script element.

    >>> embedded("</script>")
    '"\\u003c/script\\u003e"'
    """
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(css: str, js: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(js)}'; style-src '{_hash(css)}'; "
        "form-action 'none'; base-uri 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _content(handout: Handout, name: str) -> dict[str, Any]:
    catalogue = handout.form.catalogue
    titles = {dimension.id: dimension.title for dimension in catalogue.dimensions}
    return {
        **handout.about,
        "name": name,
        "scale": catalogue.scale,
        "none": NONE_LABEL,
        "reviewer": handout.reviewer,
        "questions": [_question(question, titles) for question in handout.form],
        "items": [_item(one, handout) for one in handout.cases],
    }


def _question(question: Question, titles: dict[str, str]) -> dict[str, Any]:
    attribute = question.attribute
    return {
        "name": question.name,
        "title": question.title,
        "dimension": titles[question.dimension],
        "kind": question.kind,
        "required": question.required,
        "asked_of": attribute.applies_to,
        "asks": attribute.question,
        "not": attribute.not_,
        "options": [
            {
                "value": question.wire(option.value),
                "text": option.text,
                "definition": option.definition,
            }
            for option in question.options
        ],
    }


def _item(one: HandoutCase, handout: Handout) -> dict[str, Any]:
    case = one.case
    given = on_the_wire(one.suggested(handout.form), handout.form)
    return {
        "item_id": case.item_id,
        "content_hash": case.content_hash,
        "kind": case.kind,
        "mode": one.mode,
        "benchmark": visible(case.benchmark),
        "subset": visible(case.subset),
        "context": visible(case.context),
        "question": visible(case.question),
        "choices": [visible(choice) for choice in case.choices],
        "answer_index": case.answer_index,
        "answer_text": None if case.answer_text is None else visible(case.answer_text),
        "reasons": [] if one.mode == "blind" else [r for r in case.reasons if r != "all"],
        "suggestions": {
            name: {
                "value": value,
                "confidence": case.suggestions[name].confidence,
                "agent": case.suggestions[name].agent,
            }
            for name, value in given.items()
        },
    }
