"""YAML files that people write: YAML 1.2 meaning, no duplicate keys, errors with line and column.

PyYAML follows YAML 1.1, where ``no`` is false, ``12:30:45`` is 45045 and ``2024-01-01`` a date.
Here those are text, as YAML 1.2 has it. A number with leading zeros is refused: it could be read
as 7 or as text.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import InputError, suggestion

Model = TypeVar("Model", bound=BaseModel)

_SCALARS = {
    "null": (r"~|null|Null|NULL|", "~nN"),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    "float": (
        r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
}
_WANTED = {
    "model_type": "a mapping of keys to values",
    "invalid_key": "a key that is text; quote it",
    "too_short": "a list with something in it",
}
_MOST_ALIASED = 100_000
"""Values that the aliases of a file may stand for: of a few lines they can make billions."""
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+(?:\.[0-9]*)?\Z")


class StrictModel(BaseModel):
    """A model of text that people write: unknown keys are refused, values are not coerced."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


class _Loader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2 scalars; refuses duplicate keys and leading zeros."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._aliased = 0
        self._sizes: dict[yaml.Node, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        alias = self.peek_event() if self.check_event(yaml.AliasEvent) else None  # type: ignore[no-untyped-call]
        node: yaml.Node | None = super().compose_node(parent, index)
        if alias is not None and node is not None and node.end_mark is None:
            raise yaml.composer.ComposerError(
                None, None, f"the alias {alias.anchor!r} inside itself", alias.start_mark
            )
        if alias is not None and node is not None:
            self._aliased += self._size(node)
            if self._aliased > _MOST_ALIASED:
                raise yaml.composer.ComposerError(
                    None,
                    None,
                    f"aliases that stand for more than {_MOST_ALIASED} values",
                    alias.start_mark,
                )
        return node

    def _size(self, node: yaml.Node) -> int:
        """How many values a node holds with all that aliases stand for."""
        if isinstance(node, yaml.ScalarNode):
            return 1
        if node not in self._sizes:
            parts = (
                node.value if isinstance(node, yaml.SequenceNode) else itertools.chain(*node.value)
            )
            self._sizes[node] = 1 + sum(map(self._size, parts))
        return self._sizes[node]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key that is not plain text", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} twice", key.start_mark
                )
            seen[key.value] = key
        return super().construct_mapping(node, deep)

    def construct_int(self, node: yaml.ScalarNode) -> int:
        text = str(node.value)
        return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)

    def construct_text(self, node: yaml.ScalarNode) -> str:
        if not node.style and _LEADING_ZERO.match(node.value):
            raise yaml.constructor.ConstructorError(
                None, None, f"{node.value}, which could be a number or text", node.start_mark
            )
        try:  # JSON writes a character beyond U+FFFF as two halves
            return str(node.value).encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            raise yaml.constructor.ConstructorError(
                None, None, "half of a character (\\uD800 to \\uDFFF)", node.start_mark
            ) from error


class _Dumper(yaml.SafeDumper):
    """SafeDumper that quotes text which YAML 1.1 or 1.2 would read as something else."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.Node:
        style = None if text.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


for _tag, (_pattern, _first) in _SCALARS.items():
    for _side in (_Loader, _Dumper):
        _side.add_implicit_resolver(
            f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), [*_first]
        )
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"\Z"), [""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"<<\Z"), ["<"])
_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_implicit_resolver("ambiguous", _LEADING_ZERO, [*"-+0"])
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_int)
_Loader.add_constructor("tag:yaml.org,2002:str", _Loader.construct_text)


def read_document(path: Path, model: type[Model]) -> Model:
    """Read a YAML file that a person wrote and check it against ``model``.

    Raises:
        InputError: the file is missing, is not YAML, or does not fit the model; the sentence names
            file, line and column, and for a misspelt key the one that was probably meant.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(
            f"{path} cannot be read ({reason})",
            wanted="a YAML file in UTF-8",
            mend="check the path and how the file was saved",
        ) from error
    return parse_document(text, model, name=str(path))


def dump_document(data: Mapping[str, Any]) -> str:
    """Write plain data as YAML that ``parse_document`` reads back as it is."""
    return yaml.dump(
        dict(data),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,  # the innermost lists and mappings on one line
        width=1000,
    )


