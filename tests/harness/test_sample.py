"""The built-in sample: its format, its odd cases, and every answer derived once more.

Longer than a test module should be, because a third of it is tables of phrases and dates.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from harness.sample import build_sample

Instance = dict[str, Any]
Session = list[dict[str, Any]]
DayRule = Callable[[date], date]

SAMPLE = build_sample()
BY_ID = {instance["question_id"]: instance for instance in SAMPLE}
POOL: dict[str, Session] = {
    filler["session_id"]: filler["turns"]
    for filler in json.loads(files("harness.sample").joinpath("pool.json").read_text("utf-8"))
}
TYPES = {f"single-session-{kind}" for kind in ("user", "assistant", "preference")}
TYPES |= {"temporal-reasoning", "knowledge-update", "multi-session"}
HAYSTACK = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
FIELDS = {"question_id", "question_type", "question", "answer", "question_date", *HAYSTACK}
FIELDS |= {"answer_session_ids"}
TUESDAY, WEDNESDAY, SATURDAY = 1, 2, 5


class Dated(NamedTuple):
    """One session of a haystack."""

    session_id: str
    session_date: str
    turns: Session

    @property
    def day(self) -> date:
        return day_of(self.session_date)

    @property
    def text(self) -> str:
        return text_of(self.turns)

    @property
    def evidence_text(self) -> str:
        return text_of([turn for turn in self.turns if turn.get("has_answer")])


def haystack(instance: Instance) -> list[Dated]:
    rows = zip(*(instance[column] for column in HAYSTACK), strict=True)
    return [Dated(*row) for row in rows]


def evidence(instance: Instance) -> list[Dated]:
    """The evidence sessions, oldest first."""
    found = [s for s in haystack(instance) if s.session_id in instance["answer_session_ids"]]
    return sorted(found, key=lambda session: session.session_date)


def session_of(question_id: str, session_id: str) -> Dated:
    return next(s for s in haystack(BY_ID[question_id]) if s.session_id == session_id)


def text_of(turns: Session) -> str:
    return "\n".join(turn["content"] for turn in turns)


def instant_of(session_date: str) -> datetime:
    return datetime.strptime(session_date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)


def day_of(session_date: str) -> date:
    return instant_of(session_date).date()


def is_abstention(instance: Instance) -> bool:
    return str(instance["question_id"]).endswith("_abs")


def of_type(question_type: str) -> list[Instance]:
    """The answerable questions of one type."""
    return [i for i in SAMPLE if i["question_type"] == question_type and not is_abstention(i)]


# Format


@pytest.mark.parametrize("instance", SAMPLE, ids=lambda i: i["question_id"])
def test_instances_have_the_format_of_longmemeval(instance: Instance) -> None:
    assert set(instance) == FIELDS
    assert instance["question_type"] in TYPES
    assert isinstance(instance["answer"], str | int)
    assert 12 <= len(haystack(instance)) <= 30
    for stamp in [instance["question_date"], *instance["haystack_dates"]]:
        assert f"{instant_of(stamp):%Y/%m/%d (%a) %H:%M}" == stamp
        assert day_of(stamp).year in (2024, 2025)
        assert day_of(stamp) <= day_of(instance["question_date"])


@pytest.mark.parametrize("instance", SAMPLE, ids=lambda i: i["question_id"])
def test_turns_have_a_role_and_labels_stand_on_evidence_only(instance: Instance) -> None:
    for session in haystack(instance):
        is_evidence = session.session_id.startswith("answer_")
        assert is_evidence == (session.session_id in instance["answer_session_ids"])
        for turn in session.turns:
            assert set(turn) == {"role", "content"} | ({"has_answer"} if is_evidence else set())
            assert turn["role"] in ("user", "assistant")
            assert turn["content"] == turn["content"].strip() != ""


@pytest.mark.parametrize("instance", SAMPLE, ids=lambda i: i["question_id"])
def test_every_listed_session_is_there_once_and_carries_evidence(instance: Instance) -> None:
    assert sorted(s.session_id for s in evidence(instance)) == sorted(
        instance["answer_session_ids"]
    )
    if not is_abstention(instance):
        assert all(session.evidence_text for session in evidence(instance))


def test_evidence_is_said_by_the_role_the_type_names() -> None:
    for instance in SAMPLE:
        roles = {t["role"] for s in evidence(instance) for t in s.turns if t["has_answer"]}
        expected = (
            "assistant" if instance["question_type"] == "single-session-assistant" else "user"
        )
        assert roles <= {expected}


def test_counts_per_type() -> None:
    answerable = Counter(i["question_type"] for i in SAMPLE if not is_abstention(i))
    assert set(answerable) == TYPES
    assert min(answerable.values()) >= 5
    assert sum(map(is_abstention, SAMPLE)) >= 4
    assert len(SAMPLE) >= 34


def test_questions_and_evidence_are_distinct() -> None:
    assert len(BY_ID) == len(SAMPLE)
    evidence_ids = [session_id for i in SAMPLE for session_id in i["answer_session_ids"]]
    assert len(set(evidence_ids)) == len(evidence_ids)


# The pool


def test_pool_is_large_and_varied() -> None:
    lengths = [len(turns) for turns in POOL.values() if turns]
    assert len(lengths) >= 45
    assert min(lengths) >= 2
    assert max(lengths) <= 10
    assert len(set(lengths)) >= 5
    words = [len(t["content"].split()) for s in POOL.values() for t in s if t["role"] != "user"]
    assert sum(60 <= count <= 200 for count in words) >= 45


def test_pool_repeats_no_turn_and_looks_like_no_evidence() -> None:
    contents = [turn["content"] for turns in POOL.values() for turn in turns]
    assert len(set(contents)) == len(contents)
    assert not any("answer" in session_id for session_id in POOL)


def test_data_files_stay_small() -> None:
    for name in ("pool.json", "questions.json"):
        assert len(files("harness.sample").joinpath(name).read_bytes()) < 300_000


# Determinism


def test_every_call_returns_equal_data_of_its_own() -> None:
    first = build_sample()
    assert first == SAMPLE
    for instance in first:
        for turns in instance["haystack_sessions"]:
            turns.append({"role": "user", "content": "spoilt"})
    assert build_sample() == SAMPLE


def test_hash_seed_does_not_matter() -> None:
    script = "import json; from harness.sample import build_sample as b; print(json.dumps(b()))"
    environment = os.environ | {"PYTHONHASHSEED": "4711"}
    output = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, check=True, text=True
    ).stdout
    assert json.loads(output) == SAMPLE


# Odd but legal cases


def starts_with_assistant(session: Dated) -> bool:
    return session.turns[:1] != [] and session.turns[0]["role"] == "assistant"


def has_two_user_turns_in_a_row(session: Dated) -> bool:
    return any(a["role"] == b["role"] == "user" for a, b in pairwise(session.turns))


def is_unsorted_within_a_day(instance: Instance) -> bool:
    return any(a.day == b.day and a.session_date > b.session_date for a, b in pairs_of(instance))


def pairs_of(instance: Instance) -> list[tuple[Dated, Dated]]:
    return list(pairwise(haystack(instance)))


def test_haystacks_are_sorted_by_day() -> None:
    assert all(a.day <= b.day for instance in SAMPLE for a, b in pairs_of(instance))


def test_some_sessions_start_with_the_assistant() -> None:
    assert any(starts_with_assistant(s) for i in SAMPLE for s in evidence(i))
    assert any(
        starts_with_assistant(s) for i in SAMPLE for s in haystack(i) if s.session_id in POOL
    )


def test_some_sessions_have_two_user_turns_in_a_row() -> None:
    assert any(has_two_user_turns_in_a_row(s) for i in SAMPLE for s in evidence(i))
    assert any(has_two_user_turns_in_a_row(s) for i in SAMPLE for s in haystack(i))


def test_some_session_is_empty() -> None:
    assert any(session.turns == [] for i in SAMPLE for session in haystack(i))


def test_some_answers_are_integers() -> None:
    assert sum(isinstance(i["answer"], int) for i in SAMPLE) >= 2


def test_some_evidence_of_one_day_is_out_of_order() -> None:
    instance = BY_ID["c93e1b50"]
    assert is_unsorted_within_a_day(instance)
    _, morning, evening = evidence(instance)
    assert morning.day == evening.day
    assert haystack(instance).index(evening) < haystack(instance).index(morning)


def test_some_question_is_dated_before_its_evidence_on_the_same_day() -> None:
    instance = BY_ID["c40b7e58"]
    (session,) = evidence(instance)
    assert session.day == day_of(instance["question_date"])
    assert session.session_date > instance["question_date"]


def test_some_fillers_occur_twice_with_different_dates() -> None:
    repeated = [i for i in SAMPLE if len(set(i["haystack_session_ids"])) < len(haystack(i))]
    assert len(repeated) >= 2
    for instance in SAMPLE:
        pairs = [(s.session_id, s.day) for s in haystack(instance)]
        assert len(set(pairs)) == len(pairs)


# Answers

# What gives an answer away: in a labelled turn of its question, in no other session at all.
MARKERS = {
    "3b9d04e1": ["bottle green"],
    "91fe6a27": ["bassoon"],
    "c40b7e58": ["£140"],
    "5d21f8c6": ["locker 218"],
    "e8730b1f": ["Mr Okonjo"],
    "07acd593": ["Halina at the bakery"],
    "6f18c2d4": ["5. A visit to the beekeeping collection at the Veriga house"],
    "d95e3a70": ["crab stitch", "reverse single crochet"],
    "2ec7b914": ["3. The Early Wing"],
    "b8043fd6": ["Pemberly"],
    "4a90e7cb": ["food-grade silicone grease"],
    "78d6b3e0": ["hand-crank", "linen skirt", "polyester crepe"],
    "15c9f2ab": ["bossa nova", "flashcard apps"],
    "f3a7016d": ["looks north", "barely a metre deep", "rescued it off the reduced shelf"],
    "8be40d97": ["fourth night on the ward", "over by the time the bath water is cold"],
    "c6125eaf": ["single induction plate and no oven", "no fresh coriander"],
    "d2f98b46": ["residence permit application", "residence permit card"],
    "0b5ce731": ["gutters were cleared", "sweep did our chimney"],
    "e41d86fa": ["lime plastering workshop"],
    "97b20fc4": ["choir rehearsal", "choir concert"],
    "3c08ad5b": ["bookbinding workshop", "stained glass workshop", "cyanotype workshop"],
    "f60e94a2": ["my umbrella on the 31"],
    "52fb8d19": ["7:15 pm"],
    "a90d7e26": ["nine chapters"],
    "6ce24f87": ["Tobias"],
    "0e7f35bd": ["75 micrograms"],
    "bb1a6842": ["28 June"],
    "43d98a0c": ["€2,100"],
    "7f02ad6b": ["repair café", "toaster", "raincoat", "music box", "brass lamp"],
    "c93e1b50": ["£64", "£38", "£150"],
    "25e8c7fa": ["Thessaloniki"],
    "de47019c": ["three hours of unloading", "four and a half hours", "two and a half hours"],
    "61ab3fd8": ["Welsh", "Dutch", "Slovene"],
}


def test_every_answerable_question_has_markers() -> None:
    assert set(MARKERS) == {i["question_id"] for i in SAMPLE if not is_abstention(i)}


@pytest.mark.parametrize("question_id", MARKERS)
def test_the_answer_is_in_labelled_turns_and_in_no_other_session(question_id: str) -> None:
    labelled = "\n".join(s.evidence_text for s in evidence(BY_ID[question_id])).lower()
    others = [s for s in haystack(BY_ID[question_id]) if not s.session_id.startswith("answer_")]
    pool = [text_of(turns) for turns in POOL.values()]
    for marker in MARKERS[question_id]:
        assert marker.lower() in labelled
        assert not any(marker.lower() in session.text.lower() for session in others)
        assert not any(marker.lower() in text.lower() for text in pool)


SPELT_OUT = {"3b9d04e1", "91fe6a27", "c40b7e58", "5d21f8c6", "e8730b1f", "6f18c2d4", "2ec7b914"}
SPELT_OUT |= {"b8043fd6", "4a90e7cb"}


@pytest.mark.parametrize("question_id", sorted(SPELT_OUT))
def test_single_session_answers_are_quoted_from_the_evidence(question_id: str) -> None:
    (session,) = evidence(BY_ID[question_id])
    words = str(BY_ID[question_id]["answer"]).lower().removeprefix("the ").split(", with")
    assert words[0] in session.evidence_text.lower()


def test_assistant_lists_hold_the_answer_at_the_place_asked_for() -> None:
    for question_id, number in (("6f18c2d4", 5), ("2ec7b914", 3)):
        lines = evidence(BY_ID[question_id])[0].evidence_text.splitlines()
        (item,) = [line for line in lines if line.startswith(f"{number}. ")]
        assert (
            item.removeprefix(f"{number}. ")
            .rstrip(".")
            .startswith(str(BY_ID[question_id]["answer"]).removesuffix(", with a honey tasting"))
        )


def test_preference_answers_are_rubrics() -> None:
    for instance in of_type("single-session-preference"):
        assert instance["answer"].startswith("The user would prefer")
        assert "may not prefer" in instance["answer"]


def test_abstention_answers_say_what_is_missing_and_give_no_total() -> None:
    for instance in filter(is_abstention, SAMPLE):
        assert "did not" in instance["answer"]
        assert all("_abs" in session_id for session_id in instance["answer_session_ids"])


@pytest.mark.parametrize(
    ("question_id", "unsaid"),
    [
        ("a61f02d8_abs", ["Dr ", "Dr. ", " vet "]),
        ("1d73c8e5_abs", ["my first lesson", "my first violin lesson"]),
        ("98c50fe3_abs", ["100 litre", "120 litre", "litres"]),
        ("34f7b6c0_abs", ["shed cost", "shed for"]),
        ("b52e90d7_abs", ["Shetland"]),
    ],
)
def test_abstention_evidence_leaves_the_point_out(question_id: str, unsaid: list[str]) -> None:
    said = "\n".join(
        turn["content"]
        for session in haystack(BY_ID[question_id])
        for turn in session.turns
        if turn["role"] == "user"
    )
    assert not any(phrase in said for phrase in unsaid)


# Knowledge that changes: the phrases of each evidence session, oldest first.
UPDATES = {
    "52fb8d19": ["6:30 pm", "7:15 pm"],
    "a90d7e26": ["five chapters", "nine chapters"],
    "6ce24f87": ["Renske is leading", "Tobias, he took over the lead"],
    "0e7f35bd": ["50 micrograms", "75 micrograms"],
    "bb1a6842": ["14 June", "28 June"],
    "43d98a0c": ["€900", "€1,450", "€2,100"],
}


def test_every_update_is_checked() -> None:
    assert set(UPDATES) == {i["question_id"] for i in of_type("knowledge-update")}


@pytest.mark.parametrize("question_id", UPDATES)
def test_the_newest_session_alone_holds_the_updated_answer(question_id: str) -> None:
    sessions = evidence(BY_ID[question_id])
    answer = BY_ID[question_id]["answer"].lower()
    for session, phrase in zip(sessions, UPDATES[question_id], strict=True):
        assert phrase in session.evidence_text
    assert answer in UPDATES[question_id][-1].lower()
    assert not any(answer in session.text.lower() for session in sessions[:-1])
    assert all(older.day < newer.day for older, newer in pairwise(sessions))


# Temporal questions: the day of every event, from the session's date and the words used.


def ago(days: int = 0, weeks: int = 0) -> DayRule:
    return lambda day: day - timedelta(days=days, weeks=weeks)


def latest(weekday: int) -> DayRule:
    """The nearest such weekday before the session."""
    return lambda day: day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def fixed(month: int, day_of_month: int) -> DayRule:
    return lambda day: day.replace(month=month, day=day_of_month)


EVENTS: list[tuple[str, str, str, DayRule, date]] = [
    ("d2f98b46", "answer_d2f98b46_1", "this morning", ago(), date(2024, 5, 14)),
    ("d2f98b46", "answer_d2f98b46_2", "yesterday", ago(days=1), date(2024, 6, 11)),
    ("0b5ce731", "answer_0b5ce731_1", "last Tuesday", latest(TUESDAY), date(2024, 10, 15)),
    ("0b5ce731", "answer_0b5ce731_2", "three weeks ago", ago(weeks=3), date(2024, 10, 3)),
    ("e41d86fa", "answer_e41d86fa", "on Saturday", latest(SATURDAY), date(2025, 3, 8)),
    ("e41d86fa", "5ad80c1e_1", "On Saturday", latest(SATURDAY), date(2025, 3, 15)),
    ("e41d86fa", "5ad80c1e_2", "on Saturday", latest(SATURDAY), date(2025, 3, 1)),
    ("97b20fc4", "answer_97b20fc4_1", "last night", ago(days=1), date(2024, 9, 4)),
    ("97b20fc4", "answer_97b20fc4_2", "on Wednesday", latest(WEDNESDAY), date(2024, 12, 11)),
    ("3c08ad5b", "answer_3c08ad5b_1", "ten days ago", ago(days=10), date(2025, 5, 26)),
    ("3c08ad5b", "answer_3c08ad5b_2", "yesterday", ago(days=1), date(2025, 6, 18)),
    ("3c08ad5b", "answer_3c08ad5b_3", "on 7 June", fixed(6, 7), date(2025, 6, 7)),
    ("f60e94a2", "answer_f60e94a2", "yesterday", ago(days=1), date(2025, 9, 3)),
    ("f60e94a2", "4be17d90_1", "Yesterday", ago(days=1), date(2025, 8, 27)),
]


def test_every_temporal_question_has_its_events() -> None:
    listed = {session_id for _, session_id, *_ in EVENTS}
    for instance in of_type("temporal-reasoning"):
        assert set(instance["answer_session_ids"]) <= listed


@pytest.mark.parametrize(("question_id", "session_id", "words", "rule", "day"), EVENTS)
def test_event_days_follow_from_session_dates(
    question_id: str, session_id: str, words: str, rule: DayRule, day: date
) -> None:
    session = session_of(question_id, session_id)
    assert words in (session.evidence_text or session.text)
    assert rule(session.day) == day


def event_days(question_id: str) -> list[date]:
    """The days of the labelled events of a question, in the order of `EVENTS`."""
    return [
        rule(session_of(question_id, session_id).day)
        for event_question, session_id, _, rule, _ in EVENTS
        if event_question == question_id and session_id.startswith("answer_")
    ]


def test_days_between_application_and_card() -> None:
    posted, arrived = event_days("d2f98b46")
    assert BY_ID["d2f98b46"]["answer"] == f"{(arrived - posted).days} days"


def test_chimney_came_before_gutters_however_last_tuesday_is_read() -> None:
    gutters, chimney = event_days("0b5ce731")
    assert chimney < gutters - timedelta(weeks=1)
    assert "chimney" in BY_ID["0b5ce731"]["answer"]


def test_the_workshop_was_on_the_saturday_asked_for() -> None:
    assert event_days("e41d86fa") == [date(2025, 3, 8)]
    assert "Saturday, 8 March" in BY_ID["e41d86fa"]["question"]


def test_weeks_between_first_rehearsal_and_concert() -> None:
    first, concert = event_days("97b20fc4")
    weeks, rest = divmod((concert - first).days, 7)
    assert (BY_ID["97b20fc4"]["answer"], rest) == (f"{weeks} weeks", 0)


def test_order_of_workshops() -> None:
    names = ("Bookbinding", "stained glass", "cyanotype")
    by_day = [name for _, name in sorted(zip(event_days("3c08ad5b"), names, strict=True))]
    positions = [BY_ID["3c08ad5b"]["answer"].index(name) for name in by_day]
    assert positions == sorted(positions)


def test_the_umbrella_was_lost_last_wednesday() -> None:
    asked = latest(WEDNESDAY)(day_of(BY_ID["f60e94a2"]["question_date"]))
    assert event_days("f60e94a2") == [asked]
    assert "Line 31" in BY_ID["f60e94a2"]["answer"]


# Questions over several sessions


def test_one_mended_thing_per_repair_session() -> None:
    things = ["toaster", "raincoat", "music box", "brass lamp"]
    sessions = evidence(BY_ID["7f02ad6b"])
    for session, thing in zip(sessions, things, strict=True):
        assert thing in session.text
        assert "repair café" in session.evidence_text
    assert BY_ID["7f02ad6b"]["answer"] == len(sessions)


def test_sum_spent_on_the_boat() -> None:
    spent = [64, 38, 150]
    for session, pounds in zip(evidence(BY_ID["c93e1b50"]), spent, strict=True):
        assert f"£{pounds}" in session.evidence_text
        assert session.text.count("£") == 1
    assert BY_ID["c93e1b50"]["answer"] == f"£{sum(spent)}"


def test_age_of_the_grandmother_in_two_steps() -> None:
    left, opened = evidence(BY_ID["25e8c7fa"])
    assert "She was 24 when she left Thessaloniki" in left.evidence_text
    assert "nine years after she'd left Thessaloniki" in opened.evidence_text
    assert BY_ID["25e8c7fa"]["answer"] == str(24 + 9)


def test_hours_at_the_food_bank_in_october() -> None:
    hours = {"three hours": 3.0, "four and a half hours": 4.5, "two and a half hours": 2.5}
    for session, words in zip(evidence(BY_ID["de47019c"]), hours, strict=True):
        assert words in session.evidence_text
        assert session.day.month == 10
    assert BY_ID["de47019c"]["answer"] == f"{sum(hours.values()):g} hours"


def test_one_translation_per_session() -> None:
    languages = ["Welsh", "Dutch", "Slovene"]
    for session, language in zip(evidence(BY_ID["61ab3fd8"]), languages, strict=True):
        assert language in session.evidence_text
    assert BY_ID["61ab3fd8"]["answer"] == "Three: Welsh, Dutch and Slovene"
