"""The names of models: as results have them, without white space around, renamed, or not wanted."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from ...errors import InputError, suggestion
from ..logs import LogFinding

LEFT_OUT = -1
"""In place of a model that is not wanted."""


class ModelNames:
    """The models of all results, coded in the order in which they are met."""

    def __init__(
        self, renamed: Mapping[str, str] | None = None, wanted: Collection[str] = ()
    ) -> None:
        """Take what the user calls models, and which are wanted: all when empty."""
        self._renamed, self._wanted = dict(renamed or {}), frozenset(wanted)
        self._met: set[str] = set()
        self._codes: dict[str, int] = {}
        self._of: dict[str, int] = {}
        self._mended: dict[str, tuple[str, str]] = {}

    @property
    def texts(self) -> list[str]:
        """The names; a code is a position among them."""
        return list(self._codes)

    def code(self, name: str, file: str) -> int:
        """The code of a model, or ``LEFT_OUT``.

        Args:
            name: the model's name as it stands there.
            file: where it stands.
        """
        if name not in self._of:
            self._of[name] = self._new(name, file)
        return self._of[name]

    def _new(self, name: str, file: str) -> int:
        plain = name.strip() or Path(file).stem
        if plain != name:
            self._mended[name] = file, plain
        self._met.add(plain)
        own = self._renamed.get(plain, plain)
        if self._wanted and not {plain, own} & self._wanted:
            return LEFT_OUT
        return self._codes.setdefault(own, len(self._codes))

    def check(self) -> None:
        """Refuse options that name a model that no result has.

        Raises:
            InputError: there is one.
        """
        for option, names in (("--rename", self._renamed), ("--model", self._wanted)):
            known = self._met | (set(self._renamed.values()) if option == "--model" else set())
            for name in sorted(names):
                if name not in known:
                    raise InputError(
                        f"{option} {name!r}",
                        wanted="a model that the logs or tables have",
                        mend=suggestion(name, known) if known else "check the path",
                    )

    def findings(self, known: Iterable[str] = ()) -> Iterator[LogFinding]:
        """Say which names had white space around them or were none, and which are hardly two.

        Args:
            known: models that the project has already.
        """
        for name, (file, plain) in self._mended.items():
            yield LogFinding(
                "model_name",
                file,
                f"the model's name {name!r}",
                wanted="a name without white space around it",
                mend=f"it is taken as {plain!r}; --rename {plain}=NAME gives another",
            )
        mend = "--rename OLD=NEW makes them one"
        yield from alike({*self._codes, *known}, "models", mend, new=self._codes)


def alike(
    names: Iterable[str], kind: str, mend: str, *, new: Collection[str] | None = None
) -> Iterator[LogFinding]:
    """Find names that a reader sees as one: they differ in white space or in Unicode's forms.

    Args:
        names: distinct names.
        kind: what they are of.
        mend: what to do.
        new: only where one of these is among them; anywhere when not given.
    """
    every = sorted(names)
    if all(name.isascii() and " ".join(name.split()) == name for name in every):
        return
    groups: dict[str, list[str]] = defaultdict(list)
    for name in every:
        groups[" ".join(unicodedata.normalize("NFC", name).split())].append(name)
    same = [own for own in groups.values() if len(own) > 1 and (new is None or {*own} & {*new})]
    if same:
        first = " and ".join(map(ascii, same[0][:2]))
        more = f" ({len(same) - 1} more such {kind})" if len(same) > 1 else ""
        yield LogFinding(
            "names",
            "the results",
            f"{kind} that differ in white space or Unicode form only: {first}{more}",
            wanted="one spelling of each",
            mend=mend,
        )
