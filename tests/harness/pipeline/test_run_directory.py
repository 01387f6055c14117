"""A run from end to end, its directory, and going on with it."""

import csv
import json
import os
import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from benches import Bench, Finished
from histories import instance, three_questions, write_data
from made_runs import made_run
from rich.console import Console
from scripted_assistant import Fault, ScriptedAssistant

from harness.datasets.selection import Filters, QuestionSource
from harness.errors import RunMismatch, UsageError
from harness.pipeline.run import Run
from harness.records.run_dir import HYPOTHESES, RETRIEVAL, VERDICTS, RunDir
from harness.report.build import write_report

Harness = Callable[..., Finished]
CONTRACT = {
    "manifest.json",
    "hypotheses.jsonl",
    "retrieval.jsonl",
    "verdicts.jsonl",
    "report.json",
    "report.md",
    "report.html",
}


@pytest.fixture
def finished(
    harness: Harness, assistant: ScriptedAssistant, data_file: Path, tmp_path: Path
) -> tuple[Finished, Path]:
    assistant.answers = {
        "How many days before the race did I buy shoes?": "You bought them 6 days before.",
        "What colour is the tent I bought?": "It is green.",
    }
    out = tmp_path / "run"
    ended = harness(
        *("run", "--dataset", "longmemeval", "--file", data_file),
        *("--assistant", assistant.url, "--out", out),
    )
    return ended, out


def test_a_run_gives_exactly_these_numbers(finished: tuple[Finished, Path]) -> None:
    ended, out = finished
    assert ended.code == 0
    assert {path.name for path in out.iterdir()} >= CONTRACT
    report = json.loads((out / "report.json").read_text())
    assert (report["dataset"], report["n"], report["missing"], report["unscored"]) == (
        *("longmemeval", 3),
        *(0, 0),
    )
    accuracy = report["accuracy"]
    overall = accuracy["overall"]
    assert accuracy["judge"] == "lexical-2"
    assert (overall["value"], overall["n"]) == (pytest.approx(2 / 3), 3)
    assert (overall["low"], overall["high"]) == pytest.approx((0.2077, 0.9385), abs=5e-5)
    assert accuracy["task_averaged"] == {"value": 0.75, "n": 2}
    assert (accuracy["abstention"]["value"], accuracy["abstention"]["n"]) == (0, 1)
    assert accuracy["by_type"]["single-session-user"]["value"] == 0.5
    retrieval = report["retrieval"]
    assert retrieval["session"]["recall_all@5"] == {"value": 1, "n": 2}
    assert retrieval["session"]["ndcg@5[standard]"]["n"] == 2
    assert retrieval["round"]["recall_any@1"] == {"value": 1, "n": 2}
    assert retrieval["evidence_in_context"] == {
        "7000": {"value": 1, "n": 2},
        "16000": {"value": 1, "n": 2},
    }
    assert retrieval["excluded"]["abstention"] == 1
    assert report["tokens"]["prompt"] == 300
    assert report["latency"]["ingest_round_ms"]["n"] == report["ingest"]["rounds"] == 6
    assert report["latency"]["search_ms"]["n"] == 6
    assert report["wall_seconds"] > 0


def test_the_lines_of_a_run(finished: tuple[Finished, Path]) -> None:
    lines = RunDir(finished[1])
    assert lines.by_question(HYPOTHESES)["q1"]["hypothesis"] == "The kayak I bought is turquoise."
    for line in lines.records(VERDICTS):
        assert {"question_id", "verdict", "judge", "raw"} <= set(line)
    ranked = lines.by_question(RETRIEVAL)["q1"]["ranked_sessions"]
    assert ranked[0]["session_id"] == "answer_ab12_1"


def test_the_manifest_says_where_the_run_came_from(
    finished: tuple[Finished, Path], data_file: Path
) -> None:
    manifest = json.loads((finished[1] / "manifest.json").read_text())
    assert re.fullmatch("[0-9a-f]{64}", manifest["dataset"]["sha256"])
    assert manifest["dataset"]["file"] == data_file.name
    assert manifest["assistant"]["version"]["version"] == "scripted-1"
    assert manifest["judge"]["id"] == "lexical-2"
    assert re.fullmatch("[0-9a-f]{12}", manifest["judge"]["hash"])
    assert [item["stage"] for item in manifest["invocations"]] == ["replay", "judge"]
    assert manifest["mode"] == "native"
    machine = manifest["machine"]
    assert machine["python"].endswith(platform.python_version())
    assert machine["packages"]["httpx"] == httpx.__version__
    assert machine["cores"] == os.cpu_count()


