"""The tables of a report as rows of text, shared by all its formats."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from harness.metrics.errors_apart import ErrorPlace, ErrorsTable
from harness.metrics.judge_table import SCORERS, JudgeTokens
from harness.metrics.prompt_evidence import BEGINNING, PromptTable
from harness.records.schema import UsageRecord
from harness.report.accuracy_tables import (
    accuracy_tables,
    judge_tables,
    metric_tables,
    official_accuracy_table,
)
from harness.report.plan import plan_table
from harness.report.retrieval_tables import retrieval_tables
from harness.report.schema import Report
from harness.report.table import Table, inline, markdown_page, number, percent, print_tables
from harness.statistics.intervals import Mean


def rubric_tables(report: Report) -> list[Table]:
    scores = report.get("rubric_scores")
    if not scores:
        return []
    named = [("overall", scores["overall"]), ("mean of the types", scores["averaged"])]
    named += [*scores["by_type"].items(), ("those that were scored", scores["scored"])]
    note = (
        "Mean worth of the rubric's points. Fractional: a half point is a half, an order of events "
        "is Kendall's tau-b times F1. Official, as the released scripts print it: a half point is "
        f"nothing, an order is tau-b alone. {scores['without_scores']} questions without scores "
        "count 0."
    )
    rows = [
        (name, *(percent(cells[s]["value"]) for s in SCORERS), str(cells[SCORERS[0]]["n"]))
        for name, cells in named
    ]
    return [Table("Scores by rubric, %", ("questions", *SCORERS, "n"), rows, note)]


def report_tables(report: Report) -> list[Table]:
    """Every table that has rows in this report, in reading order."""
    tables = [plan_table(planned)] if (planned := report.get("plan")) else []
    tables += accuracy_tables(report) + rubric_tables(report)
    tables += faulty_tables(report)
    tables += conduct_tables(report) + judge_tables(report)
    if errors := report.get("errors"):
        tables.append(_errors(errors))
    tables += official_accuracy_table(report) + metric_tables(report)
    if report["retrieval"]:
        tables += retrieval_tables(report["retrieval"])
    if report["evidence_in_prompt"]:
        tables.append(_prompts(report["evidence_in_prompt"]))
    tables += [_effort(report), _cost(report)]
    return [table for table in tables if table.rows]


def faulty_tables(report: Report) -> list[Table]:
    """Scores with and without faulty references, and what is wrong with them."""
    table = report.get("faulty")
    if not table:
        return []
    rows = [
        (
            name,
            *(f"{percent(cell['value'])} ({cell['n']})" for cell in (one["all"], one["without"])),
        )
        for name, one in table["figures"].items()
    ]
    note = f"A dossier calls the references of {len(table['faults'])} questions faulty. n in ()."
    header = ("figure", "all questions", "without faulty references")
    faults = [
        (one["question_id"], one["wrong"], one.get("answer", "–"), ", ".join(one["evidence"]))
        for one in table["faults"]
    ]
    named = ("question", "what is wrong", "right answer", "evidence")
    return [
        Table("With and without faulty references, %", header, rows, note),
        Table("Faulty references", named, faults, is_detail=True, in_words=True),
    ]


def conduct_tables(report: Report) -> list[Table]:
    conduct = report.get("conduct")
    if not conduct or not report["mode"]:
        return []
    approach = conduct["approach"] or {}
    rows = [("mode", report["mode"])]
    if profile := approach.get("profile"):  # Older runs kept no profile.
        rows.append(("profile", f"{profile['name']} {profile['hash']}"))
    rows += [("finding", sentence) for sentence in conduct["diagnosis"]]
    requests, spent = conduct["requests"], conduct["spent"]
    if requests:
        rows.append(("requests", f"{requests['sent']} sent, repeated ones included"))
    if spent.get("calls"):
        told = f"{spent['prompt_tokens']:,} prompt, {spent['completion_tokens']:,} completion"
        rows.append(("tokens of its chat calls", told))
    if (dollars := report["cost"]["assistant_usd"]) is not None:
        rows.append(("cost, US dollars", f"{dollars:.4f}"))
    note = (
        "Findings come from a short history of the harness's own, told and asked years ago by its "
        "dates, and from counting requests; the answers are in the manifest."
    )
    shown = note if conduct["probes"] else ""
    return [Table("The assistant", ("", ""), rows, shown, in_words=True)]


def _errors(table: ErrorsTable) -> Table:
    places = [place.value for place in ErrorPlace if place.value in table["all"]]
    title, header = "Where answers went wrong", ("", *places)
    if places == [ErrorPlace.RIGHT]:
        return Table(title, header)
    rows = [
        (name, *(str(counts.get(place, 0)) for place in places))
        for name, counts in {"all": table["all"], **table["by_type"]}.items()
    ]
    note = " ".join(["Questions.", *(_MEANINGS[p] for p in places if p in _MEANINGS)])
    return Table(title, header, rows, note)


_MEANINGS: Mapping[str, str] = {
    ErrorPlace.NOT_RECORDED: "Not recorded: the history was not brought in.",
    ErrorPlace.NOT_RETRIEVED: "Not retrieved: not all evidence is among what was ranked.",
    ErrorPlace.NOT_DELIVERED: "Not delivered: it is, but not all of it stood in the prompt.",
    ErrorPlace.MISREAD: (
        "Misread: it stood in the prompt, or there was none to find, and the answer is wrong."
    ),
    ErrorPlace.RETRIEVED: (
        "Retrieved, wrong: it was ranked, and nobody recorded what the reader got (harness "
        "context does)."
    ),
    ErrorPlace.NOT_SEARCHED: "Wrong, not searched: nothing tells what was found.",
}


def _prompts(table: PromptTable) -> Table:
    # Reports of earlier versions have no beginnings.
    begun = table.get("beginnings", {})

    def row(name: str, cell: Mean, scope: str = "") -> tuple[str, ...]:
        beginning = percent(begun[scope]["value"]) if scope in begun else "–"
        return name, percent(cell["value"]), beginning, str(cell["n"])

    rows = [row("all", table, "all")]
    rows += [row(f"prompt within {size} tokens", one) for size, one in table["within"].items()]
    rows += [row(name, cell, name) for name, cell in table["by_type"].items()]
    sizes = table["tokens_estimate"]
    note = (
        "Share of recorded answerable questions whose every evidence turn stands word for word in "
        "what the chat model received; and the share where their first "
        f"{BEGINNING} characters do. Tokens a prompt, instructions included, at 4 characters: "
        f"{number(sizes['p50'])} (p50), {number(sizes['p95'])} (p95), "
        f"{number(sizes['max'])} (max)."
    )
    return Table(
        "Evidence in the prompt, %", ("questions", "all evidence", "beginnings", "n"), rows, note
    )


def _effort(report: Report) -> Table:
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
        f"Tokens a question: {prompt} prompt, {completion} completion.{_looking(report)}"
    )
    return Table("Speed and effort", ("step", "p50", "p95", "n"), rows, note)


def _looking(report: Report) -> str:
    """A sentence on the model's own searches; '' where the assistant does not report them."""
    looking = report["looking"]
    if looking is None:
        return ""
    said = f" Searches by the model itself: {number(looking['calls_per_question'])} a question"
    if looking["ms_per_question"] is not None:
        said += f", of {number(looking['tokens_per_question'])} tokens"
        said += f" and {number(looking['ms_per_question'])} ms a question"
    return f"{said}; in {looking['looked']} of {looking['n']}."


def _cost(report: Report) -> Table:
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


def _counts(calls: JudgeTokens | UsageRecord) -> tuple[int, int, int]:
    return calls["prompt_tokens"], calls["completion_tokens"], calls["calls"]


def _spent(name: str, prompt: int, completion: int, calls: int) -> tuple[str, ...]:
    return name, number(prompt), number(completion), number(calls)


def _dollars(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def print_report(console: Console, report: Report) -> None:
    print_tables(console, report_tables(report))


def render_markdown(report: Report, failures: Mapping[str, Mapping[str, Any]]) -> str:
    """A page with every table, its note, and the questions that failed."""
    data = report["data"]
    facts = (
        f"{report['n']} of {data['questions']} questions, "
        f"{report['missing']} without a hypothesis. Data SHA-256 `{data['sha256']}`."
    )
    page = markdown_page(f"Benchmark report: {report['dataset']}", [facts], report_tables(report))
    if failures:
        lines = [f"- `{key}`: {inline(line['message'])}" for key, line in failures.items()]
        page += "\n## Failed questions\n\n" + "\n".join(lines) + "\n"
    return page
