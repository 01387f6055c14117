"""The last word: a sheet on the terminal to accept, edit or reject each question."""

from collections.abc import Callable, Mapping
from typing import Any

from harness.authoring.stage import CHATS, CHECKS, EVIDENCE, PERSONAS, QUESTIONS, REVIEWS
from harness.errors import UsageError
from harness.records.run_dir import RunDir

MENU = "accept (a), edit (e), reject (r), later (l), quit (q)"


def review(
    folder: RunDir, ask: Callable[[str], str], show: Callable[[str], None]
) -> tuple[int, int]:
    """Show every question that nobody has decided on, and keep what is decided; returns how many
    were decided now, and how many are left. `ask` puts a prompt and gives the line that is typed.
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
    """What to keep; nothing for later, None to quit."""
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
