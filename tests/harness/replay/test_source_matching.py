"""The rounds that a text is from, against what that means turn by turn."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.datasets.questions import HaystackSession, Turn, rounds_of
from harness.replay.source_matching import HistoryRound, TurnIndex

WORDS = st.sampled_from("kayak turquoise bought my the harbour yes Ghent paddle".split())
TEXTS = st.lists(WORDS, max_size=7).map(" ".join)
SESSIONS = st.lists(st.lists(TEXTS, max_size=4), min_size=1, max_size=4)
Turns = list[tuple[HistoryRound, str]]


def history(sessions: list[list[str]]) -> list[HaystackSession]:
    """Each text a round, the last one of a session answered."""
    when = datetime(2023, 5, 20, tzinfo=UTC)
    made = []
    for position, texts in enumerate(sessions):
        turns = [Turn("user", text) for text in texts]
        answer = [Turn("assistant", "the harbour of Ghent")] if turns else []
        made.append(HaystackSession(position, f"s{position}", when, (*turns, *answer)))
    return made


def said_in(sessions: list[HaystackSession]) -> Turns:
    return [
        (HistoryRound(session, round_.index), f" {session.turns[i].content.lower()} ")
        for session in sessions
        for round_ in rounds_of(session.turns)
        for i in round_.turns
    ]


def from_rounds(text: str, everything: Turns, session: HaystackSession | None) -> set[HistoryRound]:
    """What `TurnIndex.rounds` promises, looking at every turn."""
    words = f" {text.lower()} "
    turns = [turn for turn in everything if session is None or turn[0].session is session]
    same = {place for place, said in turns if said == words and text}
    if same and (session is not None or len(same) == 1):
        return same
    if len(words) < 12:
        return set()
    parts = {place for place, said in turns if words in said}
    if parts:
        return parts if len(parts) == 1 else set()
    texts = [said for _, said in everything]
    held = [
        (place, said)
        for place, said in turns
        if len(said) >= 12 and said in words and (session is not None or texts.count(said) == 1)
    ]
    return {
        place
        for place, said in held
        if not any(said in other and said != other for _, other in held)
    }


@settings(deadline=None)
@given(sessions=SESSIONS, texts=st.lists(TEXTS, min_size=1, max_size=3), known=st.booleans())
def test_any_text_is_from_where_its_turns_are(
    sessions: list[list[str]], texts: list[str], known: bool
) -> None:
    made = history(sessions)
    session = made[0] if known else None
    turns = said_in(made)
    for text in (" ".join(" ".join(texts).split()), *(said.strip() for _, said in turns)):
        found = TurnIndex(made).rounds(text, session)
        assert set(found) == from_rounds(text, turns, session)
        assert len(set(found)) == len(found)


@pytest.mark.parametrize("text", ["a kayak", "The KAYAK, I bought?!", "I bought\n\nis - turquoise"])
def test_marks_and_case_do_not_matter(text: str) -> None:
    made = history([["The kayak I bought is turquoise."], ["My cat sleeps."]])
    found = TurnIndex(made).rounds(text, None)
    wanted = [] if len(text) < 12 else [(0, 0)]
    assert [(p.session.position, p.round_index) for p in found] == wanted
