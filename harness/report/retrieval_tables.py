"""Retrieval as rows of text: by k, by type, by the official definitions, by turn, in context."""

from collections.abc import Mapping
from typing import Any

from harness.metrics.retrieval_metrics import Figures
from harness.metrics.retrieval_table import OfficialScopes, RetrievalTable
from harness.report.table import Table, number, percent

SHOWN_CUT_OFFS = (1, 5, 10, 50)
_TURN_CUT_OFFS = (5, 10, 25, 50)
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


def retrieval_tables(retrieval: RetrievalTable) -> list[Table]:
    tables = [*_sources(retrieval), _retrieval(retrieval), _by_type(retrieval), _rounds(retrieval)]
    if retrieval["official"]:
        tables.append(_official(retrieval["official"]))
    return [*tables, *_by_turn(retrieval), _context(retrieval)]


def _retrieval(retrieval: RetrievalTable) -> Table:
    rows = []
    for level in ("session", "round"):
        figures = retrieval[level]
        for name in ("recall_all", "recall_any", "recall_fraction"):
            rows += _row(f"{level} {name}", figures, f"{name}@{{k}}")
        for discount in ("longmemeval", "standard"):
            rows += _row(f"{level} ndcg ({discount})", figures, f"ndcg@{{k}}[{discount}]")
        if not figures and retrieval.get("sources"):
            rows.append((level, *(NOT_RETURNED for _ in SHOWN_CUT_OFFS), "0"))
    excluded = retrieval["excluded"]
    note = (
        f"Strict: answerable questions with labelled evidence. Left out: {excluded['abstention']} "
        f"abstention, {excluded['without_labelled_round']} without a labelled round (round rows), "
        f"{excluded['not_searched']} never searched."
    )
    if unknown := excluded.get("without_ranked_rounds"):
        note += f" Of {unknown} the sources do not all tell their round (round rows)."
    return Table("Retrieval, %", ("metric", *_cut_offs(), "n"), rows, note)


def _row(label: str, figures: Mapping[str, Any], pattern: str) -> list[tuple[str, ...]]:
    cells = [figures.get(pattern.format(k=k)) for k in SHOWN_CUT_OFFS]
    known = [cell for cell in cells if cell]
    if not known:
        return []
    values = (percent(cell["value"]) if cell else "" for cell in cells)
    return [(label, *values, str(known[0]["n"]))]


def _by_type(retrieval: RetrievalTable) -> Table:
    rows = []
    for name, figures in retrieval["by_type"].items():
        rows += _row(name, figures, "recall_all@{k}")
    header = ("session recall_all", *_cut_offs(), "n")
    return Table("Retrieval by question type, %", header, rows, is_detail=True)


def _rounds(retrieval: RetrievalTable) -> Table:
    rows = []
    for name, figures in (retrieval.get("round_by_type") or {}).items():
        rows += _row(f"{name}: recall_all", figures, "recall_all@{k}")
        rows += _row(f"{name}: ndcg (standard)", figures, "ndcg@{k}[standard]")
    header = ("rounds", *_cut_offs(), "n")
    return Table("Retrieval of rounds by question type, %", header, rows, is_detail=True)


def _official(official: Mapping[str, Mapping[str, Figures]]) -> Table:
    rows = []
    for script, levels in official.items():
        for level, figures in levels.items():
            label = f"{level.replace('_', ' ')}, {script.replace('_', ' ')}"
            rows += _row(f"{label}: recall_all", figures, "recall_all@{k}")
            rows += _row(f"{label}: ndcg", figures, "ndcg@{k}[longmemeval]")
    note = (
        "The benchmark's own definitions over user text: the run script leaves out questions "
        "without a labelled user turn, the printing script counts them as recall_all 1 and ndcg 0."
    )
    header = ("official-compatible", *_cut_offs(), "n")
    return Table("Retrieval by the official definitions, %", header, rows, note, is_detail=True)


def _context(retrieval: RetrievalTable) -> Table:
    rows = [
        (f"{budget} tokens", _told(cell, retrieval), str(cell["n"]))
        for budget, cell in retrieval["evidence_in_context"].items()
    ]
    note = (
        "Share of answerable questions whose evidence sessions all occur among the best rounds "
        "that fit the budget (whole rounds in rank order, 4 characters a token)."
    )
    return Table("Evidence in context, %", ("budget", "all evidence", "n"), rows, note)


def _told(cell: Mapping[str, Any], retrieval: RetrievalTable) -> str:
    if cell["value"] is None and retrieval.get("sources"):
        return NOT_RETURNED
    return percent(cell["value"])


def _by_turn(retrieval: RetrievalTable) -> list[Table]:
    turn = retrieval["turn"]
    if not turn:
        return []
    strict = [("overall", turn["strict"]["overall"]), *turn["strict"]["by_type"].items()]
    rows = [
        (f"{name}: {metric}", *_cells(cells, f"{metric}@{{k}}"))
        for name, cells in strict
        for metric in ("recall_fraction", "recall_all")
    ]
    header = ("evidence turns", *(f"@{k}" for k in _TURN_CUT_OFFS), "n")
    note = (
        f"All categories. Left out: {turn['without_evidence']} questions without evidence, "
        f"{turn['evidence_not_found']} whose evidence names no turn that exists."
    )
    tables = [Table("Retrieval by turn, %", header, rows, note)]
    if official := turn["official"]:
        tables.append(_official_by_turn(official))
    return tables


def _official_by_turn(official: OfficialScopes) -> Table:
    named = [("mean over questions", official["per_question"]), *official["by_type"].items()]
    rows = [(name, *_cells(cells, "recall@{k}")) for name, cells in named if cells]
    note = (
        "Share of the evidence ids as they stand in the file. A question without evidence counts "
        "1 in the mean over questions and 0 in its category."
    )
    header = ("evidence turns", *(f"@{k}" for k in _TURN_CUT_OFFS), "n")
    return Table("Retrieval by turn, official, %", header, rows, note, is_detail=True)


def _cells(figures: Mapping[str, Any], pattern: str) -> tuple[str, ...]:
    cells = [figures[pattern.format(k=k)] for k in _TURN_CUT_OFFS]
    return (*(percent(cell["value"]) for cell in cells), str(cells[0]["n"]))


def _sources(retrieval: RetrievalTable) -> list[Table]:
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


def _cut_offs() -> tuple[str, ...]:
    return tuple(f"@{k}" for k in SHOWN_CUT_OFFS)
