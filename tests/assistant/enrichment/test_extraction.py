"""The extraction prompt, exactly, and the reader of its reply."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from extractions import fact

from assistant.enrichment.extraction import ExtractionWanted, extraction_messages, extraction_shape
from assistant.models.chat_model import ModelReply
from memory_store import Days, Extraction, FactLink, Round, Speaker

MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)
ROUNDS = [
    Round("ann", "s", 0, MAY, "I moved to Bruges yesterday.", "Nice! " + "Enjoy it. " * 200),
    Round("ann", "s", 1, MAY, 'He said "$x".', ""),
]
KNOWN = [FactLink("r0", "I live in Ghent.", datetime(2023, 1, 2, tzinfo=UTC))]
PLAIN = ExtractionWanted("openai/fake")
GOLDEN_END = """\
Leave the list empty where in doubt, where both can be true, and where anybody but the user says so.

Reply with one JSON object and nothing else, in this form, with every round in it:

{"rounds": [{"round": 0, "facts": \
[{"number": 7, "text": "…", "speaker": "user", "dates": ["2023-05-19"], \
"replaces": [{"number": 2, "part": ""}]}]}]}"""


def test_golden_render() -> None:
    system, user = extraction_messages(ROUNDS, KNOWN, PLAIN)
    assert (system.role, user.role) == ("system", "user")
    assert system.content.startswith("You extract facts from one session of a conversation, for")
    assert system.content.endswith(GOLDEN_END)
    assert "$" not in system.content
    shown = json.loads(user.content)
    assert [one["date"] for one in shown["rounds"]] == ["2023-05-20 (Sat)"] * 2
    assert shown["known"] == [{"number": 1, "said": "2023-01-02 (Mon)", "fact": "I live in Ghent."}]
    assert [one["user"] for one in shown["rounds"]] == [round.user_text for round in ROUNDS]
    assert shown["rounds"][0]["assistant"].endswith("Enjoy it. […]")
    assert len(shown["rounds"][0]["assistant"]) < 810


def test_more_is_asked_for_where_the_keys_want_it() -> None:
    system, _ = extraction_messages(
        ROUNDS, [], ExtractionWanted("m", keyphrases=True, summaries=True)
    )
    assert '- "keyphrases" are up to six' in system.content
    assert '"keyphrases": ["…"], "summary": "…"' in system.content


def test_an_extractor_is_named_by_model_prompt_and_what_was_asked() -> None:
    names = {
        PLAIN.extractor,
        ExtractionWanted("m").extractor,
        ExtractionWanted("m", keyphrases=True).extractor,
    }
    assert len(names) == 3


def read(found: Any, wanted: ExtractionWanted = PLAIN) -> list[Extraction]:
    shape = extraction_shape(ROUNDS, KNOWN, wanted)
    return shape.parse(ModelReply(found if isinstance(found, str) else json.dumps(found)))


def rounds(*facts: Mapping[str, Any]) -> dict[str, Any]:
    return {"rounds": [{"round": 1, "facts": []}, {"round": 0, "facts": list(facts)}]}


def test_facts_of_each_round() -> None:
    moved = fact("I moved to Bruges.", dates=["2023-05-19", "2023-05/2023-06"], replaces=[1])
    first, second = read(rounds(moved, fact("You like it.", speaker="quoted")))
    (own, other) = first.facts
    assert (own.text, own.speaker, own.source) == (
        "I moved to Bruges yesterday.",
        Speaker.USER,
        PLAIN.extractor,
    )
    assert own.event_dates == (
        Days(date(2023, 5, 19), date(2023, 5, 19)),
        Days(date(2023, 5, 1), date(2023, 6, 30)),
    )
    assert [(link.round_id, link.by) for link in own.supersedes] == [("r0", PLAIN.extractor)]
    assert (other.speaker, other.supersedes) == (Speaker.QUOTED, ())
    assert second == Extraction(PLAIN.extractor)


def test_keyphrases_and_summary() -> None:
    found = {"rounds": [{"round": n, "keyphrases": ["a"] * 9, "summary": "S."} for n in (0, 1)]}
    first, _ = read(found, ExtractionWanted("m", keyphrases=True, summaries=True))
    assert (first.keyphrases, first.summary, first.facts) == (("a",) * 6, "S.", ())


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ({"rounds": []}, "round 0 is missing"),
        ({"rounds": [{"round": 0, "facts": []}]}, "round 1 is missing"),
        ({}, "round 0 is missing"),
        ({"rounds": "none"}, '"rounds" must be a list'),
        ({"rounds": [1]}, '"rounds" must be a list'),
        (rounds({"speaker": "user"}), 'needs a "text"'),
        (rounds(fact("a", speaker="Ann")), 'needs a "text"'),
        (rounds(fact("a", dates=["soon"])), "is not a day or a range"),
        (rounds(fact("a", dates=["2023-02-30"])), "is not a day or a range"),
        (rounds(fact("a", dates=["2023-05-20/2023-05-19"])), "is not a day or a range"),
        (rounds(fact("a", dates=["0023-05-20"])), "too far from today"),
        (rounds(fact("a", replaces=["one"])), '"replaces" must be a list'),
        ("I cannot do that.", "no JSON object"),
    ],
)
def test_what_is_not_as_asked_is_refused(found: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read(found)


def test_numbers_of_facts_that_were_not_shown_replace_nothing() -> None:
    first, _ = read(rounds(fact("I moved.", replaces=[0, 2, 99])))
    assert first.facts[0].supersedes == ()


def test_of_a_compound_fact_a_part_is_replaced_alone() -> None:
    known = [FactLink("r0", "I live in Ghent and play chess.", MAY)]
    shape = extraction_shape(ROUNDS, known, PLAIN)

    def texts(part: Any) -> list[str]:
        found = rounds(fact("I left Ghent.", replaces=[{"number": 1, "part": part}]))
        first, _ = shape.parse(ModelReply(json.dumps(found)))
        return [link.text for link in first.facts[0].supersedes]

    assert texts("I live in Ghent") == ["I live in Ghent"]
    assert texts("") == texts("something else") == texts(None) == [known[0].text]


def test_a_fact_of_an_earlier_round_of_the_reply_is_replaced_by_its_number() -> None:
    said = [replace(ROUNDS[0], round_index=n, user_text=f"message {n}") for n in range(2)]
    found = {
        "rounds": [
            {"round": 0, "facts": [fact("My rent is 900.", number=2)]},
            {"round": 1, "facts": [fact("My rent is 950.", number=3, replaces=[2, 3])]},
        ]
    }
    shape = extraction_shape(said, KNOWN, PLAIN)
    _, second = shape.parse(ModelReply(json.dumps(found)))
    (link,) = second.facts[0].supersedes
    assert (link.round_id, link.text, link.by) == (said[0].id, "My rent is 900.", PLAIN.extractor)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to Bruges on 2023-05-19.", "I moved to Bruges yesterday."),
        ("I moved to Bruges yesterday", "I moved to Bruges yesterday."),
        ("I live in Bruges.", "I live in Bruges."),
    ],
)
def test_a_fact_that_the_user_states_themselves_is_no_second_one(text: str, expected: str) -> None:
    first, _ = read(rounds(fact(text)))
    assert first.facts[0].text == expected
