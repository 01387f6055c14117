"""The report's page: what it shows, how large it gets, and that it needs nothing but itself."""

import csv
import json
import re
from pathlib import Path

import pytest
from made_runs import made_run

from harness.records.run_dir import RunDir
from harness.report.build import write_report
from harness.report.charts import Curve, Mark, curve_chart, interval_chart, span_chart
from harness.report.html import Clipping, clipped

LIMIT = 2_000_000


def page_of(path: Path) -> str:
    write_report(RunDir(path))
    return (path / "report.html").read_text()


@pytest.mark.parametrize(("name", "shown"), [("openai/any", True), ("", False), (None, True)])
def test_without_a_language_model_there_are_no_prompt_tokens(
    tmp_path: Path, name: str | None, shown: bool
) -> None:
    settings = {} if name is None else {"chat_model": {"name": name}, "profiles": []}
    run = made_run(tmp_path / "run", {"a": "yes", "b": "no"}, version={"settings": settings})
    page = page_of(run)
    report = json.loads((run / "report.json").read_text())
    assert (report["tokens"]["prompt_per_question"] is not None) is shown
    assert bool(report["accuracy"]["by_prompt_tokens"]) is shown
    assert ("prompt tokens a question" in page) is shown


def test_the_page_tells_found_evidence_from_missed(tmp_path: Path) -> None:
    verdicts = {"a": "yes", "b": "no", "c": None}
    page = page_of(made_run(tmp_path / "run", verdicts, ranks={"b": 9}))
    assert page.count('data-evidence="found"') == 2
    assert page.count('data-evidence="missed"') == 1
    assert "rank 1: 2023-05-20 user: The kayak I bought is turquoise." in page
    assert "rank 9: " in page
    assert "In context: the best 7 rounds fit 7,000 tokens" in page
    marks = re.findall(r'data-verdict="(\w+)"', page)
    assert marks == ["right", "wrong", "unscored"]


def test_evidence_that_was_not_ranked_is_told(tmp_path: Path) -> None:
    path = made_run(tmp_path / "run", {"a": "no"})
    line = json.loads((path / "retrieval.jsonl").read_text())
    line["ranked_rounds"] = line["ranked_rounds"][1:]
    (path / "retrieval.jsonl").write_text(json.dumps(line) + "\n")
    assert "not in the first 11: 2023-05-20 user: The kayak" in page_of(path)


def test_a_run_of_an_earlier_journal_has_a_page_too(tmp_path: Path) -> None:
    path = made_run(tmp_path / "run", {"a": "no"})
    line = json.loads((path / "retrieval.jsonl").read_text())
    for item in line["ranked_rounds"]:
        del item["begins"], item["session_date"]
    (path / "retrieval.jsonl").write_text(json.dumps(line) + "\n")
    assert "<li class=evidence> s1" in page_of(path)


def test_nothing_in_a_text_becomes_part_of_the_page(tmp_path: Path) -> None:
    page = page_of(made_run(tmp_path / "run", {"a": "no"}, said=" </dd><script>alert(1)</script>"))
    assert "&lt;script&gt;alert(1)" in page
    assert page.count("<script>") == 1


def test_the_page_of_500_questions_with_long_answers_stays_small(tmp_path: Path) -> None:
    verdicts = {f"question-{i:03}": "yes" if i % 3 else "no" for i in range(500)}
    path = made_run(tmp_path / "run", verdicts, said=" And so on." * 400, rounds=50)
    assert len(page_of(path).encode()) < LIMIT


def test_the_page_works_without_its_script(tmp_path: Path) -> None:
    page = page_of(made_run(tmp_path / "run", {"a": "yes", "b": "no"}))
    without = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert without.count("<details data-type") == 2
    assert "hidden" not in without
    assert "<select" not in without


def test_the_room_for_a_question_shrinks_with_their_number() -> None:
    few, many = Clipping.for_questions(3), Clipping.for_questions(2000)
    assert (few.answer, few.rounds) > (many.answer, many.rounds)
    assert many.rounds == 3
    assert clipped("a" * 10, 4) == "aaaa […6 more characters in the run's files]"
    assert clipped("a" * 4, 4) == "aaaa"


