"""Notes and answer told apart, wherever the reply happens to be split."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.answering.notes import NotesFilter

NOTES = "NOTES:\n- 2023-05-20: the secret note\n"

# reply → answer
SPLIT = {
    NOTES + "\nANSWER: In Ghent.": "In Ghent.",
    NOTES + "ANSWER:\nIn Ghent.": "In Ghent.",
    NOTES + "**ANSWER:** In Ghent.": "In Ghent.",
    NOTES + "**Answer**: In Ghent.": "In Ghent.",
    NOTES + "### Answer:\n\nIn Ghent.": "In Ghent.",
    NOTES + "> ANSWER: In Ghent.": "In Ghent.",
    NOTES + "  answer :In Ghent.": "In Ghent.",
    NOTES + "ANSWER:\n**Ghent**, I think.": "**Ghent**, I think.",
    NOTES + "ANSWER: One.\n\nANSWER: Two.": "One.\n\nANSWER: Two.",
    NOTES + "ANSWER: The answer: it is Ghent.\n": "The answer: it is Ghent.\n",
    "ANSWER: In Ghent.": "In Ghent.",
    "\nANSWER: In Ghent.": "In Ghent.",
    "NOTES: the secret note ANSWER: In Ghent.": "In Ghent.",
    "**NOTES:** the secret note **ANSWER:** In Ghent.": "In Ghent.",
    "In Ghent.": "In Ghent.",
    "  In Ghent.\n": "In Ghent.",
    "One paragraph.\n\nAnother one.": "One paragraph.\n\nAnother one.",
    NOTES + "\nIn Ghent.": "In Ghent.",
    NOTES: "",
    NOTES + "ANSWER:": "",
    NOTES + "**ANSWER:**\n\n  ": "",
    "": "",
}


def filtered(pieces: list[str], *, cut: bool = False) -> tuple[str, str]:
    notes = NotesFilter()
    answer = "".join([notes.feed(piece) for piece in pieces])
    return answer + notes.finish(cut=cut), notes.notes


def taken(pieces: list[str]) -> str:
    """The notes that could be taken on the way."""
    notes, given = NotesFilter(), ""
    for piece in pieces:
        notes.feed(piece)
        given += notes.take()
    return given.strip()


@pytest.mark.parametrize(("reply", "answer"), SPLIT.items())
def test_only_the_answer_passes(reply: str, answer: str) -> None:
    assert filtered([reply])[0] == answer


@pytest.mark.parametrize(("reply", "answer"), SPLIT.items())
def test_every_split_gives_the_same_answer(reply: str, answer: str) -> None:
    assert filtered(list(reply))[0] == answer
    for position in range(len(reply) + 1):
        assert filtered([reply[:position], reply[position:]])[0] == answer


@pytest.mark.parametrize("reply", [reply for reply in SPLIT if "secret" in reply])
def test_notes_never_pass_and_are_kept(reply: str) -> None:
    for position in range(len(reply) + 1):
        answer, notes = filtered([reply[:position], reply[position:]])
        assert "secret" not in answer
        if "ANSWER" in reply:
            assert "the secret note" in notes


@pytest.mark.parametrize(
    "reply", [r for r in SPLIT if r.startswith(NOTES) and "nswer" in r.lower()]
)
def test_every_split_gives_the_same_notes_before_the_answer(reply: str) -> None:
    for position in range(len(reply) + 1):
        assert taken([reply[:position], reply[position:]]) == "- 2023-05-20: the secret note"
    assert taken(list(reply)) == "- 2023-05-20: the secret note"


@pytest.mark.parametrize(
    ("pieces", "given"),
    [
        (["NOTES: Ann", " ran.", "\n- ", "Bob"], ["Ann", " ran.", "\n- ", "Bob"]),
        # What may turn out to be the marker is held back, until it is another word.
        (["NOTES: x\n", "An", "n ran"], ["x\n", "", "Ann ran"]),
        (["NOTES: x\n**Ans", "gar ran"], ["x", "\n**Ansgar ran"]),
        (["NOTES: x\nANSWER", ":", "\n", "Yes"], ["x", "", "", ""]),
        # What does not begin as notes may be all answer.
        (["She ran.", "\nTwice."], ["", ""]),
        (["- ran\n", "ANSWER: ", "Yes"], ["", "", "- ran"]),
        # The marker is only trusted within a line once the reply is there.
        (["NOTES: x ", "ANSWER: Yes"], ["x ", "ANSWER: Yes"]),
    ],
)
def test_notes_can_be_taken_while_they_are_written(pieces: list[str], given: list[str]) -> None:
    notes, found = NotesFilter(), []
    for piece in pieces:
        notes.feed(piece)
        found.append(notes.take())
    assert found == given


_PARTS = st.lists(
    st.sampled_from(["NOTES:", "ANSWER:", "answer", ":", "**", "\n", "\n\n", " ", "# ", "x", "y."]),
    max_size=12,
)


@given(parts=_PARTS, cuts=st.lists(st.integers(min_value=0, max_value=60), max_size=5))
def test_any_reply_cut_anywhere_is_read_alike(parts: list[str], cuts: list[int]) -> None:
    reply = "".join(parts)
    edges = [0, *sorted(min(cut, len(reply)) for cut in cuts), len(reply)]
    pieces = [reply[a:b] for a, b in itertools.pairwise(edges)]
    assert filtered(pieces) == filtered([reply])
    # All that is taken is in the reply, in its order; with a marker it is nothing but notes.
    assert taken(pieces) in reply
    notes = NotesFilter()
    if "".join(map(notes.feed, pieces)):
        assert taken(pieces) in notes.notes


def test_an_answer_begins_to_flow_before_the_reply_ends() -> None:
    notes = NotesFilter()
    assert notes.feed(NOTES) == ""
    assert notes.feed("ANSWER: In") == "In"
    assert notes.feed(" Ghent.") == " Ghent."
    assert notes.finish() == ""


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (NOTES + "\n- 2023-05-21: the secret no", ""),
        ("NOTES: the secret no", ""),
        ("A long answer without any no", "A long answer without any no"),
        (NOTES + "ANSWER: In Gh", "In Gh"),
    ],
)
def test_a_reply_cut_short_shows_no_notes(reply: str, answer: str) -> None:
    assert filtered([reply], cut=True)[0] == answer
