"""The templates of a prompt: those that are shipped, and a user's own words in their place.

Item text enters a template as a value. The environment is sandboxed, and a variable that is not
there is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, Template, TemplateError
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment

from ..records.errors import InputError, suggestion

REPLACEABLE = ("system.jinja", "rubric.jinja")
"""What a user may say in other words. The message about the item is not among them: its marks
keep the item's text from being taken for orders."""


def shipped(name: str) -> str:
    """The text of a shipped template."""
    return files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8")


@cache
def template(name: str) -> Template:
    """A shipped template."""
    return environment().from_string(shipped(name))


@cache
def environment() -> Environment:
    """The environment of all templates."""
    return SandboxedEnvironment(undefined=StrictUndefined, autoescape=False, loader=BaseLoader())


@dataclass(frozen=True, slots=True)
class Wording:
    """How a prompt is worded: in the shipped words, or in a user's own."""

    folder: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Templates by the names of those that they replace."""
    may_abstain: bool = False
    """Whether the annotator may leave an attribute without a value."""

    def render(self, name: str, **values: Any) -> str:
        """Render a template of the user's, or the shipped one.

        Raises:
            InputError: the user's template asks for something that is not there.
        """
        if name not in self.texts:
            return template(name).render(**values)
        try:
            return environment().from_string(self.texts[name]).render(**values)
        except (TemplateError, SecurityError, TypeError, ValueError) as error:
            raise InputError(
                f"{self.folder}/{name} cannot be rendered ({error})",
                wanted=f"a template that uses {', '.join(values)}",
                mend=f"mend it; the shipped {name} shows what each is for",
            ) from error


def load_wording(folder: Path | None, *, may_abstain: bool = False) -> Wording:
    """Read the templates of a user's wording from a folder; without one, the shipped are used.

    Raises:
        InputError: the folder has none, one that cannot be replaced, or one that is no template.
    """
    if folder is None:
        return Wording(may_abstain=may_abstain)
    found = sorted(path for path in folder.glob("*.jinja") if path.is_file())
    for path in found:
        if path.name not in REPLACEABLE:
            raise InputError(
                f"{path} replaces no template",
                wanted=f"{' or '.join(REPLACEABLE)}",
                mend=suggestion(path.name, REPLACEABLE),
            )
    if not found:
        raise InputError(
            f"no templates in {folder}",
            wanted=f"{' or '.join(REPLACEABLE)}",
            mend="check 'prompt' in benchprism.yaml, or leave it out for the shipped prompt",
        )
    return Wording(str(folder), {path.name: _read(path) for path in found}, may_abstain)


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
        environment().parse(text)
    except TemplateSyntaxError as error:
        raise InputError(
            f"{path}, line {error.lineno}: {error.message}",
            wanted="a Jinja template",
            mend="mend the line",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})",
            wanted="a Jinja template in UTF-8",
            mend="check the file",
        ) from error
    return text
