"""LoCoMo-Plus: something is said in passing, and much later a message comes that it bears on.

The layout is that of xjtuleeyf/Locomo-Plus. The cue is told as a session of its own inside one of
LoCoMo's conversations, by its two speakers; or, where there are no conversations, as a short
history by itself, in which A is the user and B the assistant. The trigger is no question with an
answer: it is sent as a message, and the reply is judged by whether it keeps to the cue.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from harness.datasets.benchmark import Benchmark, Given, KnownFile, RubricRules
from harness.datasets.dataset import ContentHash, Dataset, held, size_of
from harness.datasets.files import read_records, require_text, sha256_of
from harness.datasets.locomo import LocomoConversation, parse_conversation
from harness.datasets.questions import LOCOMO_PLUS_RELATIONS, HaystackSession, Question, Turn
from harness.errors import DatasetError

CUE = "cue"
_PLUS = (
    "https://raw.githubusercontent.com/xjtuleeyf/Locomo-Plus/"
    "143cdeb649231612abc3304793bb36a122f94229/data/locomo_plus.json"
)
_LINE = re.compile(r"^\s*([AB]):\s*")
_GAP = re.compile(r"(?:\b(half)\s+)?\b(\d+|[a-z]+)(?:\s+of)?\s+(day|week|month|year)s?\b")
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
# Vague words, and the counts that they are taken for.
_VAGUE = {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 5}
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
# The trigger comes a week after the last session, as in the benchmark's script; without
# conversations it comes on a fixed day.
_AFTERWARDS = timedelta(days=7)
_ALONE = datetime(2024, 6, 3, 12, tzinfo=UTC)


def parse_plus(
    records: Iterable[Mapping[str, Any]],
    conversations: Sequence[LocomoConversation],
    *,
    source: str,
) -> Iterator[Question]:
    """Yield a question for each record, in file order; conversations are used in turn, repeatedly.

    Raises `DatasetError` naming record and field.
    """
    for number, record in enumerate(records):
        around = conversations[number % len(conversations)] if conversations else None
        yield _question(record, number, around, f"{source}: record {number}")


def days_of_gap(text: str) -> int | None:
    """The days in a text like `about six weeks later`: 7 to a week, 30 to a month, 365 to a year; a
    couple are two, a few three and several five. None where the text names no time.
    """
    for half, count, unit in _GAP.findall(text.lower()):
        number = int(count) if count.isdigit() else _VAGUE.get(count)
        if number is None and count in _NUMBERS:
            number = _NUMBERS.index(count)
        if number is not None:
            return number * _DAYS[unit] // (2 if half else 1)
    return None


def _question(
    record: Mapping[str, Any], number: int, around: LocomoConversation | None, where: str
) -> Question:
    relation = record.get("relation_type")
    if relation not in LOCOMO_PLUS_RELATIONS:
        known = ", ".join(LOCOMO_PLUS_RELATIONS)
        raise DatasetError(f"{where}: relation_type: expected {known}, found {relation!r}")
    gap = days_of_gap(_text(record, "time_gap", where))
    if gap is None:
        found = record.get("time_gap")
        raise DatasetError(f"{where}: time_gap: expected one like two weeks later, found {found!r}")
    said = _dialogue(_text(record, "cue_dialogue", where), f"{where}: cue_dialogue")
    asked = "\n".join(text for _, text in _dialogue(_text(record, "trigger_query", where), where))
    others = around.sessions if around else ()
    date = others[-1].session_date + _AFTERWARDS if others else _ALONE
    names = _names(around, where)
    turns = tuple(_turns(said, names))
    cue = HaystackSession(len(others), CUE, date - timedelta(days=gap), turns)
    return Question(
        question_id=f"plus-{number:04d}",
        question_type=str(relation),
        question=f"{names['A']}: {asked}" if names else asked,
        answer="\n".join(f"{names.get(who, who)}: {text}" for who, text in said),
        answer_is_number=False,
        question_date=date,
        sessions=(*others, cue),
        evidence_session_ids=(CUE,),
        evidence_ids=tuple(turn.turn_id for turn in turns if turn.has_answer and turn.turn_id),
    )


def _names(around: LocomoConversation | None, where: str) -> dict[str, str]:
    if around is None:
        return {}
    if len(around.speakers) != 2:
        raise DatasetError(f"{where}: conversation {around.sample_id} does not name two speakers")
    return dict(zip("AB", around.speakers, strict=True))


def _turns(said: Iterable[tuple[str, str]], names: Mapping[str, str]) -> Iterator[Turn]:
    """The turns of a cue: what A says is the evidence; B only answers."""
    for number, (who, text) in enumerate(said, start=1):
        yield Turn(
            "user" if names or who == "A" else "assistant",
            text,
            has_answer=who == "A",
            name=names.get(who),
            turn_id=f"{CUE}:{number}",
        )


def _dialogue(text: str, where: str) -> list[tuple[str, str]]:
    """Speaker and words of every line; a line without a speaker goes on with the one before. Some
    records write the end of a line as backslash and n.
    """
    said: list[tuple[str, str]] = []
    for line in text.replace("\\n", "\n").splitlines():
        if match := _LINE.match(line):
            said.append((match[1], line[match.end() :].strip()))
        elif said and line.strip():
            who, before = said.pop()
            said.append((who, f"{before}\n{line.strip()}"))
    if not said or said[0][0] != "A":
        raise DatasetError(f"{where}: expected lines that begin with A: or B:, found {text!r:.60}")
    return said


def _text(record: Mapping[str, Any], field: str, where: str) -> str:
    return require_text(record.get(field), f"{where}: {field}")


def open_plus(given: Given) -> Dataset:
    file, conversations = given.path, given.conversations
    told = [
        parse_conversation(sample, f"conversation-{number}", f"{conversations}: sample {number}")
        for number, sample in enumerate(read_records(conversations) if conversations else ())
    ]
    questions = list(parse_plus(read_records(file), told, source=str(file)))
    if not questions:
        raise DatasetError(f"{file}: holds no questions")
    if conversations is None:
        fingerprint = ContentHash.of_file(file)
        return held("locomo-plus", file, size_of(file), fingerprint, questions)
    both = f"{sha256_of(file)} {sha256_of(conversations)}"
    size = size_of(file) + size_of(conversations)
    dataset = held("locomo-plus", file, size, ContentHash.of_text(both), questions)
    return replace(dataset, file=f"{file.name} in {conversations.name}")


LOCOMO_PLUS = Benchmark(
    "locomo-plus",
    open_plus,
    takes_conversations=True,
    rubrics=(
        RubricRules(
            "locomo-plus", 1, ("constraint",), lambda _: "constraint", ours=("constraint",)
        ),
    ),
    files=(
        KnownFile(
            key="locomo-plus",
            dataset="locomo-plus",
            edition="401 items",
            file="locomo_plus.json",
            url=_PLUS,
            licence="not stated",
        ),
    ),
)