def test_searches_of_the_model_itself_are_counted_where_the_assistant_tells_of_them(
    harness: Harness, assistant: ScriptedAssistant, data_file: Path, tmp_path: Path
) -> None:
    look = {"tool": "search_memory", "asked": "tent", "found": [], "tokens": 50}
    assistant.version["settings"] |= {"chat_model": {"name": "openai/scripted"}}
    assistant.looks = {
        "How many days before the race did I buy shoes?": [look, look],
        "What colour is the tent I bought?": [],
    }
    out = tmp_path / "run"
    ended = harness(
        *("run", "--dataset", "longmemeval", "--file", data_file),
        *("--assistant", assistant.url, "--out", out),
    )
    assert ended.code == 0
    assert json.loads((out / "report.json").read_text())["looking"] == {
        "calls": 2,
        "calls_per_question": 1.0,
        "looked": 1,
        "n": 2,
        "tokens_per_question": 50.0,
        "ms_per_question": 40.0,
    }
    assert "Searches by the model itself: 1.0 a question" in (out / "report.md").read_text()
    with (out / "questions.csv").open(newline="") as file:
        rows = [(row["looks"], row["look_tokens"], row["look_ms"]) for row in csv.DictReader(file)]
    assert sorted(rows) == [("", "", ""), ("0", "0", "0.0"), ("2", "100", "80.0")]


def test_an_assistant_that_tells_of_no_searches_is_not_said_to_make_none(
    finished: tuple[Finished, Path],
) -> None:
    out = finished[1]
    assert json.loads((out / "report.json").read_text())["looking"] is None
    assert "Searches by the model" not in (out / "report.md").read_text()
    assert not any("looks" in line for line in RunDir(out).records(HYPOTHESES))


def test_the_page_stands_alone_and_shows_every_question(finished: tuple[Finished, Path]) -> None:
    page = (finished[1] / "report.html").read_text()
    address = json.loads((finished[1] / "manifest.json").read_text())["assistant"]["url"]
    page = page.replace(address, "")  # which is said, and not asked
    assert not re.search(r"(?:src|href)=|https?://|@import|url\(", page)
    for text in (
        "q1",
        "q2",
        "q3_abs",
        "turquoise",
        "You bought them 6 days before.",
        "answer_ab12_1",
    ):
        assert text in page
    markdown = (finished[1] / "report.md").read_text()
    assert "| overall | 66.7 | 20.8–93.9 | 3 |" in markdown


def test_the_table_goes_to_stdout_and_progress_to_stderr(finished: tuple[Finished, Path]) -> None:
    ended, out = finished
    assert "Accuracy, %" in ended.out
    assert f"report: {out / 'report.html'}" in ended.out
    assert "[3/3]" in ended.err


def test_texts_cannot_break_the_page(bench: Bench, tmp_path: Path) -> None:
    nasty = "<script>alert('x')</script> & | \n```"
    record = instance("q1", question=nasty, answer=nasty)
    bench.data_file = write_data(tmp_path / "nasty.json", [record])
    bench.assistant.answers = {nasty: nasty}
    bench.replay()
    bench.report()
    assert "<script>alert" not in (bench.out / "report.html").read_text()


def test_a_finished_run_asks_nothing_again(bench: Bench) -> None:
    bench.replay()
    sent = len(bench.assistant.wire)
    assert bench.replay() == 0
    assert [s.path for s in bench.assistant.wire[sent:]] == ["/version"]


def test_a_half_line_is_redone_and_the_rest_is_kept(bench: Bench) -> None:
    bench.replay(concurrency=1)
    path = bench.out / HYPOTHESES
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    users = set(bench.assistant.memory.users)
    assert bench.replay() == 0
    lines = bench.open().dir.records(HYPOTHESES)
    assert [line["question_id"] for line in lines] == ["q1", "q2", "q3_abs"]
    assert path.read_bytes().startswith(whole.splitlines(keepends=True)[0])
    assert set(bench.assistant.memory.users) == users
    assert bench.report()["missing"] == 0


