"""Makes a LongMemEval file of drafts: evidence at its dates, filler sessions around it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from harness.datasets.files import read_records
from harness.datasets.longmemeval import Instance, date_text, iterate_instances
from harness.datasets.questions import ABSTENTION
from harness.errors import DatasetError, UsageError
from harness.lab.authoring.draft import Draft, Turns
from harness.lab.authoring.plan import (
    WHENS,
    Attribute,
    Ontology,
    PlannedQuestion,
    When,
    time_of_day,
)
from harness.lab.authoring.template_author import (
    Unsaid,
    chatting,
    listing,
    numbered,
    stated,
    telling,
    without_labels,
)
from harness.lab.compilation.compiler import writing
from harness.lab.compilation.history import compose, largest, smallest
from harness.lab.compilation.pool import PlacedSession, Pool, read_pool
from harness.lab.compilation.recipe import Recipe

# One in this many template sessions tells nothing of its user.
_SILENT = 4
_SPEAKERS = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant"}
_SOME_DAY = date_text(datetime(2025, 1, 1, tzinfo=UTC))


def template_fillers(
    ontology: Ontology, item: PlannedQuestion, count: int, chats: Sequence[Turns] = ()
) -> list[Turns]:
    """Make `count` filler sessions, no two alike. Some tell an attribute of a topic that is not the
    item's, each attribute once; others chat about a topic and tell nothing. They repeat nothing of
    the chats. Raises `UsageError` where the templates do not suffice.
    """
    random = item.draws("fillers")
    unsaid = Unsaid(ontology, random, (turn["content"] for turns in chats for turn in turns))
    taken = {attribute.topic for attribute in item.attributes}
    free = [one for one in ontology.attributes if one.topic not in taken]
    random.shuffle(free)
    found: dict[str, Turns] = {}
    for tries in range(20 * count):
        if len(found) == count:
            break
        tells = tries % _SILENT and free
        turns = _told(free.pop(), item, unsaid) if tells else chatting(unsaid)
        found.setdefault(str(turns), turns)
    if len(found) < count:
        raise UsageError(
            f"--sessions: templates make only {len(found)} fillers for one history; "
            "give a file of conversations with --pool"
        )
    return list(found.values())


def _told(attribute: Attribute, item: PlannedQuestion, unsaid: Unsaid) -> Turns:
    """A session that tells an attribute. Its events lie before the history begins, since fillers
    get their dates only later."""
    random = unsaid.random
    if attribute.kind == "advice":
        values = tuple(random.sample(attribute.values, 4))
        return without_labels(listing(unsaid, attribute, numbered(values)))
    value = random.choice(attribute.values) if attribute.values else ""
    kind = random.choice(list(WHENS))
    when = When(kind, random.choice(WHENS[kind]))
    statement = stated(attribute, value, when, _begins(item).date(), random)
    return without_labels(telling(unsaid, attribute.topic, statement))


def _evidence_name(item: PlannedQuestion) -> str:
    """The beginning of the ids of an item's evidence sessions."""
    return f"answer_{item.item_id}_"


def _begins(item: PlannedQuestion) -> datetime:
    return min(item.dates) - timedelta(days=_LEAD_DAYS)


def pool_instances(path: Path) -> Iterator[Instance]:
    """The sessions of a file as the haystacks of instances; raises `DatasetError` naming the
    record.
    """
    records = read_records(path)
    first = next(records, None)
    if first is None:
        raise DatasetError(f"{path}: holds no conversations")
    records = chain([first], records)
    if "haystack_sessions" in first:
        yield from iterate_instances(records, source=str(path))
        return
    sessions = [_session(record, f"{path}: record {n}") for n, record in enumerate(records)]
    names = [f"pool_{number}" for number in range(len(sessions))]
    held = {
        "question_id": "pool",
        "question_type": "single-session-user",
        "question": "-",
        "answer": "-",
        "question_date": _SOME_DAY,
        "haystack_session_ids": names,
        "haystack_dates": [_SOME_DAY] * len(names),
        "haystack_sessions": sessions,
        "answer_session_ids": [],
    }
    yield from iterate_instances([held], source=str(path))


def _session(record: dict[str, Any], where: str) -> Turns:
    turns = record.get("conversations") or record.get("messages")
    if turns is None and isinstance(record.get("data"), list):
        roles = ("user", "assistant")
        turns = [{"role": roles[n % 2], "content": text} for n, text in enumerate(record["data"])]
    if not isinstance(turns, list):
        raise DatasetError(f"{where}: none of conversations, messages and data is a list")
    said = [_turn(turn, where) for turn in turns]
    return [turn for turn in said if turn is not None]


