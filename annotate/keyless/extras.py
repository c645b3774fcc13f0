"""Packages of an optional extra, imported when they are first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...records.errors import InputError


def extra_module(name: str, *, extra: str) -> Any:
    """Import a module that an optional extra of benchprism brings.

    Raises:
        InputError: the extra is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"the package {name!r} is not installed",
            wanted=f"the extra {extra!r}",
            mend=f"run pip install 'benchprism[{extra}]'",
        ) from error
