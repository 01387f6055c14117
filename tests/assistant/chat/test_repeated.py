"""Whose words an answer repeats."""

from datetime import UTC, datetime

import pytest

from assistant.answering.reader import Trace
from assistant.chat.rounds import repeated
from memory_store import Recalled, Record, Round

MAY = datetime(2023, 5, 20, tzinfo=UTC)


def found(*texts: str) -> list[Recalled]:
    rounds = [Round("ann", "s", index, MAY, text) for index, text in enumerate(texts)]
    return [Recalled(Record(round), 1.0) for round in rounds]


@pytest.mark.parametrize(
    ("texts", "question", "answer", "which"),
    [
        (["I live in Ghent.", "I like tea."], "Where do I live?", "In Ghent.", [0]),
        (["I live in Ghent.", "I like tea."], "Where do I live?", "You live somewhere.", [0, 1]),
        (["My code is 4711-mh."], "What is my code?", "It's 4711.", [0]),
        (["I moved to Bruges."], "Where did I move?", "You are moving to BRUGES", [0]),
        # A word that many of the rounds have is nobody's, so that the nearest may be repeated; one
        # that few have is theirs.
        ([*["We talked about Ghent."] * 4, "Ghent, 12 May."], "When?", "In Ghent.", [*range(5)]),
        ([*["We talked about Ghent."] * 2, "Ghent, 12 May."], "When?", "In Ghent.", [0, 1, 2]),
        ([], "Where do I live?", "I don't know.", []),
    ],
)
def test_words_that_the_question_has_not(
    texts: list[str], question: str, answer: str, which: list[int]
) -> None:
    recalled = found(*texts)
    read = [one.record.id for one in recalled]
    expected = tuple(read[index] for index in which)
    assert repeated(question, answer, Trace(context=read), recalled) == expected


def test_an_answer_owes_its_words_to_a_few_rounds() -> None:
    recalled = found(*(f"word{n} again{n} {'' if n else 'more0'}" for n in range(12)))
    read = [one.record.id for one in recalled]
    answer = " ".join(f"word{n}" for n in range(12)) + " again0 more0 again7"
    owed = repeated("Which?", answer, Trace(context=read), recalled)
    assert owed == tuple(read[index] for index in (0, 7, 1, 2, 3, 4, 5, 6))


def test_what_was_not_read_is_not_repeated() -> None:
    recalled = found("I live in Ghent.", "Ghent is old.")
    trace = Trace(context=[recalled[1].record.id])
    assert repeated("Where?", "In Ghent.", trace, recalled) == (recalled[1].record.id,)


def test_what_was_read_and_is_not_at_hand_may_be_repeated() -> None:
    assert repeated("Where?", "In Ghent.", Trace(context=["elsewhere"]), []) == ("elsewhere",)


def test_quotes_repeat_whatever_words_they_have() -> None:
    recalled = found("I like tea.", "I like tea too.")
    ids = [one.record.id for one in recalled]
    trace = Trace(context=ids, quoted=ids[:1])
    assert repeated("Do I like tea?", "“I like tea.”", trace, recalled) == (ids[0],)
