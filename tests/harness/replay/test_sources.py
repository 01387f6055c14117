"""The sources of an answer in any shape: how a reply is read, and where a source is placed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from harness.assistants.profile import parse_profile
from harness.assistants.returned_sources import (
    Returned,
    ReturnedSource,
    SourceLayout,
    read_sources,
    value_at,
    values_at,
)
from harness.datasets.questions import HaystackSession, Question, Turn
from harness.errors import UsageError
from harness.replay.ingest import Blinding
from harness.replay.mode import sources_line
from harness.replay.source_matching import SourceMatcher

BLINDING = Blinding("salt")
DAY = datetime(2023, 5, 20, 9, tzinfo=UTC)


def session(position: int, *texts: str) -> HaystackSession:
    turns = tuple(Turn("assistant" if i % 2 else "user", text) for i, text in enumerate(texts))
    return HaystackSession(position, f"original-{position}", DAY, turns)


QUESTION = Question(
    "q1",
    "multi-session",
    "What colour is the kayak?",
    "turquoise",
    False,
    DAY,
    (
        session(
            0, "The kayak I bought is turquoise.", "What a lovely colour!", "Isn't it?", "Yes."
        ),
        session(1, "My cat sleeps all day.", "Cats do that.", "Thank you so much!"),
        session(2, "Thank you so much!", "You are welcome, tell me about the kayak any time."),
    ),
    ("original-0",),
    is_abstention=False,
)
S0, S1 = (BLINDING.session("q1", position) for position in (0, 1))


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b", [[{"c": 1}, {"c": 2}]]),
        ("a.b.*.c", [1, 2]),
        ("a.b.1.c", [2]),
        ("a.b.7.c", [None]),
        ("a.x.c", [None]),
        ("*", []),
        (".", [{"a": {"b": [{"c": 1}, {"c": 2}]}}]),
    ],
)
def test_paths(path: str, found: list[Any]) -> None:
    value = {"a": {"b": [{"c": 1}, {"c": 2}]}}
    assert list(values_at(value, path)) == found
    assert value_at(value, path) == (found[0] if found else None)


@pytest.mark.parametrize(
    ("layout", "reply", "headers", "returned"),
    [
        (
            SourceLayout(path="hits", session="where.thread", round="where.n", first_round=1),
            {"hits": [{"where": {"thread": "s1", "n": 3}}, {"where": {"thread": 7, "n": "2"}}]},
            {},
            Returned([ReturnedSource("s1", 2), ReturnedSource("7", 1)]),
        ),
        (
            SourceLayout(path="choices.0.message.notes.*.text", text="."),
            {"choices": [{"message": {"notes": [{"text": "one"}, {"text": "two"}]}}]},
            {},
            Returned([ReturnedSource(text="one"), ReturnedSource(text="two")]),
        ),
        (
            SourceLayout(path="hits", text="t", score="s"),
            {"hits": [{"t": "far", "s": 0.1}, {"t": "near", "s": 2}]},
            {},
            Returned([ReturnedSource(text="near"), ReturnedSource(text="far")]),
        ),
        (
            SourceLayout(path="hits", turn="id", rank="place"),
            {"hits": [{"id": "b", "place": 2}, {"id": "a", "place": 1}]},
            {},
            Returned([ReturnedSource(turn="a"), ReturnedSource(turn="b")]),
        ),
        (SourceLayout(header="X-From", session="."), {}, {"X-From": "s1, s2"}, ["s1", "s2"]),
        (SourceLayout(header="X-From", session="."), {}, {"X-From": '["s1"]'}, ["s1"]),
        (SourceLayout(header="X-From", session="."), {}, {"X-From": ""}, Returned([])),
        (SourceLayout(header="X-From", session="."), {}, {}, Returned()),
        (SourceLayout(path="hits", text="t"), {"hits": []}, {}, Returned([])),
        (SourceLayout(path="hits", text="t"), {}, {}, Returned()),
        (SourceLayout(path="hits", text="t"), ["?"], {}, Returned()),
    ],
)
def test_replies_of_any_shape_are_read(
    layout: SourceLayout, reply: Any, headers: dict[str, str], returned: Any
) -> None:
    if isinstance(returned, list):
        returned = Returned([ReturnedSource(session=name) for name in returned])
    assert read_sources(layout, reply, headers) == returned


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ({"hits": "s1"}, "hits: expected a list, found str"),
        ({"hits": [{"id": "s1", "s": "high"}]}, "source 1: s is 'high', not a number"),
        ({"hits": [{"id": "s1", "s": 1}, {"id": "s2"}]}, "source 2: s is None, not a number"),
    ],
)
def test_a_list_that_cannot_be_read_says_why(reply: Any, problem: str) -> None:
    layout = SourceLayout(path="hits", session="id", score="s")
    assert read_sources(layout, reply, {}) == Returned(problem=problem)


def test_a_broken_header_is_no_list() -> None:
    layout = SourceLayout(header="X-From", session=".")
    assert read_sources(layout, {}, {"X-From": "[1,"}).problem == "header X-From: not JSON"


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ({}, "a source without id, t"),
        ("s1", "a source without id, t"),
        ({"id": ["s1"]}, "id is ['s1'], not a name"),
        ({"id": "s1", "n": 1.5}, "n is 1.5, not the index of a round"),
        ({"id": "s1", "t": 3}, "t is 3, not a text"),
    ],
)
def test_a_source_that_cannot_be_read_keeps_its_place(item: Any, problem: str) -> None:
    layout = SourceLayout(path="hits", session="id", round="n", text="t")
    (source,) = read_sources(layout, {"hits": [item]}, {}).sources or []
    assert source == ReturnedSource(problem=problem)


@pytest.mark.parametrize(
    ("source", "by", "places"),
    [
        (ReturnedSource(turn=BLINDING.turn("q1", 0, 3)), "turn", [(0, 1)]),
        (ReturnedSource(turn=f"msg/{BLINDING.turn('q1', 1, 0)}/user"), "turn", [(1, 0)]),
        (ReturnedSource(session=S0, round_index=1), "round", [(0, 1)]),
        (ReturnedSource(session=f"chat:{S1}"), "session", [1]),
        (ReturnedSource(session=S0, round_index=9), "session", [0]),
        (ReturnedSource(session=S0, text="the KAYAK, I bought"), "text", [(0, 0)]),
        (ReturnedSource(session=S0, text="user owns a boat"), "session", [0]),
        (ReturnedSource(text="[2023-05-20] The kayak I bought is turquoise."), "text", [(0, 0)]),
        (ReturnedSource(text="…kayak I bought is turq"), None, []),
        (ReturnedSource(text="kayak I bought is…"), "text", [(0, 0)]),
        (
            ReturnedSource(text="user: My cat sleeps all day.\nassistant: Cats do that."),
            "text",
            [(1, 0)],
        ),
        (
            ReturnedSource(
                text="The kayak I bought is turquoise. What a lovely colour! My cat sleeps all day."
            ),
            "text",
            [(0, 0), (1, 0)],
        ),
        (ReturnedSource(text="Thank you so much!"), None, []),
        (ReturnedSource(session=S1, text="Thank you so much!"), "text", [(1, 1)]),
        (ReturnedSource(text="Yes."), "text", [(0, 1)]),
        (ReturnedSource(text="lovely"), None, []),
        (ReturnedSource(text="  "), None, []),
        (ReturnedSource(session=S0, text="  "), "session", [0]),
        (ReturnedSource(text="User has a boat that is turquoise"), None, []),
        (ReturnedSource(session="s-of-somebody"), None, []),
        (ReturnedSource(turn="t-of-somebody"), None, []),
        (ReturnedSource(problem="?"), None, []),
    ],
)
def test_sources_are_placed_by_the_most_exact_thing_they_tell(
    source: ReturnedSource, by: str | None, places: list[Any]
) -> None:
    place = SourceMatcher(QUESTION, BLINDING).place(source)
    assert place.by == by
    found: list[Any] = [(p.session.position, p.round_index) for p in place.rounds]
    assert found + ([place.session.position] if place.session else []) == places
    assert (place.problem is None) == (by is not None)


LAYOUT = SourceLayout(path="hits", session="id", round="n", text="t")


def test_a_session_keeps_its_best_rank_and_the_unknown_keep_theirs() -> None:
    sources = [
        ReturnedSource(session="nobody's"),
        ReturnedSource(session=S1, round_index=0),
        ReturnedSource(session=S1, round_index=1),
        ReturnedSource(problem="?"),
        ReturnedSource(session=S0, round_index=0, text="The kayak"),
    ]
    line = sources_line(LAYOUT, Returned(sources), SourceMatcher(QUESTION, BLINDING))
    ids = [item["session_id"] for item in line["ranked_sessions"]]
    assert ids == ["unplaced 1", "original-1", "unplaced 4", "original-0"]
    rounds = [(item["position"], item["round_index"]) for item in line["ranked_rounds"]]
    assert rounds == [(-1, -1), (1, 0), (1, 1), (-1, -1), (0, 0)]
    assert line["ranked_rounds"][4]["characters"] == len("The kayak")
    assert line["sources"] == {
        "state": "placed",
        "returned": 5,
        "by": {"turn": 0, "round": 3, "text": 0, "session": 0},
        "unplaced": 2,
        "problem": 'names session "nobody\'s", which this user never had',
        "tells_rounds": True,
        "tells_context": False,  # nobody knows how long the unknown ones are
    }


@pytest.mark.parametrize(
    ("layout", "returned", "state", "tells"),
    [
        (
            LAYOUT,
            Returned([ReturnedSource(session=S0, round_index=0)]),
            "placed",
            (True, True, True),
        ),
        (LAYOUT, Returned([ReturnedSource(session=S0)]), "placed", (True, False, False)),
        (
            LAYOUT,
            Returned(
                [
                    ReturnedSource(session=S1, round_index=0),
                    ReturnedSource(session=S0, text="he paddles"),
                ]
            ),
            "placed",
            (True, False, True),
        ),
        (
            LAYOUT,
            Returned([ReturnedSource(session=S0, text="he paddles")]),
            "placed",
            (True, False, True),
        ),
        (LAYOUT, Returned([ReturnedSource(session="x")]), "unplaced", (False, False, False)),
        (LAYOUT, Returned([]), "empty", (True, True, True)),
        (SourceLayout(path="hits", session="id"), Returned([]), "empty", (True, False, False)),
        (LAYOUT, Returned(), "not returned", (False, False, False)),
        (LAYOUT, Returned(problem="?"), "unreadable", (False, False, False)),
    ],
)
def test_what_a_list_of_sources_tells_and_what_not(
    layout: SourceLayout, returned: Returned, state: str, tells: tuple[bool, bool, bool]
) -> None:
    line = sources_line(layout, returned, SourceMatcher(QUESTION, BLINDING))
    account = line["sources"]
    assert account["state"] == state
    ranked = line["ranked_sessions"] is not None
    assert (ranked, account["tells_rounds"], account["tells_context"]) == tells


def test_a_text_over_several_rounds_counts_once() -> None:
    text = "The kayak I bought is turquoise. My cat sleeps all day."
    line = sources_line(
        LAYOUT, Returned([ReturnedSource(text=text)]), SourceMatcher(QUESTION, BLINDING)
    )
    assert [item["characters"] for item in line["ranked_rounds"]] == [len(text), 0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("session = 'id'", "path or header must say where the list is"),
        ("path = 'hits'", "none of session, turn, text says what a source is"),
        ("path = 'a'\nheader = 'b'\ntext = 't'", "path or header, not both"),
        ("path = 'a'\ntext = 't'\nscore = 's'\nrank = 'r'", "score or rank, not both"),
        ("path = 'a'\ntext = 't'\nround = 'n'", "round needs session"),
        ("path = 'a'\ntext = 't'\nfirst_round = '1'", "first_round must be int"),
        ("path = 'a'\ntxt = 't'", r"\[sources\]: unknown setting txt"),
    ],
)
def test_mistakes_in_a_layout_are_named(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_profile(f"[sources]\n{text}", name="x", source="x.toml")
