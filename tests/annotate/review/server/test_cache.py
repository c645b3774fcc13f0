from __future__ import annotations

import sys
from pathlib import Path

from benchprism.annotate.review.server import cache_folder


def test_the_users_choice_comes_first() -> None:
    chosen = {"BENCHPRISM_CACHE": "/big/cache", "XDG_CACHE_HOME": "/xdg"}
    assert cache_folder(chosen) == Path("/big/cache")


def test_elsewhere_it_is_where_the_platform_keeps_caches() -> None:
    if sys.platform == "darwin":
        assert cache_folder({}) == Path.home() / "Library/Caches/benchprism"
    else:
        assert cache_folder({"XDG_CACHE_HOME": "/xdg"}) == Path("/xdg/benchprism")
        assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache/benchprism"
        assert cache_folder({}) == Path.home() / ".cache/benchprism"
