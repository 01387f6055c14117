"""The stage `author`: every item is taken through every step, kept in a folder, reviewed on a
terminal, and written to a file.

A model's replies cost money and are kept as soon as they arrive (`KeptReplies`). All other files
are made from them anew, so that a command that was killed is simply run again.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness.datasets.longmemeval import date_text
from harness.errors import RunInterrupted, RunMismatch, UsageError
from harness.lab.authoring.assembly import write_questions
from harness.lab.authoring.draft import (
    Author,
    Check,
    Draft,
    DraftQuestion,
    Refused,
    problems_of,
    write_draft,
)
from harness.lab.authoring.plan import Ontology, PlannedQuestion
from harness.pipeline.judging import in_order
from harness.records.run_dir import LineFile, RunDir

SETTINGS = "settings.json"
PERSONAS = LineFile[dict[str, Any]]("personas.jsonl")
QUESTIONS = LineFile[dict[str, Any]]("questions.jsonl")
EVIDENCE = LineFile[dict[str, Any]]("evidence.jsonl")
CHATS = LineFile[dict[str, Any]]("chats.jsonl")
CHECKS = LineFile[dict[str, Any]]("checks.jsonl")
REVIEWS = LineFile[dict[str, Any]]("reviews.jsonl")
FINISHED = "questions.json"
# Decisions that a line of the reviews may have.
DECISIONS = ("accept", "edit", "reject")


@dataclass(frozen=True, slots=True)
class WrittenItem:
    """One item after all steps; `draft` is None for a refused item."""

    item: PlannedQuestion
    draft: Draft | None
    check: Check


@dataclass(frozen=True, slots=True)
class HistoryPlan:
    """How histories are filled: the number of sessions, and the file of fillers (None: templates).
    `only_accepted` leaves out items that no person accepted.
    """

    sessions: int
    pool: Path | None = None
    only_accepted: bool = False


def open_folder(folder: RunDir, settings: Mapping[str, Any]) -> None:
    """Make the folder; raises `RunMismatch` if it already holds other questions."""
    folder.create()
    known = folder.read_json(SETTINGS)
    if known is None:
        folder.replace(SETTINGS, json.dumps(settings, ensure_ascii=False, indent=2) + "\n")
    elif known != settings:
        changed = sorted(name for name in settings if known.get(name) != settings[name])
        raise RunMismatch(
            f"--out {folder.path} holds other questions ({', '.join(changed)} differ): "
            "repeat that command to continue it, or choose another folder"
        )


def write_items(
    author: Author, items: Sequence[PlannedQuestion], concurrency: int
) -> list[WrittenItem]:
    """Take every item through every step, `concurrency` at a time; results are in plan order."""
    try:
        return asyncio.run(_write_items(author, items, concurrency))
    except KeyboardInterrupt:
        raise RunInterrupted("interrupted: run the same command again to continue") from None


async def _write_items(
    author: Author, items: Sequence[PlannedQuestion], concurrency: int
) -> list[WrittenItem]:
    written = in_order(items, partial(_written, author), concurrency)
    try:
        return [one async for _, one in written]
    finally:
        await written.aclose()
        await author.close()


async def _written(author: Author, item: PlannedQuestion) -> WrittenItem:
    """Write and check one item. A model is only asked for doubts if the rules find no problem."""
    try:
        draft = await write_draft(author, item)
        if problems := problems_of(draft):
            return WrittenItem(item, draft, Check("failed", problems))
        doubt = await author.doubt(draft)
    except Refused as refusal:
        return WrittenItem(item, None, Check("refused", (str(refusal),)))
    return WrittenItem(item, draft, Check("doubtful" if doubt else "passed", (), doubt))


def keep_steps(folder: RunDir, written: Sequence[WrittenItem]) -> None:
    """Write each step's file, a line an item, in the order of the plan."""
    drafts = [one.draft for one in written if one.draft is not None]
    steps: dict[LineFile[dict[str, Any]], Callable[[Draft], dict[str, Any]]] = {
        PERSONAS: lambda draft: {"persona": draft.persona},
        QUESTIONS: _question,
        EVIDENCE: _evidence,
        CHATS: lambda draft: {"chats": list(draft.chats)},
    }
    for name, step in steps.items():
        folder.replace_lines(name, [{"item": one.item.item_id, **step(one)} for one in drafts])
    checks = [{"item": one.item.item_id, **asdict(one.check)} for one in written]
    folder.replace_lines(CHECKS, checks)


def finish(
    folder: RunDir,
    written: Sequence[WrittenItem],
    ontology: Ontology,
    history: HistoryPlan,
    seed: int,
) -> list[Draft]:
    """Write the file of the drafts that passed or that a person accepted; returns these drafts."""
    reviews = _reviews(folder)
    chosen = [
        draft
        for one in written
        if (draft := _chosen(one, reviews.get(one.item.item_id), history.only_accepted))
    ]
    if not chosen:
        raise UsageError(f"{folder.path}: no question passed its checks or was accepted")
    path = folder.path / FINISHED
    write_questions(path, chosen, ontology, history.sessions, seed, history.pool)
    return chosen


