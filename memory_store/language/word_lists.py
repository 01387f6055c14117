"""The word lists beside this module: one TOML file a language, read once. Words are data."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


def word_list(language: str, name: str) -> tuple[str, ...]:
    """The words of a list, in its order. `name` is a key of the language's file, as
    "time.weekdays"; a list is an array, or a text whose words stand between spaces."""
    found: Any = _lists(language)
    for key in name.split("."):
        found = found[key]
    return tuple(found.split() if isinstance(found, str) else found)


def word_table(language: str, name: str) -> Mapping[str, Any]:
    """A table of a language's file."""
    found: Mapping[str, Any] = _lists(language)[name]
    return found


@cache
def _lists(language: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(f"words/{language}.toml").read_text("utf-8"))
