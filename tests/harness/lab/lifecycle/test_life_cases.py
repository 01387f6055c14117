"""The cases that ship: enough, dated, fair; and files that are refused."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import DatasetError
from harness.lab.lifecycle.cases import KINDS, Ask, Case, Forget, Say, load_cases
from harness.lab.lifecycle.checks import Number, faults, says

CASES = load_cases().cases


def every_case(check: Callable[[Case], None]) -> Callable[[], None]:
    """Check every case in one test; a failure names its case."""

    def test() -> None:
        for case in CASES:
            try:
                check(case)
            except AssertionError as error:
                error.add_note(f"of the case {case.case_id}")
                raise

    test.__doc__ = check.__doc__
    return test


def told(case: Case) -> list[Say]:
    return [step for step in case.steps if isinstance(step, Say)]


def test_there_are_enough_of_each_kind_over_many_subjects() -> None:
    assert tuple(dict.fromkeys(case.kind for case in CASES)) == KINDS
    assert min(Counter(case.kind for case in CASES).values()) >= 13
    assert len(CASES) >= 150
    for kind in KINDS:
        subjects = {case.subject for case in CASES if case.kind == kind}
        assert len(subjects) >= 11, kind


def test_no_question_and_no_statement_is_used_by_two_cases() -> None:
    used: dict[str, str] = {}
    for case in CASES:
        for step in case.steps:
            texts = step.texts[::2] if isinstance(step, Say) else ()
            texts = (step.text,) if isinstance(step, Ask | Forget) else texts
            for text in texts:
                assert used.setdefault(text, case.case_id) == case.case_id, text


@every_case
def test_what_must_be_said_was_told_or_follows_from_it(case: Case) -> None:
    said = " ".join(text for say in told(case) for text in say.texts)
    for ask in case.asks:
        for group in ask.expected.must:
            phrases = [one for one in group if isinstance(one, str)]
            assert not phrases or any(says(said, one) for one in phrases), group


@every_case
def test_knowing_nothing_passes_only_where_nothing_was_told(case: Case) -> None:
    nothing = "I don't know, you have not told me."
    passes = not any(faults(ask.expected, nothing) for ask in case.asks)
    assert passes == (case.kind == "never told")


@every_case
def test_what_must_be_gone_is_in_nothing_that_stays(case: Case) -> None:
    for position, step in enumerate(case.steps):
        if not isinstance(step, Ask):
            continue
        before = case.steps[:position]
        gone = {name for one in before if isinstance(one, Forget) for name in one.of}
        stays = [
            text
            for one in before
            if isinstance(one, Say) and one.name not in gone and one.person == step.person
            for text in one.texts
        ]
        asked_for = [one.text for one in case.steps if isinstance(one, Forget)]
        for phrase in step.expected.must_not:
            assert not any(says(text, phrase) for text in [*stays, *asked_for]), phrase


@every_case
def test_what_must_be_marked_is_told_without_a_marking_word(case: Case) -> None:
    """Else a bare quotation would pass as marked."""
    for ask in case.asks:
        for phrase in ask.expected.former:
            texts = [t for say in told(case) for t in say.texts if says(t, phrase)]
            if texts:
                assert any("former" in one for one in faults(ask.expected, f"“{texts[0]}”"))


@every_case
def test_who_quotes_the_change_itself_has_marked_what_was_before(case: Case) -> None:
    for ask in case.asks:
        phrases = [one for group in ask.expected.must for one in group if isinstance(one, str)]
        for text in (text for say in told(case) for text in say.texts):
            both = [f for f in ask.expected.former if says(text, f)]
            if both and any(says(text, one) for one in phrases):
                assert not any("former" in one for one in faults(ask.expected, f"“{text}”")), text


@every_case
def test_counts_are_in_no_single_statement(case: Case) -> None:
    for ask in case.asks:
        numbers = [one for group in ask.expected.must for one in group if isinstance(one, Number)]
        for number in numbers:
            assert not any(says(t, str(number)) for say in told(case) for t in say.texts)


GOOD: dict[str, Any] = {
    "id": "x-1",
    "subject": "home",
    "steps": [
        {"at": "2024-01-01", "say": "I live in Ghent.", "name": "home"},
        {"at": "2024-01-02", "forget": "Forget where I live.", "of": ["home"]},
        {"at": "2024-01-03T10:00", "ask": "Where do I live?", "must_not": ["Ghent"]},
    ],
}


def changed(step: int, **fields: Any) -> dict[str, Any]:
    steps = [dict(one) for one in GOOD["steps"]]
    steps[step] |= fields
    return GOOD | {"steps": steps}


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (GOOD | {"colour": "red"}, "x-1: unknown field colour"),
        (GOOD | {"steps": GOOD["steps"][:2]}, "x-1: the last step must ask"),
        (changed(0, at="soon"), "x-1: 'soon' is no date"),
        (changed(0, at="2025-01-01"), "not in the order of their times"),
        (changed(1, of=["garden"]), "never said: garden"),
        (changed(1, forget="Forget Ghent."), "'Forget Ghent.' itself names 'Ghent'"),
        (changed(2, must_not=[]), "expects nothing"),
        (changed(2, ask="Do I live in Ghent?"), "itself names 'Ghent'"),
        (changed(2, admit=True, must=[["a flat"]]), "can name nothing"),
        (changed(2, must=[[{"days": "five"}]]), "days is missing or of the wrong type"),
        (changed(0, say=7), "say is missing or of the wrong type"),
        (changed(0, say=["I live in Ghent.", 7]), "expected a phrase of words, found 7"),
        (changed(0, say=[]), "nothing is said"),
        (changed(2, must_not=[7]), "expected a phrase of words, found 7"),
        (changed(2, must_not=["…"]), "expected a phrase of words, found '…'"),
        (changed(2, must=["Ghent"]), "must: expected lists of phrases, found 'Ghent'"),
        (changed(2, must=[[]]), "must: expected lists of phrases, found []"),
        (changed(2, must=[[""]]), "expected a phrase of words, found ''"),
    ],
)
def test_a_broken_case_is_refused_with_file_case_and_reason(
    case: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"kind": "forgotten", "means": "…", "cases": [case]}))
    with pytest.raises(DatasetError, match=r"mine\.json") as refused:
        load_cases(tmp_path)
    assert said in str(refused.value)


def test_a_time_with_an_offset_is_read_in_utc(tmp_path: Path) -> None:
    case = changed(0, at="2024-01-01T01:00+02:00")
    (tmp_path / "mine.json").write_text(
        json.dumps({"kind": "forgotten", "means": "…", "cases": [case]})
    )
    (found,) = load_cases(tmp_path).cases
    assert f"{found.steps[0].at:%Y-%m-%d %H:%M}" == "2023-12-31 23:00"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object"),
        ('{"kind": "dreamt", "means": "", "cases": []}', "unknown kind 'dreamt'"),
        (
            json.dumps({"kind": "told", "means": "", "cases": [GOOD, GOOD]}),
            "two cases are called x-1",
        ),
    ],
)
def test_a_broken_file_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(text)
    with pytest.raises(DatasetError, match=said):
        load_cases(tmp_path)


def test_a_folder_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no \.json file"):
        load_cases(tmp_path)
