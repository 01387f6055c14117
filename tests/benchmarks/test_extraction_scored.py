"""The score of extraction: what matches, what is counted, and a model measured over real HTTP."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from extractions import extracting
from scripted_model import ScriptedModel, scripted_model

from benchmarks.extraction.__main__ import DEV, HELD_OUT, score
from benchmarks.extraction.scoring import AnnotatedFact, FoundFact, Score

EXTRACT = "extract_facts"


def rounds_of(file: Path) -> list[dict[str, Any]]:
    rounds: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["rounds"]
    return rounds


def test_both_sets_hold_facts_of_their_own_people_in_the_words_of_their_rounds() -> None:
    facts = 0
    for file in [*DEV, *HELD_OUT]:
        rounds = rounds_of(file)
        times = [one["at"] for one in rounds]
        assert times == sorted(set(times)), file
        for number, one in enumerate(rounds):
            for given in one["facts"]:
                assert AnnotatedFact.of(given, number).is_in(one["said"]), given
                facts += 1
    assert facts >= 300
    assert not {file.name for file in DEV} & {file.name for file in HELD_OUT}


@pytest.mark.parametrize(
    ("has", "text", "holds"),
    [
        ("rent 950", "The rent is 950 euros.", True),
        ("rent 950", "The rent is 9500 euros.", False),
        ("Adopt/took cat", "I adopted two cats.", True),
        ("cat", "I like a concatenation.", False),
        ("9/9th", "on the 9th", True),
    ],
)
def test_a_fact_is_matched_by_all_of_its_words(has: str, text: str, holds: bool) -> None:
    assert AnnotatedFact.of({"has": has}, 0).is_in(text) is holds


def found(text: str, round: int = 0, **more: Any) -> FoundFact:
    how: dict[str, Any] = {
        "is_own": True,
        "in_doubt": False,
        "days": frozenset(),
        "replaced_in": None,
        "contradicts": frozenset(),
    }
    return FoundFact(round, text, **(how | more))


def scored(stated: Sequence[Mapping[str, Any]], *of: FoundFact) -> dict[str, int]:
    score = Score()
    score.add([AnnotatedFact.of(one, one.get("round", 0)) for one in stated], of)
    return dict(score.counts)


def test_what_was_found_is_right_another_s_or_not_stated() -> None:
    counts = scored(
        [{"has": "cat"}, {"has": "dog"}, {"has": "moved", "of": "a friend"}],
        *(found("I have a cat"), found("I moved"), found("I like tea")),
        found("a dog", is_own=False),
    )
    assert (counts["stated"], counts["found"], counts["held another's"]) == (2, 1, 1)
    assert (counts["extracted"], counts["right"]) == (3, 1)
    assert (counts["another's"], counts["not stated"]) == (1, 1)


def test_days_are_those_of_the_fact_and_of_what_its_sentence_states_as_well() -> None:
    stated = [
        {"has": "vet", "days": ["2026-03-06"]},
        {"has": "cat"},
        {"has": "race", "days": ["2026-04-01"]},
        {"has": "tea", "days": None},
    ]
    counts = scored(
        stated,
        found("vet with the cat", days=frozenset({"2026-03-06"})),
        found("the race", days=frozenset({"2026-04-01", "2026-04-02"})),
        found("tea", days=frozenset({"2026-04-02"})),
    )
    assert (counts["days judged"], counts["days right"], counts["days wrong"]) == (3, 2, 1)


def test_a_link_is_right_from_the_old_fact_to_the_round_of_the_new_one() -> None:
    stated = [
        {"has": "950", "id": "rent"},
        {"has": "dog"},
        {"has": "990", "replaces": ["rent"], "round": 1},
    ]
    right = scored(stated, found("rent 950", replaced_in=1), found("now 990", 1))
    assert (right["replaced"], right["links right"]) == (1, 1)
    doubted = scored(stated, found("rent 950"), found("990", 1, contradicts=frozenset({0})))
    assert (doubted.get("links right"), doubted["links in doubt"]) == (None, 1)
    wrong = scored(stated, found("rent 950", replaced_in=2), found("a dog", replaced_in=1))
    assert (wrong.get("links right"), wrong["links missed"], wrong["links wrong"]) == (None, 1, 2)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")
        monkeypatch.setenv("ASSISTANT_EXTRACT_MODEL__BASE_URL", running.url)
        monkeypatch.setenv("ASSISTANT_EXTRACT_MODEL__API_KEY", "none")
        yield running


async def test_a_model_that_finds_what_was_annotated_has_a_full_score(
    model: ScriptedModel,
) -> None:
    rounds = rounds_of(DEV[0])
    by_text = {one["said"]: one["facts"] for one in rounds}
    by_id = {one["id"]: one for one in chain(*by_text.values()) if "id" in one}

    def facts(round: Mapping[str, Any], shown: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        def number_of(name: str) -> int:
            older = AnnotatedFact.of(by_id[name], 0)
            return next(one["number"] for one in shown["known"] if older.is_in(one["fact"]))

        return [
            {
                "text": _text(one),
                "speaker": "quoted" if "of" in one else "user",
                "dates": one.get("days") or [],
                "replaces": [
                    {"number": number_of(name), "part": ""} for name in one.get("replaces", ())
                ],
            }
            for one in by_text[round["user"]]
        ]

    model.on(EXTRACT).always(extracting(facts))
    found = await score([DEV[0]], "openai/fake")
    assert (found.precision, found.recall) == (1.0, 1.0)
    counts = found.counts
    assert counts["days right"] == counts["days judged"] > 0
    # What may be another's replaces nothing, whatever the model says.
    assert counts["links right"] + counts["links in doubt"] == counts["replaced"] > 0
    assert min(counts["links right"], counts["links in doubt"], counts["in doubt"]) > 0, counts
    assert (counts["links missed"], counts["links wrong"]) == (0, 0)


def _text(one: Mapping[str, Any]) -> str:
    words = (word.partition("/")[0] for word in one["has"].split())
    return f"It has {' and '.join(words)}."


async def test_rules_are_scored_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")
    found = await score([DEV[0]])
    stated = sum("of" not in one for one in chain(*(r["facts"] for r in rounds_of(DEV[0]))))
    counts = found.counts
    assert counts["stated"] == stated
    assert counts["found"] + counts["missed"] + counts["held another's"] == stated
    assert 0 < found.recall < 1
    assert found.precision > 0.5
