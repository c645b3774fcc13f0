"""Reading a criteria file together with the files that it extends.

The keys of the file itself hold; those that it leaves out are inherited, but for ``name`` and
``description``. Three keys are joined:

- ``where``: the inherited conditions and the file's own have both to hold;
- ``sample``: key by key, where ``size`` and ``share`` replace one another, and so do ``balance``
  and ``stratify``;
- ``expect``: the inherited expectations, then the file's own.

A key set to ``null`` is not inherited.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...records.documents import place as place_in_file
from ...records.documents import read_document
from ...records.errors import InputError
from .criteria import Criteria

Place = tuple[str | int, ...]
"""Where something stands in a criteria file: the keys that lead to it."""
_RIVALS = (("size", "share"), ("balance", "stratify"))


def read_criteria(path: Path) -> Criteria:
    """Read a criteria file and what it extends.

    Raises:
        InputError: a file is missing, does not fit, or extends itself; the sentence names file,
            line and column.
    """
    chain = _chain(path)
    criteria = chain[-1][1]
    for own_path, own in reversed(chain[:-1]):
        criteria = _joined(own, criteria, own_path)
    return criteria


def origin(path: Path, place: Place) -> tuple[Path, Place]:
    """Find the file, and the place in it, of something at ``place`` in joined criteria."""
    chain = _chain(path)
    inherited = [read_criteria(known) for known, _ in chain[1:]]
    for (own_path, own), base in zip(chain, inherited, strict=False):
        inner = _in_base(place, own, base)
        if inner is None:
            return own_path, _in_own(place, base)
        place = inner
    return chain[-1][0], place


def _chain(path: Path) -> list[tuple[Path, Criteria]]:
    """The file, the file that it extends, and so on."""
    chain = [(path, read_document(path, Criteria))]
    while (wanted := chain[-1][1].extends) is not None:
        here = chain[-1][0]
        base = here.parent / wanted
        where = place_in_file(here, ("extends",))
        if Path(wanted).is_absolute():
            raise InputError(
                f"{where}: the absolute path {wanted!r}",
                wanted="a path seen from this file, so that it holds on another machine",
                mend="write it as ../NAME.yaml or NAME.yaml",
            )
        if not base.is_file():
            raise InputError(
                f"{where}: no criteria file {wanted!r}",
                wanted="the path of another criteria file, seen from this one",
                mend="mend the path",
            )
        if base.resolve() in {known.resolve() for known, _ in chain}:
            raise InputError(
                f"{where}: {path.name} extends itself",
                wanted="a chain of criteria files that ends",
                mend="take out one of the 'extends'",
            )
        chain.append((base, read_document(base, Criteria)))
    return chain


def _joined(own: Criteria, base: Criteria, path: Path) -> Criteria:
    inherited, given = _given(base), _given(own)
    inherited.pop("description", None)
    given.pop("extends")
    joined = {**inherited, **given}
    if inherited.get("where") and given.get("where"):
        joined["where"] = {"all": [inherited["where"], given["where"]]}
    if inherited.get("sample") and given.get("sample"):
        joined["sample"] = _joined_sample(inherited["sample"], given["sample"])
    if inherited.get("expect") and given.get("expect"):
        joined["expect"] = [*inherited["expect"], *given["expect"]]
    try:
        return Criteria.model_validate({k: v for k, v in joined.items() if v is not None})
    except ValidationError as error:
        wanted = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{path} and what it extends do not go together", wanted=wanted, mend="mend one of them"
        ) from error


def _given(criteria: Criteria) -> dict[str, Any]:
    return criteria.model_dump(by_alias=True, exclude_unset=True)


def _joined_sample(inherited: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    replaced = {key for rivals in _RIVALS for key in rivals if any(r in given for r in rivals)}
    return {**{k: v for k, v in inherited.items() if k not in replaced}, **given}


def _in_base(place: Place, own: Criteria, base: Criteria) -> Place | None:
    """The place in the inherited criteria; none when it is the file's own."""
    key, given = place[0], _given(own)
    if key not in given:
        return place
    if key == "where" and base.where is not None and place[1:3] == ("all", 0):
        return ("where", *place[3:])
    if key == "sample" and base.sample is not None and len(place) > 1:
        return None if place[1] in given["sample"] else place
    if key == "expect" and int(place[1]) < len(base.expect or []):
        return place
    return None


def _in_own(place: Place, base: Criteria) -> Place:
    """The place in the file itself of something that it gives."""
    if place[0] == "where" and base.where is not None and place[1:3] == ("all", 1):
        return ("where", *place[3:])
    if place[0] == "expect":
        return ("expect", int(place[1]) - len(base.expect or []), *place[2:])
    return place
