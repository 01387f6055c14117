"""What one person tells and asks: the files of `people` and `held_out`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent
PEOPLE = sorted(HERE.glob("people/*.json"))
"""Those that the rules and examples were made with."""
HELD_OUT = sorted(HERE.glob("held_out/*.json"))
"""Those that are only measured."""


@dataclass(frozen=True, slots=True)
class PlainMessage:
    """A message, when it was said, and in which form (`form` is empty where it is one of a
    change)."""

    at: str
    say: str
    form: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Read from a file."""
        return cls(given["at"], given["say"], given.get("form", ""))


@dataclass(frozen=True, slots=True)
class Person:
    """Everything of one file. All texts that a quote must hold are found in any case."""

    name: str
    told: Sequence[Mapping[str, Any]]
    changed: Sequence[Mapping[str, Any]]
    never: Sequence[str]
    remember: Sequence[Mapping[str, Any]]
    forget: Sequence[Mapping[str, Any]]
    refuse: Sequence[str]

    @classmethod
    def read(cls, file: Path) -> Self:
        """The person of a file."""
        given = json.loads(file.read_text("utf-8"))
        return cls(
            given["person"],
            given["told"],
            given["changed"],
            [one["ask"] for one in given["never"]],
            given["remember"],
            given["forget"],
            [one["say"] for one in given["refuse"]],
        )

    @property
    def messages(self) -> list[PlainMessage]:
        """All that is told to be kept, in the order of its times."""
        changes = [each[part] for each in self.changed for part in ("first", "then")]
        every = [*self.told, *changes, *self.remember]
        return sorted(map(PlainMessage.of, every), key=lambda one: one.at)
