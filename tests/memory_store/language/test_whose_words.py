"""Pasted text replaces nothing, and what users say of themselves does: whole sets, by halves.

The figures are in docs/whose-words.md; `python -m benchmarks.authorship` prints them.
"""

from datetime import UTC, datetime

import pytest

from benchmarks.authorship.__main__ import (
    ChangeOfMind,
    by_rules,
    cases,
    is_replaced_by_a_model,
    is_replaced_by_rules,
    speakers,
)
from memory_store import Round, Speaker, rule_facts

PARTS = ("dev", "held", "fresh", "others")
_MOST_FALSE = 0.01
_MOST_MISSED = {"dev": 0.15, "held": 0.3, "fresh": 0.2, "others": 0.4}
_LEAST_QUOTED = {"dev": 0.9, "held": 0.9, "fresh": 0.8, "others": 0.8}


def share(holds: list[bool]) -> float:
    return sum(holds) / len(holds)


@pytest.mark.parametrize("part", PARTS)
def test_a_case_says_what_its_heading_names(part: str) -> None:
    for kind in ("pasted", "genuine"):
        for case in cases(f"{kind}_{part}"):
            assert case.says.lower() in " ".join(case.text.lower().split()), case


def test_the_sets_are_as_large_as_they_are_said_to_be() -> None:
    pasted = [case for part in PARTS for case in cases(f"pasted_{part}")]
    assert len(pasted) >= 200
    assert len({case.language for case in pasted}) >= 6
    assert len([case for part in PARTS for case in cases(f"genuine_{part}")]) >= 100


@pytest.mark.parametrize("part", PARTS)
def test_pasted_text_replaces_nothing(part: str) -> None:
    pasted = cases(f"pasted_{part}")
    assert share([is_replaced_by_rules(case) for case in pasted]) <= _MOST_FALSE
    assert share([is_replaced_by_a_model(case) for case in pasted]) <= _MOST_FALSE


@pytest.mark.parametrize("part", PARTS)
def test_pasted_text_is_quoted(part: str) -> None:
    found = [said for case in cases(f"pasted_{part}") if (said := speakers(case))]
    assert share([said == {Speaker.QUOTED} for said in found]) >= _LEAST_QUOTED[part]


@pytest.mark.parametrize("part", PARTS)
def test_what_users_say_of_themselves_replaces(part: str) -> None:
    genuine = cases(f"genuine_{part}")
    english = [case for case in genuine if case.language == "en"]
    assert share([not is_replaced_by_rules(case) for case in english]) <= _MOST_MISSED[part]
    assert share([not is_replaced_by_a_model(case) for case in genuine]) <= _MOST_MISSED[part]


@pytest.mark.parametrize(
    "said",
    [
        "Mieszkam teraz w Krakowie.",
        "Artık İzmir'de yaşıyorum.",
        "Jag bor i Malmö nu.",
        "Я теперь живу в Казани.",
        "나는 지금 부산에 살아요.",
    ],
)
def test_one_sentence_is_believed_in_languages_without_examples(said: str) -> None:
    assert is_replaced_by_a_model(ChangeOfMind("?", "short", "I live in Ghent.", said, said))
    asked = f"{said} Popraw gramatykę."
    assert not is_replaced_by_a_model(ChangeOfMind("?", "two", "I live in Ghent.", said, asked))


def test_what_is_not_believed_is_a_conflict_and_is_found() -> None:
    said = "My name is now Carla."
    pasted = f"Can you summarise this email for me?\n\n{said}"
    before, now = by_rules(ChangeOfMind("en", "email", "My name is Anna.", said, pasted))
    (fact,) = now.facts
    assert (fact.text, fact.speaker, fact.in_doubt) == (said, Speaker.QUOTED, True)
    assert [link.text for link in fact.contradicts] == ["My name is Anna."]
    assert before.facts[0].superseded_by is None


def test_people_who_speak_by_name_are_in_doubt_and_not_quoted() -> None:
    """Among themselves they write much that looks like a letter to an assistant."""
    said = "Dear Tom,\nMy name is now Carla.\nLove, Carla"
    at = datetime(2023, 5, 20, tzinfo=UTC)
    for name, speaker in ((None, Speaker.QUOTED), ("Carla", Speaker.USER)):
        (fact,) = rule_facts(Round("ann", "s", 0, at, said, user_name=name))
        assert (fact.speaker, fact.in_doubt) == (speaker, True)
