"""The data that every rival is told and returns: rounds, and found memories. Pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

SOURCES = 50
"""How many memories a question looks for: as many as the harness asks of our assistant."""


@dataclass(frozen=True, slots=True)
class Round:
    """A user's message and the replies to it. `index` is the round's place in the session, from 0;
    `said` is its time in RFC 3339. A piece of a round has the round's index.
    """

    session: str
    index: int
    said: str
    turns: tuple[tuple[str, str], ...]
    """Role and words of each turn."""

    @property
    def text(self) -> str:
        """The whole round, a line for each turn."""
        return "\n".join(f"{role}: {words}" for role, words in self.turns)


@dataclass(frozen=True, slots=True)
class RecalledRound:
    """One memory, as a product gives it back, and the round that it is from."""

    session: str
    index: int
    said: str
    text: str

    @property
    def source(self) -> dict[str, Any]:
        """The memory as a reply lists it."""
        return {"session": self.session, "round": self.index, "text": self.text}


class RivalMemory(Protocol):
    """A product's memory. Users never see each other's rounds. Several threads may call it."""

    def add(self, user: str, rounds: Sequence[Round]) -> None:
        """Keep rounds of one session, in order, before the call returns."""

    def search(self, user: str, question: str, limit: int) -> Sequence[RecalledRound]:
        """The best memories for a question, best first."""

    def forget(self, user: str) -> None:
        """Delete everything of a user; nothing to delete is fine."""


def recorded_rounds(session: str, turns: Sequence[Mapping[str, str]]) -> list[Round]:
    """The rounds of a whole session; each turn has a role, content and a timestamp."""
    rounds = [_round(session, index, group) for index, group in enumerate(_grouped(turns))]
    return [told for told in rounds if told.turns]


def new_rounds(session: str, messages: Sequence[Mapping[str, str]], said: str) -> list[Round]:
    """The parts of a chat that its last request did not have: the replies to the user's previous
    message, and the new message. System messages are left out.
    """
    spoken = [message for message in messages if message["role"] in ("user", "assistant")]
    groups = list(_grouped([message | {"timestamp": said} for message in map(dict, spoken)]))
    if len(groups) < 2:
        return [_round(session, 0, group) for group in groups]
    # An assistant that spoke first is heard here for the first time.
    before = groups[-2] if groups[-2][0]["role"] == "assistant" else groups[-2][1:]
    last = len(groups) - 1
    replies = [_round(session, last - 1, before)] if before else []
    return [*replies, _round(session, last, groups[-1])]


def _grouped(turns: Sequence[Mapping[str, str]]) -> Iterator[list[Mapping[str, str]]]:
    """Group turns into rounds. A user's turn opens a round; turns of the assistant before the first
    user turn are a round of their own."""
    group: list[Mapping[str, str]] = []
    for turn in turns:
        if turn["role"] == "user" and group:
            yield group
            group = []
        group.append(turn)
    if group:
        yield group


def _round(session: str, index: int, turns: Sequence[Mapping[str, str]]) -> Round:
    spoken = tuple((turn["role"], turn["content"]) for turn in turns if turn["content"].strip())
    return Round(session, index, turns[0]["timestamp"], spoken)