def test_a_chart_of_shares_places_value_and_bounds() -> None:
    chart = interval_chart([Mark("a < b", 0.5, 0.25, 0.75, "50.0 (25.0–75.0)")])
    assert 'x1="25.0%" x2="75.0%"' in chart
    assert 'cx="50.0%"' in chart
    assert "a &lt; b" in chart


def test_bars_share_one_scale() -> None:
    chart = span_chart([Mark("a", 10, 0, 40, "10"), Mark("b", 0, 0, 0, "0")])
    assert 'width="100.0%" height="6"' in chart
    assert 'width="25.0%" height="12"' in chart
    assert span_chart([Mark("b", 0, 0, 0, "0")])


@pytest.mark.parametrize("xs", [[5.0], [1.0, 10.0, 100.0]])
def test_curves_go_from_edge_to_edge_on_a_logarithmic_scale(xs: list[float]) -> None:
    chart = curve_chart([Curve("recall", [(x, 0.5) for x in xs])], x_label="k")
    places = [float(x) for x in re.findall(r'circle class="point" cx="([\d.]+)%"', chart)]
    assert places == ([7.0] if len(xs) == 1 else [7.0, 52.0, 97.0])


def test_every_question_has_a_row_for_spreadsheets(tmp_path: Path) -> None:
    path = made_run(tmp_path / "run", {"a": "yes", "b": None}, selected="abc", ranks={"b": 9})
    page_of(path)
    rows = list(csv.DictReader((path / "questions.csv").read_text().splitlines()))
    assert [(row["question_id"], row["outcome"]) for row in rows] == [
        ("a", "yes"),
        ("b", "unscored"),
        ("c", "missing"),
    ]
    assert [row["recall_all@5"] for row in rows] == ["1.0", "0.0", ""]
    assert (rows[0]["answer"], rows[0]["hypothesis"], rows[2]["hypothesis"]) == (
        *("gold a", "said of a"),
        "",
    )


def test_accuracy_is_grouped_by_the_size_of_prompts(tmp_path: Path) -> None:
    verdicts = {f"q{i:02}": "yes" if i < 10 else "no" for i in range(20)}
    path = made_run(tmp_path / "run", verdicts)
    lines = [json.loads(line) for line in (path / "hypotheses.jsonl").read_text().splitlines()]
    for number, line in enumerate(lines):
        line["prompt_tokens"] = 100 + number
    (path / "hypotheses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    small, large = write_report(RunDir(path))["accuracy"]["by_prompt_tokens"]
    assert (small["low_tokens"], small["high_tokens"], small["accuracy"]["value"]) == (100, 109, 1)
    assert (large["low_tokens"], large["high_tokens"], large["accuracy"]["n"]) == (110, 119, 10)
    assert "110–119" in (path / "report.html").read_text()


def test_prompts_of_one_size_are_no_groups(tmp_path: Path) -> None:
    report = write_report(RunDir(made_run(tmp_path / "run", {"a": "yes"})))
    assert report["accuracy"]["by_prompt_tokens"] == []


def test_a_run_that_kept_no_profile_names_none(tmp_path: Path) -> None:
    page = page_of(made_run(tmp_path / "run", {"a": "yes"}))
    assert "None None" not in page
    approach = {"profile": {"name": "acme", "hash": "0123456789ab"}}
    page = page_of(made_run(tmp_path / "now", {"a": "yes"}, approach=approach))
    assert "acme 0123456789ab" in page
    assert "<dt>profile</dt><dd>acme</dd>" in page


def test_sentences_are_read_from_the_left(tmp_path: Path) -> None:
    approach = {"profile": {"name": "acme", "hash": "0123456789ab"}}
    run = made_run(tmp_path / "run", {"a": "yes"}, approach=approach)
    assert page_of(run).count('<table class="words">') == 1
    assert "|  |  |\n| --- | --- |\n| mode |" in (run / "report.md").read_text()