def test_wall_seconds_add_up_over_invocations(bench: Bench) -> None:
    bench.replay()
    first = bench.report()["wall_seconds"]
    (bench.out / HYPOTHESES).unlink()
    bench.replay()
    assert bench.report()["wall_seconds"] > first


def test_another_data_file_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.replay()
    bench.data_file = write_data(tmp_path / "other.json", [instance("q1", answer="red")])
    with pytest.raises(RunMismatch, match=r"another data file .*choose another --out"):
        bench.replay()


def test_another_selection_is_refused(bench: Bench) -> None:
    bench.replay()
    with pytest.raises(RunMismatch, match=r"another selection \(limit: None then, 1 now\)"):
        bench.open(limit=1)


@pytest.mark.parametrize("is_settled", [True, False])
def test_a_run_of_an_earlier_version_goes_on_with_the_first_of_the_file(
    bench: Bench, tmp_path: Path, is_settled: bool
) -> None:
    kinds = ("multi-session", "multi-session", "knowledge-update")
    records = [instance(f"q{i}", question_type=kind) for i, kind in enumerate(kinds)]
    bench.data_file = write_data(tmp_path / "ordered.json", records)
    assert [q.question_id for q in bench.open(limit=2).selected] == ["q0", "q2"]
    manifest = json.loads((bench.out / "manifest.json").read_text())
    del manifest["filters"]["spread"]
    manifest["selected"] = manifest["selected"] if is_settled else None
    (bench.out / "manifest.json").write_text(json.dumps(manifest))
    lines = (bench.out / "questions.jsonl").read_text()
    (bench.out / "questions.jsonl").write_text(lines.replace("q2", "q1") if is_settled else "")
    assert [q.question_id for q in bench.open(limit=2).selected] == ["q0", "q1"]
    source = QuestionSource("longmemeval", bench.data_file, Filters(limit=2))
    beside = Run(source, tmp_path / "beside", Console(), ingested=bench.out)
    assert [q.question_id for q in beside.selected] == ["q0", "q1"]


def test_another_assistant_is_refused_but_not_another_address(bench: Bench) -> None:
    bench.replay()
    bench.assistant.version = {"version": "scripted-1", "settings": {"port": 2}}
    bench.replay()
    bench.assistant.version["version"] = "scripted-2"
    with pytest.raises(
        RunMismatch, match=r"another assistant \(version.version: 'scripted-1' then"
    ):
        bench.replay()


def test_a_damaged_directory_is_named(bench: Bench) -> None:
    bench.replay()
    (bench.out / HYPOTHESES).write_text("{oops\n")
    with pytest.raises(UsageError, match=r"hypotheses.jsonl: line 1 is not JSON"):
        bench.replay()
    (bench.out / "manifest.json").write_text("")
    with pytest.raises(UsageError, match=r"manifest.json: not a readable JSON file"):
        bench.open()


