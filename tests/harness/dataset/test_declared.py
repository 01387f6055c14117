"""A data set declares itself in one place: what the documents show works as it stands."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from scripted_assistant import ScriptedAssistant

from harness.datasets.benchmark import Answered, Benchmark, Given
from harness.datasets.registry import BENCHMARKS, open_dataset
from harness.judges.registry import default_judge
from harness.judges.rubrics import RUBRICS, Rubric
from harness.metrics.official_scores import scores_by_question
from harness.records.digest import QuestionDigest

DOCUMENT = (Path(__file__).parents[3] / "docs/datasets.md").read_text(encoding="utf-8")
DIARY = {
    "entries": [
        {"day": "2024-05-01", "text": "I keep bees."},
        {"day": "2024-05-02", "text": "It rains."},
    ],
    "question": "What do I keep?",
    "answer": "bees",
    "evidence": ["day-0"],
}
OWN, DECLARED = re.findall(r"^```python\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)


@pytest.fixture
def diaries(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    names: dict[str, Any] = {"__name__": "diaries"}
    exec(OWN + DECLARED, names)
    declared: Benchmark = names["DIARIES"]
    monkeypatch.setitem(BENCHMARKS, declared.name, declared)
    return declared


def test_a_class_of_ones_own_is_a_data_set_as_the_documents_show_it(tmp_path: Path) -> None:
    (tmp_path / "diaries.py").write_text(OWN)
    file = tmp_path / "diaries.jsonl"
    file.write_text(json.dumps(DIARY) + "\n")
    dataset = open_dataset(f"{tmp_path / 'diaries.py'}:Diaries", file)
    ((question,),) = dataset.histories({"diary-0"})
    assert [session.session_id for session in question.sessions] == ["day-0", "day-1"]
    assert question.evidence_session_ids == ("day-0",)


def test_the_example_of_the_documents_is_replayed_and_scored(
    diaries: Benchmark,
    assistant: ScriptedAssistant,
    harness: Callable[..., Finished],
    tmp_path: Path,
) -> None:
    file, out = tmp_path / "diaries.jsonl", tmp_path / "run"
    file.write_text(json.dumps(DIARY) + "\n")
    command = ("--dataset", "diaries", "--file", file, "--assistant", assistant.url, "--out", out)
    ended = harness("run", *command, "--no-probe")
    assert ended.code == 0, ended.err
    report = json.loads((out / "report.json").read_text())
    assert (report["n"], report["official_metrics"]["metric"]) == (1, "diaries")


def test_what_goes_with_it_is_found_by_its_name(diaries: Benchmark, tmp_path: Path) -> None:
    file = tmp_path / "diaries.jsonl"
    file.write_text(json.dumps(DIARY) + "\n")
    question: QuestionDigest = BENCHMARKS["diaries"].opens(Given("diaries", file)).outlines[0]
    said = {question.question_id: {"hypothesis": "bees"}}
    assert default_judge("diaries") == "lexical"
    assert Rubric.of(diaries.rubrics[0]).prompt(question).name == "strict"
    assert scores_by_question("diaries", [question], said) == {"diary-0": {"exact": 1.0}}
    lines = list(diaries.exports[0].records(Answered("diaries", [question], said)))
    assert lines == [{"id": "diary-0", "said": "bees"}]


def test_no_rubric_export_or_file_is_declared_twice() -> None:
    for names in (
        [rules.name for one in BENCHMARKS.values() for rules in one.rubrics],
        [export.name for one in BENCHMARKS.values() for export in one.exports],
        [file.key for one in BENCHMARKS.values() for file in (*one.files, *one.folders)],
    ):
        assert len(set(names)) == len(names)
    assert set(RUBRICS) > {rules.name for one in BENCHMARKS.values() for rules in one.rubrics}
