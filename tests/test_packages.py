"""A package's ``__init__`` is its table of contents: short, true, and without logic."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import benchprism

PACKAGES = ["benchprism"] + [
    module.name
    for module in pkgutil.walk_packages(benchprism.__path__, "benchprism.")
    if module.ispkg
]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_lists_what_it_offers(name: str) -> None:
    package = importlib.import_module(name)
    names = getattr(package, "__all__", [])
    assert len(names) <= 25
    assert all(hasattr(package, offered) for offered in names)
