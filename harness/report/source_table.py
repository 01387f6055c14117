"""How the sources of an assistant's answers were read, as rows of text. Pure."""

from collections.abc import Mapping
from typing import Any

from harness.report.table import Table, number

_STATES = {
    "placed": "with sources of the history",
    "empty": "with an empty list",
    "unplaced": "none of whose sources fits the history",
    "unreadable": "with a list that cannot be read",
    "not returned": "without a list",
}
_BY = {
    "turn": "by the turn's name",
    "round": "by session and round",
    "session": "by the session alone",
    "text": "matched by text",
}
NOT_RETURNED = "not returned"


def source_tables(retrieval: Mapping[str, Any]) -> list[Table]:
    """One table, where answers were looked through for sources."""
    sources = retrieval.get("sources")
    if not sources:
        return []
    answers = sources["answers"]
    rows = [("answers", str(answers["n"]))]
    rows += [(f"  {said}", str(answers[name])) for name, said in _STATES.items() if answers[name]]
    rows.append(("sources", str(sources["returned"])))
    rows += [
        (f"  {said}", str(n)) for name, said in _BY.items() if (n := sources["placed_by"][name])
    ]
    rows.append(("  placed nowhere", str(sources["unplaced"])))
    length = sources["a_question"]
    note = (
        f"Sources an answer: {number(length['p50'])} (median), {number(length['max'])} at most; "
        "beyond that a larger k finds nothing more. Only answers with sources of the history, or "
        "with an empty list, are in the retrieval figures; a source placed nowhere keeps its rank."
    )
    if sources["problem"]:
        note += f" Most frequent trouble: {sources['problem']}."
    return [Table("Sources of the answers", ("", "n"), rows, note)]
