"""The built-in sample: every answer derived once more from its evidence."""

from itertools import pairwise

import pytest
from sampled import BY_ID, POOL, SAMPLE, evidence, haystack, is_abstention, of_type, text_of

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
