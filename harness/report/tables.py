"""The tables of a report as rows of text, shared by all faces. Pure."""

from collections.abc import Mapping
from typing import Any

from harness.report.benchmark_tables import (
    metric_tables,
    official_accuracy_table,
    turn_tables,
)
from harness.report.conduct_table import conduct_tables
from harness.report.judge_tables import judge_tables, known_wrong_note
from harness.report.source_table import NOT_RETURNED, source_tables
from harness.report.table import Table, number, percent
from harness.statistics.bootstrap import FEW_CLUSTERS

SHOWN_CUT_OFFS = (1, 5, 10, 50)


def report_tables(report: Mapping[str, Any]) -> list[Table]:
    """Every table that this report has numbers for, in reading order."""
    tables = [_accuracy(report)] if report["accuracy"] else []
    tables += conduct_tables(report) + judge_tables(report)
    tables += official_accuracy_table(report) + metric_tables(report)
    if report["retrieval"]:
        tables += source_tables(report["retrieval"])
        tables += [_retrieval(report["retrieval"]), _by_type(report["retrieval"])]
        if report["retrieval"]["official"]:
            tables.append(_official(report["retrieval"]))
        tables += turn_tables(report["retrieval"])
        tables.append(_context(report["retrieval"]))
    if report["evidence_in_prompt"]:
        tables.append(_prompts(report["evidence_in_prompt"]))
    tables += [_effort(report), _cost(report)]
    return [table for table in tables if table.rows]


def _accuracy(report: Mapping[str, Any]) -> Table:
    accuracy = report["accuracy"]
    named = [("overall", accuracy["overall"])]
    named += sorted(accuracy["by_type"].items())
    named += [("abstention", accuracy["abstention"]), ("answerable", accuracy["answerable"])]
    shared = "clustered" in accuracy["overall"]
    rows = [_accuracy_row(name, cell, shared=shared) for name, cell in named if cell["n"]]
    average = accuracy["task_averaged"]
    blank = ("", "") if shared else ("",)
    rows.insert(1, ("task-averaged", percent(average["value"]), *blank, f"{average['n']} types"))
    note = (
        f"Judge {accuracy['judge']}. Every selected question counts: {report['missing']} missing "
        f"count as wrong, {report['unscored']} unscored are not counted as right."
        + known_wrong_note(accuracy)
    )
    if shared:
        note += _clusters_note(accuracy["overall"]["clustered"]["clusters"])
    by_history = ("by conversation 95 %",) if shared else ()
    header = ("questions", "right", "Wilson 95 %", *by_history, "n")
    return Table("Accuracy, %", header, rows, note)


def _accuracy_row(name: str, cell: Mapping[str, Any], *, shared: bool) -> tuple[str, ...]:
    clustered = cell.get("clustered") or {"low": None, "high": None}
    bounds = [cell, clustered] if shared else [cell]
    intervals = (f"{percent(bound['low'])}–{percent(bound['high'])}" for bound in bounds)
    return (name, percent(cell["value"]), *intervals, str(cell["n"]))


def _clusters_note(clusters: int) -> str:
    said = f" Questions share {clusters} conversations, which the bounds by conversation draw whole"
    if clusters < FEW_CLUSTERS:
        return said + "; with so few of them even those are too narrow."
    return said + "."


def _retrieval(retrieval: Mapping[str, Any]) -> Table:
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


def _by_type(retrieval: Mapping[str, Any]) -> Table:
    rows = []
    for name, figures in retrieval["by_type"].items():
        rows += _row(name, figures, "recall_all@{k}")
    header = ("session recall_all", *_cut_offs(), "n")
    return Table("Retrieval by question type, %", header, rows, is_detail=True)


def _official(retrieval: Mapping[str, Any]) -> Table:
    rows = []
    for script, levels in retrieval["official"].items():
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


def _context(retrieval: Mapping[str, Any]) -> Table:
    rows = [
        (f"{budget} tokens", _told(cell, retrieval), str(cell["n"]))
        for budget, cell in retrieval["evidence_in_context"].items()
    ]
    note = (
        "Share of answerable questions whose evidence sessions all occur among the best rounds "
        "that fit the budget (whole rounds in rank order, 4 characters a token)."
    )
    return Table("Evidence in context, %", ("budget", "all evidence", "n"), rows, note)


def _told(cell: Mapping[str, Any], retrieval: Mapping[str, Any]) -> str:
    if cell["value"] is None and retrieval.get("sources"):
        return NOT_RETURNED
    return percent(cell["value"])


def _prompts(table: Mapping[str, Any]) -> Table:
    rows = [("all", percent(table["value"]), str(table["n"]))]
    rows += [
        (f"prompt within {budget} tokens", percent(cell["value"]), str(cell["n"]))
        for budget, cell in table["within"].items()
    ]
    rows += [
        (name, percent(cell["value"]), str(cell["n"])) for name, cell in table["by_type"].items()
    ]
    sizes = table["tokens_estimate"]
    note = (
        "Share of recorded answerable questions whose every evidence turn stands word for word in "
        "what the chat model received. Tokens a prompt, instructions included, at 4 characters: "
        f"{number(sizes['p50'])} (p50), {number(sizes['p95'])} (p95), "
        f"{number(sizes['max'])} (max)."
    )
    return Table("Evidence in the prompt, %", ("questions", "all evidence", "n"), rows, note)


def _effort(report: Mapping[str, Any]) -> Table:
    rows = [
        (
            name.replace("_ms", ", ms").replace("_", " "),
            number(cell["p50"]),
            number(cell["p95"]),
            str(cell["n"]),
        )
        for name, cell in report["latency"].items()
        if cell["n"]
    ]
    ingest, tokens = report["ingest"], report["tokens"]
    rate, wall = number(ingest["rounds_per_second"]), number(report["wall_seconds"])
    prompt = number(tokens["prompt_per_question"])
    completion = number(tokens["completion_per_question"])
    note = (
        f"{ingest['rounds']} rounds ingested at {rate} rounds/s a user; {wall} s in all. "
        f"Tokens a question: {prompt} prompt, {completion} completion."
    )
    return Table("Speed and effort", ("step", "p50", "p95", "n"), rows, note)


def _cost(report: Mapping[str, Any]) -> Table:
    tokens, cost, judge = report["tokens"], report["cost"], report["tokens"]["judge"]
    asked = judge["asked"]
    paid = ("assistant", tokens["prompt"], tokens["completion"], tokens["n"])
    rows = [
        (*_spent(*paid), _dollars(cost["assistant_usd"])),
        (
            *_spent("judge, all verdicts", *_counts(judge)),
            "" if asked else _dollars(cost["judge_usd"]),
        ),
    ]
    if asked:
        said = _spent("judge, but for kept replies", *_counts(asked))
        rows.append((*said, _dollars(cost["judge_usd"])))
    header = ("tokens", "prompt", "completion", "answers or calls", "US$")
    note = f"{tokens['not_counted']} answers came without a count of tokens. – is not known."
    return Table("Cost", header, rows, note, is_detail=True)


def _counts(calls: Mapping[str, int]) -> tuple[int, int, int]:
    return calls["prompt_tokens"], calls["completion_tokens"], calls["calls"]


def _spent(name: str, prompt: int, completion: int, calls: int) -> tuple[str, ...]:
    return name, number(prompt), number(completion), number(calls)


def _dollars(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _cut_offs() -> tuple[str, ...]:
    return tuple(f"@{k}" for k in SHOWN_CUT_OFFS)
