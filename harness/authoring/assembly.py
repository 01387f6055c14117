"""From drafts to a LongMemEval file: evidence at its dates, fillers around it."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from harness.authoring.draft import Draft, Turns
from harness.authoring.fillers import pool_instances, template_fillers
from harness.authoring.ontology import Ontology
from harness.authoring.plan import Item
from harness.authoring.template_sessions import without_labels
from harness.compilation.history import compose, largest, smallest
from harness.compilation.output import writing
from harness.compilation.pool import Pool, read_pool
from harness.compilation.recipe import Recipe
from harness.datasets.longmemeval import date_text, iterate_instances
from harness.datasets.questions import ABSTENTION
from harness.errors import DatasetError, UsageError

# Template fillers begin so many days before the evidence.
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
    """Write a history of so many sessions for every draft.

    Raises `UsageError` for fewer sessions than the evidence has, `DatasetError` for a pool that
    does not suffice.
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
            writer.write(outline.record, compose(outline, pool, recipe).sessions)


def instance(draft: Draft, ontology: Ontology, fillers: int) -> dict[str, Any]:
    """A draft as a record of the format, with so many template fillers."""
    item = draft.item
    evidence = [
        (f"answer_{item.item_id}_{number}", moment, _labelled(item, turns))
        for number, (moment, turns) in enumerate(zip(item.dates, draft.chats, strict=True), 1)
    ]
    random = item.draws("dates")
    began = min(item.dates) - timedelta(days=_LEAD_DAYS)
    minutes = (item.asked - began).days * _MINUTES_A_DAY
    placed = [
        (f"{item.item_id}_{number}", began + timedelta(minutes=random.randrange(minutes)), turns)
        for number, turns in enumerate(template_fillers(ontology, item, fillers), 1)
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


def _labelled(item: Item, turns: Turns) -> Turns:
    """As the benchmark does it: where there is no answer, sessions are named and no turn is."""
    return without_labels(turns) if item.type == ABSTENTION else turns


def _sharing(own: Pool, pooled: Pool, statements: Sequence[str]) -> Pool:
    """One question with the fillers of a file, but for those that come near to what is told:
    `compose` leaves out only those near to the question, which has other words.
    """
    near = frozenset[bytes]().union(*map(pooled.statements.nearest, statements))
    fillers = tuple(filler for filler in pooled.fillers if filler.content.key not in near)
    sessions = own.sessions + pooled.sessions
    return Pool(own.outlines, fillers, sessions, pooled.withheld, pooled.statements)
