"""What the sources of an assistant's answers say and do not say, from `retrieval.jsonl`. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from harness.metrics.effort import percentile

Line = Mapping[str, Any]
# `empty`: a list without sources. `unplaced`: none of them fits the history.
STATES = ("placed", "empty", "unplaced", "unreadable", "not returned")


def tells_rounds(line: Line) -> bool:
    """Whether a line ranks rounds, not only sessions."""
    return "sources" not in line or bool(line["sources"]["tells_rounds"])


def tells_context(line: Line) -> bool:
    """Whether a line says how long each ranked text is."""
    return "sources" not in line or bool(line["sources"]["tells_context"])


def sources_table(lines: Iterable[Line]) -> dict[str, Any] | None:
    """Answers by the state of their sources, sources by what placed them; None where nobody looked
    for sources.
    """
    accounts = [line["sources"] for line in lines if "sources" in line]
    if not accounts:
        return None
    states = Counter(account["state"] for account in accounts)
    by: Counter[str] = Counter()
    for account in accounts:
        by.update(account["by"])
    lengths = [a["returned"] for a in accounts if a["state"] in ("placed", "empty", "unplaced")]
    problems = [account["problem"] for account in accounts if account["problem"]]
    return {
        "answers": {"n": len(accounts), **{state: states[state] for state in STATES}},
        "returned": sum(lengths),
        "placed_by": dict(by),
        "unplaced": sum(account["unplaced"] for account in accounts),
        "rounds_unknown": sum(a["state"] == "placed" and not a["tells_rounds"] for a in accounts),
        "a_question": {"p50": percentile(lengths, 0.5), "max": max(lengths, default=None)},
        "problem": Counter(problems).most_common(1)[0][0] if problems else None,
    }