def test_stages_alone_give_the_same_report(
    harness: Harness, assistant: ScriptedAssistant, data_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "staged"
    data = ("--dataset", "longmemeval", "--file", data_file, "--out", out)
    assert harness("retrieval", *data, "--assistant", assistant.url).code == 0
    report = json.loads((out / "report.json").read_text())
    assert (report["accuracy"], report["missing"]) == (None, 3)
    assert report["retrieval"]["session"]["recall_all@5"]["n"] == 2
    assert assistant.sent("POST", "chat") == []
    assert harness("replay", *data, "--assistant", assistant.url).code == 0
    assert harness("judge", *data, "--hypotheses", out / HYPOTHESES).code == 0
    judged = json.loads((out / "report.json").read_text())
    ended = harness("report", out)
    assert ended.code == 0
    assert json.loads((out / "report.json").read_text()) == judged
    assert judged["accuracy"]["overall"]["n"] == 3


def test_exit_codes(
    harness: Harness, assistant: ScriptedAssistant, data_file: Path, tmp_path: Path
) -> None:
    run = ("run", "--dataset", "longmemeval", "--assistant", assistant.url)
    ok = ("--file", data_file, "--out", tmp_path / "x")
    assistant.lost_rounds = 1
    ended = harness(*run, *ok, "--limit", 1, "--barrier-timeout", 0)
    assert ended.code == 1
    assert "1 questions failed. Run the same command to retry them." in ended.err
    for wrong, complaint in [
        ((*run, "--out", tmp_path / "y"), "--dataset longmemeval needs --file"),
        ((*run, *ok, "--judge", "oracle"), "unknown judge 'oracle', expected one of lexical"),
        ((*run, *ok, "--mode", "dream"), "unknown mode 'dream', expected one of native"),
        ((*run, *ok, "--types", "riddle"), "the data has no question of type riddle; it has"),
        (("report", tmp_path / "nothing"), "is not a run directory"),
        (("sample", "--out", tmp_path / "no" / "x.json"), "cannot be written"),
    ]:
        ended = harness(*wrong)
        assert (ended.code, complaint in ended.err) == (2, True), ended.err
    assert harness("run", "--nonsense").code == 2


def test_judging_another_systems_answers(harness: Harness, data_file: Path, tmp_path: Path) -> None:
    hypotheses = tmp_path / "theirs.jsonl"
    lines: list[dict[str, Any]] = [
        {"question_id": "q1", "hypothesis": "Turquoise.", "model": "x"},
        {"question_id": "elsewhere", "hypothesis": "?"},
    ]
    hypotheses.write_text("\n".join(json.dumps(line) for line in lines))
    data = ("--dataset", "longmemeval", "--file", data_file, "--out", tmp_path / "judged")
    ended = harness("judge", *data, "--hypotheses", hypotheses)
    assert ended.code == 0
    assert "1 hypotheses belong to no selected question" in ended.err
    report = json.loads((tmp_path / "judged" / "report.json").read_text())
    assert report["missing"] == 2
    assert report["accuracy"]["overall"]["value"] == pytest.approx(1 / 3)
    assert report["accuracy"]["scored"]["n"] == 1
    hypotheses.write_text('{"question_id": "q1", "hypothesis": 7}')
    ended = harness("judge", *data, "--hypotheses", hypotheses)
    assert (ended.code, "hypothesis: expected text, found int" in ended.err) == (2, True)


def test_a_runs_own_answers_are_not_overwritten(
    harness: Harness, bench: Bench, tmp_path: Path
) -> None:
    bench.replay()
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_text('{"question_id": "q1", "hypothesis": "Red."}')
    data = ("--dataset", "longmemeval", "--file", bench.data_file, "--out", bench.out)
    ended = harness("judge", *data, "--hypotheses", theirs)
    assert (ended.code, "has hypotheses of its own" in ended.err) == (2, True)


def test_half_an_emoji_in_an_answer_stops_nothing(bench: Bench) -> None:
    bench.assistant.faults = [
        Fault("POST .*chat", "text", text='{"choices": [{"message": {"content": "\\ud83d!"}}]}')
    ]
    bench.replay(concurrency=1)
    bench.report()
    assert RunDir(bench.out).by_question(HYPOTHESES)["q1"]["hypothesis"] == "?!"


def test_a_changed_hypothesis_is_judged_again(bench: Bench) -> None:
    bench.replay()
    before = bench.report()["accuracy"]["overall"]["value"]
    run_dir = RunDir(bench.out)
    lines = run_dir.by_question(HYPOTHESES)
    lines["q1"]["hypothesis"] = "It is red."
    run_dir.replace_lines(HYPOTHESES, lines.values())
    assert bench.report()["accuracy"]["overall"]["value"] < before
    assert len(run_dir.records(VERDICTS)) == len(three_questions())


def test_two_replays_do_not_share_a_directory(bench: Bench) -> None:
    bench.replay()
    with RunDir(bench.out).owned(), pytest.raises(UsageError, match="another harness"):
        bench.replay()
    assert bench.replay() == 0


def test_a_directory_of_an_earlier_version_is_still_read(tmp_path: Path) -> None:
    path = made_run(tmp_path / "old", {"q1": "yes", "q2": "no"})
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest.keys().isdisjoint({"approach", "probes", "price", "salt", "git"})
    del manifest["second_judge"]
    (path / "manifest.json").write_text(json.dumps(manifest))
    report = write_report(RunDir(path))
    assert report["accuracy"] is not None
    assert (report["n"], report["accuracy"]["overall"]["value"]) == (2, 0.5)
    assert report["conduct"]["probes"] is None
    assert report["cost"]["assistant_usd"] is None
    assert json.loads((path / "report.json").read_text()) == report