def _turn(turn: Any, where: str) -> dict[str, Any] | None:
    """A turn by user or assistant; None for a system's."""
    if not isinstance(turn, dict):
        raise DatasetError(f"{where}: a turn is a {type(turn).__name__}, expected an object")
    role = turn.get("from", turn.get("role"))
    text = turn.get("value", turn.get("content"))
    if not isinstance(text, str):
        raise DatasetError(f"{where}: a turn holds no text")
    if role == "system":
        return None
    if not isinstance(role, str) or role not in _SPEAKERS:
        raise DatasetError(f"{where}: unknown speaker {role!r}")
    return {"role": _SPEAKERS[role], "content": text}


# Template fillers begin this many days before the evidence.
_LEAD_DAYS = 30
_MINUTES_A_DAY = 24 * 60


def write_questions(
    path: Path,
    drafts: Sequence[Draft],
    ontology: Ontology,
    sessions: int,
    seed: int,
    pool_file: Path | None,
) -> None:
    """Write a history of `sessions` sessions for every draft.

    Raises `UsageError` for fewer sessions than the evidence has, `DatasetError` for a pool that
    has too few.
    """
    recipe = Recipe(sessions=sessions, seed=seed, lead_days=_LEAD_DAYS)
    pooled = read_pool(pool_instances(pool_file)) if pool_file else None
    with writing(path) as writer:
        for draft in drafts:
            room = 0 if pooled else max(0, sessions - len(draft.chats))
            record = instance(draft, ontology, room)
            own = read_pool(iterate_instances([record], source="author"))
            (outline,) = own.outlines
            pool = _sharing(own, pooled, draft.statements) if pooled else own
            if smallest(outline, recipe) > sessions:
                raise UsageError(f"--sessions {sessions}: a question has more evidence than that")
            if (most := largest(outline, pool, recipe)) < sessions:
                where = pool_file or "templates"
                raise DatasetError(f"{where}: enough for histories of {most} sessions at most")
            sessions_placed = _awake(compose(outline, pool, recipe).sessions, draft.item)
            writer.write(outline.record, sessions_placed)


def _awake(placed: Sequence[PlacedSession], item: PlannedQuestion) -> tuple[PlacedSession, ...]:
    """Move the fillers to times of day at which people chat, on the same days."""
    random = item.draws("times")
    awake = []
    for session in placed:
        if not session.session_id.startswith(_evidence_name(item)):
            moment = session.date.replace(hour=0, minute=0) + time_of_day(random)
            moment -= timedelta(days=moment >= item.asked)
            session = PlacedSession(session.session_id, moment, date_text(moment), session.content)
        awake.append(session)
    return tuple(sorted(awake, key=lambda session: session.date))


def instance(draft: Draft, ontology: Ontology, fillers: int) -> dict[str, Any]:
    """A draft as a record of the format, with this many template fillers."""
    item = draft.item
    evidence = [
        (f"{_evidence_name(item)}{number}", moment, _labelled(item, turns))
        for number, (moment, turns) in enumerate(zip(item.dates, draft.chats, strict=True), 1)
    ]
    random = item.draws("dates")
    began = _begins(item)
    minutes = (item.asked - began).days * _MINUTES_A_DAY
    placed = [
        (f"{item.item_id}_{number}", began + timedelta(minutes=random.randrange(minutes)), turns)
        for number, turns in enumerate(template_fillers(ontology, item, fillers, draft.chats), 1)
    ]
    held = sorted([*evidence, *placed], key=lambda session: session[1])
    return {
        "question_id": item.question_id,
        "question_type": item.question_type,
        "question": draft.asked.question,
        "answer": draft.asked.answer,
        "question_date": date_text(item.asked),
        "haystack_session_ids": [name for name, _, _ in held],
        "haystack_dates": [date_text(moment) for _, moment, _ in held],
        "haystack_sessions": [turns for _, _, turns in held],
        "answer_session_ids": [name for name, _, _ in evidence],
    }


def _labelled(item: PlannedQuestion, turns: Turns) -> Turns:
    """The turns with labels as in the benchmark: questions without an answer name their sessions,
    but label no turn."""
    return without_labels(turns) if item.type == ABSTENTION else turns


def _sharing(own: Pool, pooled: Pool, statements: Sequence[str]) -> Pool:
    """A pool of one question with the fillers of a file, without fillers near to its statements.
    `compose` only leaves out fillers near to the question, which is in other words.
    """
    near = frozenset[bytes]().union(*map(pooled.statements.nearest, statements))
    fillers = tuple(filler for filler in pooled.fillers if filler.content.key not in near)
    sessions = own.sessions + pooled.sessions
    return Pool(own.outlines, fillers, sessions, pooled.withheld, pooled.statements)
