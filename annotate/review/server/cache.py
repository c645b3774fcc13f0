"""The folder for what can be made again at any time."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """``BENCHPRISM_CACHE``, or ``benchprism`` in the folder that the platform has for caches.

    >>> cache_folder({"BENCHPRISM_CACHE": "/big/cache"}).as_posix()
    '/big/cache'
    """
    chosen = environment.get("BENCHPRISM_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "benchprism"
    base = environment.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "benchprism"
