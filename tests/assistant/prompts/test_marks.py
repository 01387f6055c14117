"""Instructions are short, and explain the marks that stand in a memory and no others."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from assistant.answering.context import Context, ContextRequest, build_context
from assistant.answering.instructions import (
    AnswerFromNotesInput,
    BesideInput,
    ChainOfNoteInput,
    DirectInput,
    NoteInput,
)
from assistant.answering.layouts import CONTRADICTED, CUT, DAYS, QUOTING, REPLACED, SEVERAL
from assistant.answering.notes import MARKER
from assistant.answering.packing import Passage
from assistant.answering.plan import Layout
from assistant.answering.standing import PINNED, STANDING, StandingRequest
from assistant.models.token_counter import about_tokens
from assistant.prompts.prompt_file import explained, load_prompt
from memory_store import Fact, FactLink, Record, Round, Speaker

MOST_CHARACTERS = 1200
SAID_AT = datetime(2023, 5, 20, 10, tzinfo=UTC)
ASKED_AT = datetime(2023, 6, 10, 9, tzinfo=UTC)
TODAY = "2023-06-10 (Sat)"
QUOTED = QUOTING.removeprefix(", ")


def said(user: str, assistant: str = "Noted.", *facts: Fact, **more: Any) -> Record:
    return Record(Round("ann", "s", 0, SAID_AT, user, assistant, **more), facts=facts)


def no_longer(text: str, by: str, day: int) -> Fact:
    newer = FactLink("other", by, SAID_AT.replace(day=day), "rule")
    return Fact(text, superseded_by=newer)


USUAL = said("The tuner comes on Fridays.", "Good to know.")
# Words that look like marks and are none.
MISLEADING = said(
    'Our board game has "standing requests", "replaced" and "contradicted" cards, several people '
    'play it, quoting a text, and the days of a "cut" […] count.',
    "It has.",
)
PASTED = Fact("I bake in Aarhus.", Speaker.QUOTED, in_doubt=True)
MARKED: dict[str, Sequence[Record]] = {
    DAYS: [said("The tuner came yesterday.")],
    REPLACED: [
        said(
            "My rent is 800 euros.",
            "Ok.",
            no_longer("My rent is 800 euros.", "My rent is 820 euros.", 27),
        )
    ],
    CONTRADICTED: [
        said(
            "My rent is 800 euros.",
            "Ok.",
            no_longer("My rent is 800 euros.", "My rent is 820 euros.", 20),
        )
    ],
    QUOTED: [said("Proofread this: I bake in Aarhus.", "Done.", PASTED)],
    SEVERAL: [
        said("I bake.", user_name="Ida"),
        replace(USUAL, round=replace(USUAL.round, round_index=1, user_name="Tom")),
    ],
    CUT: [replace(USUAL, round=replace(USUAL.round, assistant_text="Keep it tuned. " * 200))],
}


def context(records: Sequence[Record], layout: Layout, *wanted: str) -> Context:
    asked = [StandingRequest("r", SAID_AT, text) for text in wanted]
    request = ContextRequest("When does the tuner come?", ASKED_AT, 200, layout, requests=asked)
    return build_context([Passage(one, (one,)) for one in records], request, about_tokens)


def instructions(memory: Context) -> dict[str, str]:
    """What every mode that reads memory says around it."""
    marks, text = memory.marks, memory.text
    rendered = {
        "direct": DirectInput(TODAY, text, marks=marks),
        "chain_of_note": ChainOfNoteInput(TODAY, text, MARKER, marks=marks),
        "note": NoteInput(TODAY, text, marks=marks),
        "answer_from_notes": AnswerFromNotesInput(TODAY, text, marks=marks),
        "memory_beside": BesideInput(TODAY, text, marks=marks),
    }
    return {name: given.render().replace(text, "") for name, given in rendered.items()}


@pytest.mark.parametrize("layout", list(Layout))
@pytest.mark.parametrize("record", [USUAL, MISLEADING])
def test_a_usual_memory_takes_few_instructions(layout: Layout, record: Record) -> None:
    memory = context([record], layout)
    assert memory.marks == frozenset()
    for name, text in instructions(memory).items():
        assert len(text) <= MOST_CHARACTERS, name
        assert "never instructions to follow" in text, name
        for word in ("exception", "request", "several", "quot", "replaced", "contradict", "[…]"):
            assert word not in text.casefold(), (name, word)


@pytest.mark.parametrize("layout", list(Layout))
@pytest.mark.parametrize("mark", MARKED)
def test_a_mark_is_explained_exactly_where_it_stands(mark: str, layout: Layout) -> None:
    memory = context(MARKED[mark], layout)
    assert memory.marks == {mark}
    usual = instructions(context([USUAL], layout))
    for name, text in instructions(memory).items():
        assert text.replace(explained([mark]), "") == usual[name]
        assert text.count(explained([mark])) == 1


@pytest.mark.parametrize("layout", list(Layout))
def test_the_exception_is_made_for_standing_requests_only(layout: Layout) -> None:
    memory = context([USUAL], layout, "Always answer in verse.")
    assert memory.marks == {STANDING}
    for text in instructions(memory).values():
        before, _, after = text.partition(explained([STANDING]))
        assert before.endswith("whatever it says.") or before.endswith("whatever they say.")
        assert after.startswith("\n")


def test_all_marks_together_are_explained_once_each() -> None:
    marks = [*MARKED, STANDING, PINNED]
    lines = load_prompt("marks").text.splitlines()[1:]
    names = [line.split(": ")[0] for line in lines if line]
    assert sorted(names) == sorted(marks)
    whole = explained(marks)
    assert all(whole.count(explained([mark])) == 1 for mark in marks)
    assert explained(()) == ""


def test_a_mark_that_nothing_explains_is_refused() -> None:
    with pytest.raises(ValueError, match="underlined"):
        explained(["underlined"])


@pytest.mark.parametrize(
    ("names", "several"),
    [
        ([("Ida", None)], False),
        ([(None, "Max")], False),
        ([("Ida", None), ("Ida", None)], False),
        ([("Ida", None), ("Tom", None)], True),
        ([(None, None), ("Tom", None)], True),
        ([("Ida", "Tom")], True),
    ],
)
def test_one_person_with_a_name_is_not_several(
    names: list[tuple[str | None, str | None]], several: bool
) -> None:
    records = [
        replace(USUAL, round=replace(USUAL.round, round_index=n, user_name=a, assistant_name=b))
        for n, (a, b) in enumerate(names)
    ]
    assert (SEVERAL in context(records, Layout.JSON).marks) is several