def _reviews(folder: RunDir) -> dict[str, dict[str, Any]]:
    """People's decisions by item; raises `UsageError` for a line without a valid decision."""
    reviews = {line["item"]: line for line in folder.records(REVIEWS, "item")}
    for item, line in reviews.items():
        texts = (line.get("question"), line.get("answer"))
        if line.get("decision") not in DECISIONS or not all(isinstance(t, str) for t in texts):
            raise UsageError(
                f"{folder.path / REVIEWS}: item {item}: expected decision "
                f"({', '.join(DECISIONS)}), question and answer"
            )
    return reviews


def _chosen(
    one: WrittenItem, review: Mapping[str, Any] | None, only_accepted: bool
) -> Draft | None:
    """The draft with a person's edits; None if it is not to be written."""
    draft = one.draft
    if draft is None:
        return None
    if review is None:
        return draft if one.check.status == "passed" and not only_accepted else None
    if review["decision"] == "reject":
        return None
    asked = DraftQuestion(review["question"], review["answer"])
    return Draft(draft.item, draft.persona, asked, draft.statements, draft.chats)


def _question(draft: Draft) -> dict[str, Any]:
    item = draft.item
    return {
        "type": item.type,
        "attributes": [attribute.name for attribute in item.attributes],
        "question": draft.asked.question,
        "answer": draft.asked.answer,
        "date": date_text(item.asked),
    }


def _evidence(draft: Draft) -> dict[str, Any]:
    moments = zip(draft.statements, draft.item.dates, strict=False)
    speaker = draft.item.speaker
    told = [
        {"statement": text, "date": date_text(moment), "speaker": speaker}
        for text, moment in moments
    ]
    return {"evidence": told}


MENU = "accept (a), edit (e), reject (r), later (l), quit (q)"


def review(
    folder: RunDir, ask: Callable[[str], str], show: Callable[[str], None]
) -> tuple[int, int]:
    """Show every undecided question and keep the decisions. Returns how many questions were decided
    now, and how many are left. `ask` shows a prompt and returns the typed line.
    """
    steps = {
        name: _by_item(folder, name) for name in (PERSONAS, QUESTIONS, EVIDENCE, CHATS, CHECKS)
    }
    if not steps[QUESTIONS]:
        raise UsageError(f"{folder.path}: holds no questions; make them with harness author")
    open_items = [key for key in steps[QUESTIONS] if key not in _by_item(folder, REVIEWS)]
    decided = 0
    for number, key in enumerate(open_items, start=1):
        question = steps[QUESTIONS][key]
        show(f"\n{number} of {len(open_items)}: {question['type']}, asked {question['date']}")
        show(_sheet({name: found[key] for name, found in steps.items()}))
        decision = _decision(question, ask, show)
        if decision is None:
            break
        if decision:
            folder.append(REVIEWS, {"item": key, **decision})
            decided += 1
    return decided, len(open_items) - decided


def _decision(
    question: Mapping[str, Any], ask: Callable[[str], str], show: Callable[[str], None]
) -> dict[str, Any] | None:
    kept = {"question": question["question"], "answer": question["answer"]}
    while True:
        match ask(f"{MENU}: ").strip().lower():
            case "a" | "accept":
                return {"decision": "accept", **kept}
            case "r" | "reject":
                return {"decision": "reject", **kept}
            case "e" | "edit":
                changed = {name: ask(f"{name} (empty: as it is): ").strip() for name in kept}
                return {"decision": "edit", **{n: changed[n] or kept[n] for n in kept}}
            case "l" | "later":
                return {}
            case "q" | "quit":
                return None
            case other:
                show(f"{other!r} is none of these")


def _sheet(steps: Mapping[str, Mapping[str, Any]]) -> str:
    question, check = steps[QUESTIONS], steps[CHECKS]
    lines = [
        f"persona:  {steps[PERSONAS]['persona']}",
        f"question: {question['question']}",
        f"answer:   {question['answer']}",
    ]
    for told, turns in zip(steps[EVIDENCE]["evidence"], steps[CHATS]["chats"], strict=False):
        lines.append(f"evidence: {told['date']}, the {told['speaker']}: {told['statement']}")
        lines += [f"          in: {t['content']}" for t in turns if t.get("has_answer")]
    found = [*check["problems"], *filter(None, [check["doubt"]])]
    return "\n".join([*lines, f"checks:   {check['status']}", *(f"          {p}" for p in found)])


def _by_item(folder: RunDir, name: Any) -> dict[str, dict[str, Any]]:
    return {line["item"]: line for line in folder.records(name, "item")}
