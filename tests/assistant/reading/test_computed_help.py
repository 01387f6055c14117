"""Computed help and the profile: dates, mentions, newest first, lasting facts."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from assistant.reading.memory_context import computed_help, profile_lines
from assistant.reading.question_kind import question_kind
from assistant.reading.statements import Statement
from memory_store import Days, Fact, FactLink, Recalled, Record, Round, Speaker

TODAY = date(2023, 6, 10)


def recalled(day: int, *facts: Fact) -> Recalled:
    at = datetime(2023, 5, day, 9, tzinfo=UTC)
    return Recalled(Record(Round("ann", f"s{day}", 0, at, "text"), facts), similarity=0.5)


def statement(
    text: str, day: int, *, happened: int | None = None, closeness: float = 0.5
) -> Statement:
    on = date(2023, 5, happened) if happened else None
    days = (Days(on, on),) if on else ()
    return Statement(text, Speaker.USER, recalled(day), days, closeness)


SAID = [
    statement("I ran in Ghent yesterday.", 20, happened=19),
    statement("I bought shoes.", 8),
    statement("It rained.", 9, closeness=0.1),
]


def test_a_question_about_time_gets_days_and_the_time_between_them() -> None:
    found = computed_help(
        question_kind("How many days between the shoes and the run?"), SAID, TODAY
    )
    assert found == {
        "dated_statements": [
            {
                "day": "2023-05-08 (Mon)",
                "day_is": "when it was said",
                "before_today": "33 days (4 weeks 5 days; 1 month 2 days)",
                "statement": "I bought shoes.",
            },
            {
                "day": "2023-05-19 (Fri)",
                "day_is": "when it happened",
                "before_today": "22 days (3 weeks 1 day)",
                "after_the_previous": "11 days",
                "statement": "I ran in Ghent yesterday.",
            },
        ]
    }


def test_a_count_gets_its_mentions_numbered_once_each() -> None:
    said = [statement("I got a bike.", 20), statement("I GOT a bike.", 21), statement("A car!", 8)]
    assert computed_help(question_kind("How many vehicles?"), said, TODAY) == {
        "mentions": [
            {"number": 1, "said_on": "2023-05-08 (Mon)", "statement": "A car!"},
            {"number": 2, "said_on": "2023-05-20 (Sat)", "statement": "I got a bike."},
        ]
    }


def test_other_questions_get_the_newest_statement_marked() -> None:
    said = [statement("My dentist is Dr. A.", 8), statement("My dentist is Dr. B.", 20)]
    assert computed_help(question_kind("Who is my dentist?"), said, TODAY) == {
        "newest_statements_first": [
            {
                "said_on": "2023-05-20 (Sat)",
                "statement": "My dentist is Dr. B.",
                "is_newest": True,
            },
            {"said_on": "2023-05-08 (Mon)", "statement": "My dentist is Dr. A."},
        ]
    }


@pytest.mark.parametrize("said", [[], SAID[:1]])
def test_nothing_to_compare_is_no_help(said: list[Statement]) -> None:
    assert computed_help(question_kind("Who is my dentist?"), said, TODAY) == {}


def test_a_day_that_is_not_known_exactly_counts_from_when_it_was_said() -> None:
    vague = Days(date(2023, 5, 1), date(2023, 5, 31))
    said = Statement("I moved in May.", Speaker.USER, recalled(20), (vague,))
    assert (said.happened_on, said.day) == (None, date(2023, 5, 20))


def test_the_profile_holds_lasting_facts_newest_first_with_their_day() -> None:
    rounds = [
        recalled(8, Fact("I love hiking in the Alps."), Fact("It rained on me twice.")),
        recalled(20, Fact("I'm allergic to nuts."), Fact("i love hiking in the alps.")),
        recalled(9, Fact("I recommend my hotel.", Speaker.ASSISTANT)),
    ]
    assert profile_lines(rounds) == [
        {"said_on": "2023-05-20 (Sat)", "fact": "I'm allergic to nuts."},
        {"said_on": "2023-05-08 (Mon)", "fact": "I love hiking in the Alps."},
    ]


def test_the_profile_holds_no_part_twice_and_nothing_that_was_replaced() -> None:
    whole, lives, works = (
        Fact("I live in Lyon and I work at Acme."),
        Fact("I live in Lyon"),
        Fact("I work at Acme."),
    )
    assert [line["fact"] for line in profile_lines([recalled(8, whole, lives, works)])] == [
        "I live in Lyon and I work at Acme."
    ]
    later = FactLink("another", "I moved to Nice.", datetime(2023, 5, 20, tzinfo=UTC))
    moved = replace(lives, superseded_by=later)
    assert [line["fact"] for line in profile_lines([recalled(8, whole, moved, works)])] == [
        "I work at Acme."
    ]


def test_of_several_who_speak_each_line_says_who() -> None:
    def of(name: str, day: int, text: str) -> Recalled:
        one = recalled(day, Fact(text, Speaker.USER, "rule"))
        named = replace(one.record.round, user_name=name)
        return replace(one, record=replace(one.record, round=named))

    both = [of("Ann", 2, "I like tea."), of("Bob", 1, "I like tea.")]
    assert [line["fact"] for line in profile_lines(both)] == [
        "Ann: I like tea.",
        "Bob: I like tea.",
    ]
    assert [line["fact"] for line in profile_lines(both[:1])] == ["I like tea."]
    said = [
        replace(statement("I ran.", day), said_by=name) for name, day in (("Ann", 1), ("Bob", 2))
    ]
    found = computed_help(question_kind("How often did they run?"), said, TODAY)
    assert [one["statement"] for one in found["mentions"]] == ["Ann: I ran.", "Bob: I ran."]


def test_what_was_quoted_from_others_is_no_help() -> None:
    quoted = Statement("I ran in Oslo.", Speaker.QUOTED, recalled(21), (), 0.9)
    kind = question_kind("Where did I run?")
    assert computed_help(kind, [quoted, *SAID], TODAY) == computed_help(kind, SAID, TODAY)
    assert computed_help(kind, [quoted], TODAY) == {}