def place(path: Path, keys: Sequence[int | str]) -> str:
    """Say where a value stands in a file that ``read_document`` has read: line and column."""
    node, _ = _load(path.read_text(encoding="utf-8-sig"))
    return _place(str(path), _mark(node, keys))


def parse_document(text: str, model: type[Model], *, name: str) -> Model:
    """Check YAML text against ``model``; ``name`` stands for the file in errors."""
    try:
        node, value = _load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise _syntax_error(name, error) from error
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _model_error(name, node, error, model) from error


def _load(text: str) -> tuple[yaml.Node | None, Any]:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return node, loader.construct_document(node) if node is not None else {}
    finally:
        loader.dispose()


def _syntax_error(name: str, error: Exception) -> InputError:
    where = _place(name, getattr(error, "problem_mark", None))
    problem = getattr(error, "problem", None) or "something that cannot be read"
    problem = problem.removeprefix("but ").removeprefix("found ")
    if isinstance(error, yaml.reader.ReaderError):
        problem = f"the character {chr(int(error.character))!r}, which YAML does not allow"
    wanted, mend = "YAML 1.2", "mend the line"
    if problem.endswith(" twice"):
        wanted, mend = "each key once", "write the key once"
    elif problem == "another document":
        wanted, mend = "one document", "put the other into a file of its own"
    elif problem.endswith(" inside itself"):
        mend = "take out the alias"
    elif "could be a number or text" in problem:
        mend = "quote it if it is text, or drop the leading zeros"
    elif "\\t" in problem:
        mend = "indent with spaces, not tabs"
    return InputError(f"{where}: {problem}", wanted=wanted, mend=mend)


def _model_error(
    name: str, node: yaml.Node | None, error: ValidationError, model: type[BaseModel]
) -> InputError:
    details = error.errors(include_url=False)
    first = next((d for d in details if d["type"] == "extra_forbidden"), details[0])
    path = first["loc"]
    where = _place(name, _mark(node, path))
    key = ".".join(str(part) for part in path)
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, path[:-1])
        return InputError(
            f"{where}: the unknown key {str(path[-1])!r}",
            wanted="a known key",
            mend=suggestion(str(path[-1]), known) if known else "remove it",
        )
    if first["type"] == "missing":
        return InputError(f"{where}: no {key!r}", wanted="it to be given", mend=f"add {key!r}")
    found = f"{where}: {key or 'the document'} is {_short(first['input'])}"
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    wanted = _WANTED.get(first["type"], message)
    return InputError(found, wanted=wanted, mend="mend the value")


def _place(name: str, mark: yaml.Mark | None) -> str:
    return f"{name}, line {mark.line + 1}, column {mark.column + 1}" if mark else name


def _short(value: object) -> str:
    """Write a value as YAML would have it: ``null`` and ``true``, not Python's words."""
    text = repr(value)
    if not isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _mark(node: yaml.Node | None, path: Sequence[int | str]) -> yaml.Mark | None:
    """Find the place of a value as deep as the document holds it."""
    mark = node.start_mark if node is not None else None
    for part in path:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == str(part)]
            if not found:
                continue  # a step of the model's own, such as the branch of a union
            mark, node = found[0][0].start_mark, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            if part >= len(node.value):
                break
            node = node.value[part]
            mark = node.start_mark
    return mark


def _known_keys(model: type[BaseModel], path: Sequence[int | str]) -> set[str]:
    """List the keys that the model allows at ``path``, read from its JSON Schema."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})

    def resolve(part: dict[str, Any]) -> list[dict[str, Any]]:
        if "$ref" in part:
            return resolve(definitions[part["$ref"].rsplit("/", 1)[-1]])
        options = part.get("anyOf") or part.get("oneOf") or part.get("allOf")
        return [found for option in options for found in resolve(option)] if options else [part]

    places = resolve(schema)
    for step in path:
        following: list[dict[str, Any]] = []
        for place in places:
            if isinstance(step, int):
                child = place.get("items")
            else:
                child = place.get("properties", {}).get(step) or place.get("additionalProperties")
            if isinstance(child, dict):
                following += resolve(child)
        places = following or places
    return {key for place in places for key in place.get("properties", {})}
