"""A comparison as tables of text, shared by terminal, Markdown and HTML."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.comparison.coverage import coverage_table, covered_questions_table
from harness.comparison.judge_noise import noise_table
from harness.report.accuracy_tables import guess_note
from harness.report.plan import plan_table
from harness.report.table import Columns, Table, bounds, number, p_value, percent, points, table_of

Comparison = Mapping[str, Any]
_BOUNDS = "bootstrap 95 %"


def comparison_tables(comparison: Comparison) -> list[Table]:
    tables = [plan_table(planned)] if (planned := comparison["plan"]) else []
    tables += [_runs(comparison), _findings(comparison), _effort(comparison)]
    judged = [item for item in comparison["comparisons"] if item["accuracy"]]
    if judged:
        tables += [_accuracy(judged), *(_by_type(item) for item in judged)]
        tables += [noise_table(item) for item in judged]
    tables += [_figures(item) for item in comparison["comparisons"]]
    tables += [_figures_by_type(item) for item in comparison["comparisons"]]
    tables += [coverage_table(item) for item in comparison["comparisons"]]
    tables += [_flips(item) for item in judged]
    tables += [covered_questions_table(item) for item in comparison["comparisons"]]
    tables += [_repeats(comparison["repeats"]), _differences(comparison)]
    return [table for table in tables if table.rows]


def repeats_tables(comparison: Comparison) -> list[Table]:
    tables = [_runs(comparison), _effort(comparison), _repeats(comparison["repeats"])]
    return [table for table in tables if table.rows]


def remarks(comparison: Comparison) -> list[str]:
    """The sentences that a reader must see before any figure."""
    said = [f"NOT COMPARABLE: {problem}." for problem in comparison["problems"]]
    said += [f"{caution}." for caution in comparison["cautions"]]
    questions = comparison["questions"]
    left_out = [f"{n} of {name}" for name, n in questions["left_out"].items() if n]
    if left_out:
        said.append(
            f"{questions['common']} questions are common to all runs; left out, because another "
            f"run did not select them: {', '.join(left_out)}."
        )
    if questions["histories"] < questions["common"]:
        said.append(_histories(questions))
    if note := guess_note(comparison["runs"][0]["guesses"]):
        said.append(note.strip())
    return said


def _histories(questions: Mapping[str, Any]) -> str:
    said = (
        f"{questions['common']} questions share {questions['histories']} conversations: bounds are "
        "by conversation, and McNemar's p, which takes questions for independent, is too small."
    )
    if questions["few_histories"]:
        said += " With so few conversations the bounds are too narrow as well."
    return said


def _runs(comparison: Comparison) -> Table:
    data = comparison["runs"][0]["dataset"]
    sha256 = f", SHA-256 {data['sha256'][:12]}" if data["sha256"] else ""
    note = (
        f"Data: {data['name']} ({data['file'] or 'built in'}{sha256}). Each over its own questions."
    )
    return table_of("Runs, %", comparison["runs"], _RUN, note)


def _wilson(cell: Mapping[str, Any] | None) -> str:
    return f"{percent(cell['low'])}–{percent(cell['high'])}" if cell else "–"


_RUN: Columns = {
    "run": lambda run: run["name"],
    "mode": lambda run: run["mode"] or "judged only",
    "judge": lambda run: run["judge"]["id"] if run["judge"] else "–",
    "right": lambda run: percent((run["accuracy"] or {}).get("value")),
    "Wilson 95 %": lambda run: _wilson(run["accuracy"]),
    "n": lambda run: str(run["n"]),
    "missing": lambda run: str(run["missing"]),
    "unscored": lambda run: number(run["unscored"]),
}


def _findings(comparison: Comparison) -> Table:
    rows = [(run["name"], said) for run in comparison["runs"] for said in run["diagnosis"]]
    title = "What was found out about the assistants"
    return Table(title, ("run", "finding"), rows, in_words=True)


def _effort(comparison: Comparison) -> Table:
    note = (
        "Tokens are those of one question, as the assistant counts them. Searches are those of the "
        "model itself, a question. – is not known."
    )
    return table_of(
        "Cost and speed",
        comparison["runs"],
        {
            "run": lambda run: run["name"],
            "prompt tokens": lambda run: number(run["tokens"]["prompt_per_question"]),
            "completion": lambda run: number(run["tokens"]["completion_per_question"]),
            "searches": lambda run: number((run["looking"] or {}).get("calls_per_question")),
            "search tokens": lambda run: number((run["looking"] or {}).get("tokens_per_question")),
            "searching, ms": lambda run: number((run["looking"] or {}).get("ms_per_question")),
            "answer p50, ms": lambda run: number(run["latency"]["answer_ms"]["p50"]),
            "p95": lambda run: number(run["latency"]["answer_ms"]["p95"]),
            "search p50": lambda run: number(run["latency"]["search_ms"]["p50"]),
            "ingest p50": lambda run: number(run["latency"]["ingest_round_ms"]["p50"]),
            "wall, s": lambda run: number(run["wall_seconds"]),
            "cost, $": lambda run: _dollars(run["cost"]),
        },
        note,
    )


_PAIRED: Columns = {
    "base": lambda cell: percent(cell["first"]["value"]),
    "run": lambda cell: percent(cell["second"]["value"]),
    "difference": lambda cell: points(cell["difference"]["value"]),
    _BOUNDS: lambda cell: bounds(cell["difference"]),
    "only base right": lambda cell: str(cell["pairs"]["only_first"]),
    "only run right": lambda cell: str(cell["pairs"]["only_second"]),
    "p (McNemar)": lambda cell: p_value(cell["p"]),
    "p (Holm)": lambda cell: p_value(cell["p_holm"]),
    "n": lambda cell: str(cell["n"]),
}


def _accuracy(judged: Sequence[Mapping[str, Any]]) -> Table:
    named = {f"{item['second']} against {item['first']}": item["accuracy"] for item in judged}
    for item in judged:
        if item["without_faulty"]:
            name = f"{item['second']} against {item['first']}, without faulty references"
            named[name] = item["without_faulty"] | {"p_holm": None}
    notes = [_power_note(item) for item in judged]
    if len(judged) > 1:
        notes.append(f"p (Holm) holds for all {len(judged)} comparisons together.")
    notes.append("A missing answer is wrong; pairs with an unscored verdict are left out.")
    return _paired("Accuracy, paired, % and points", "runs", named, " ".join(notes))


def _by_type(item: Mapping[str, Any]) -> Table:
    named = item["accuracy"]["by_type"]
    note = f"p (Holm) holds for all {len(named)} types together: read that one."
    return _paired(f"{item['second']} against {item['first']} by type", "type", named, note)


def _paired(title: str, kind: str, named: Mapping[str, Any], note: str) -> Table:
    cells = [{"name": name, **cell} for name, cell in named.items()]
    return table_of(title, cells, {kind: lambda cell: cell["name"], **_PAIRED}, note)


def _power_note(item: Mapping[str, Any]) -> str:
    accuracy = item["accuracy"]
    power = accuracy["power"]
    said = f"{item['second']}: {len(accuracy['unscored'])} pairs left out as unscored; "
    said += f"{percent(power['discordance'])} % of pairs differ; "
    if power["smallest_difference"] is None:
        return said + "too few differ to say what these questions could show."
    said += f"this n can show {percent(power['smallest_difference'])} points with 80 % power"
    needed = power["questions_needed"]
    if needed is None:
        return said + "."
    return said + f", {percent(power['difference'])} points would need n = {needed:,}."


_FIGURE: Columns = {
    "figure": lambda cell: cell["name"],
    "base": lambda cell: percent(cell["first"]),
    "run": lambda cell: percent(cell["second"]),
    "difference": lambda cell: points(cell["difference"]["value"]),
    _BOUNDS: lambda cell: bounds(cell["difference"]),
    "p (McNemar)": lambda cell: p_value(cell["p"]),
    "n": lambda cell: str(cell["n"]),
}


_BY_TYPE: Columns = {
    "figure": lambda cell: cell["name"],
    "type": lambda cell: cell["type"],
    **_FIGURE,
    "p (Holm)": lambda cell: p_value(cell["p_holm"]),
}


def _figures(item: Mapping[str, Any]) -> Table:
    cells = [{"name": name, **cell} for name, cell in item["figures"].items()]
    note = (
        "Sessions where nothing else is said. Each figure is tested alone; McNemar's test is for "
        "figures that are yes or no."
    )
    title = f"Retrieval, {item['second']} against {item['first']}, % and points"
    return table_of(title, cells, _FIGURE, note)


def _figures_by_type(item: Mapping[str, Any]) -> Table:
    cells = [
        {"name": name, "type": kind, "p_holm": None, **cell}
        for name, by_type in item["figures_by_type"].items()
        for kind, cell in by_type.items()
        if len(by_type) > 1
    ]
    title = f"Retrieval by type, {item['second']} against {item['first']}, % and points"
    note = "p (Holm) holds for all types of one figure together: read that one."
    return table_of(title, cells, _BY_TYPE, note)


def _flips(item: Mapping[str, Any]) -> Table:
    accuracy = item["accuracy"]
    rows = [("lost", key) for key in accuracy["lost"]]
    rows += [("gained", key) for key in accuracy["gained"]]
    title = f"Flips from {item['first']} to {item['second']}"
    return Table(title, ("", "question"), rows, is_detail=True)


def _repeats(repeats: Sequence[Mapping[str, Any]]) -> Table:
    note = (
        "Runs of one set-up. A difference between set-ups that is not clearly larger than what "
        "these wander by themselves is none."
    )
    columns: Columns = {
        "repeats": lambda group: ", ".join(group["names"]),
        "mean": lambda group: percent(group["mean"]),
        "standard deviation": lambda group: percent(group["standard_deviation"]),
        "lowest to highest": lambda group: (
            f"{percent(group['lowest'])}–{percent(group['highest'])}"
        ),
        "flipped": lambda group: percent(group["flipped"]["value"]),
        "n": lambda group: str(group["flipped"]["n"]),
    }
    return table_of("Repeats, %", repeats, columns, note)


def _differences(comparison: Comparison) -> Table:
    rows = [
        (name, *("–" if value is None else str(value) for value in values))
        for name, values in comparison["set_up_differences"].items()
    ]
    names = (run["name"] for run in comparison["runs"])
    return Table("What differs between the set-ups", ("setting", *names), rows, is_detail=True)


def _dollars(cost: Mapping[str, Any]) -> str:
    spent = [value for name, value in cost.items() if name.endswith("_usd")]
    return "–" if None in spent else f"{sum(spent):.4f}"
