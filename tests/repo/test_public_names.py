"""What the packages promise can be imported, and is sorted so that a change is easy to see."""

import importlib

import pytest


@pytest.mark.parametrize("package", ["assistant", "memory_store"])
def test_public_names_exist_and_are_listed_once(package: str) -> None:
    module = importlib.import_module(package)
    names = list(module.__all__)
    assert len(names) == len(set(names))
    for name in names:
        assert getattr(module, name) is not None
