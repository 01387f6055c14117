"""Cases of one's own: read from lines, graded without a model, replayed and judged."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from scripted_assistant import ScriptedAssistant

from harness.datasets.questions import digest_of
from harness.datasets.registry import open_dataset
from harness.errors import DatasetError, UsageError
from harness.judges import Verdict
from harness.judges.graders import GradersJudge
from harness.judges.registry import JudgeOptions, default_judge, make_judge

Harness = Callable[..., Finished]
TOLD = "I keep three hives behind the barn in Ghent."
CHECK = """
import json, os, sys
asked = json.load(sys.stdin)
assert asked["question_id"] == "where" and "SECRET_KEY" not in os.environ
print("looked")
sys.exit(0 if "barn" in asked["hypothesis"] else 1 if asked["hypothesis"] else 7)
"""


def case(name: str, grader: dict[str, Any], **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": TOLD}, {"role": "assistant", "content": "Nice."}]
    told = {"id": "may", "date": "2024-05-01 10:00", "messages": messages}
    asked = {"question": f"{name}?", "grader": grader, "evidence": ["may"]}
    return {"id": name, "history": [told], **asked} | more


CASES = (
    case("city", {"exact": ["Ghent", "In Ghent"]}, type="place", date="2024-06-01"),
    case("hives", {"number": 3}),
    case("where", {"program": "check.py"}, answer="Behind the barn."),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "check.py").write_text(CHECK)
    return write(tmp_path, *CASES)


def write(folder: Path, *cases: dict[str, Any]) -> Path:
    file = folder / "cases.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in cases))
    return file


def verdict(file: Path, name: str, said: str, *, runs_programs: bool = False) -> Verdict:
    ((question,),) = open_dataset("cases", file).histories({name})
    judge = GradersJudge(runs_programs=runs_programs)
    return asyncio.run(judge.judge(digest_of(question), said))


def test_a_line_is_a_question_with_its_history(file: Path) -> None:
    city, hives, _ = (
        one
        for part in open_dataset("cases", file).histories({"city", "hives", "where"})
        for one in part
    )
    assert (city.question_type, f"{city.question_date:%Y-%m-%d %H:%M}") == (
        "place",
        "2024-06-01 09:00",
    )
    assert (city.answer, city.alternatives) == ("Ghent", ("In Ghent",))
    assert [turn.content for turn in city.sessions[0].turns] == [TOLD, "Nice."]
    assert city.evidence_session_ids == ("may",)
    assert (hives.answer, hives.answer_is_number, hives.question_type) == ("3", True, "case")
    assert hives.question_date > hives.sessions[0].session_date
    assert default_judge("cases") == "graders"


@pytest.mark.parametrize(
    ("said", "right"),
    [("Ghent", True), (" in  ghent. ", True), ("It is Ghent", False), ("Gent", False), ("", False)],
)
def test_exact_is_word_for_word(file: Path, said: str, right: bool) -> None:
    assert verdict(file, "city", said).verdict == ("yes" if right else "no")


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("3", True),
        ("You have three hives.", True),
        ("3 hives, as you said on 1 May 2024", True),
        ("Three, or maybe four.", False),
        ("13", False),
        ("Some.", False),
    ],
)
def test_a_number_is_right_alone(file: Path, said: str, right: bool) -> None:
    assert verdict(file, "hives", said).verdict == ("yes" if right else "no")


@pytest.mark.parametrize(("said", "right"), [("2.9", True), ("3.2", False)])
def test_a_number_may_be_near(tmp_path: Path, said: str, right: bool) -> None:
    near = write(tmp_path, case("weight", {"number": 3, "within": 0.15}))
    assert verdict(near, "weight", said).verdict == ("yes" if right else "no")


def test_a_program_runs_only_when_it_is_told_to(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    held = verdict(file, "where", "by the barn")
    assert (held.verdict, "--run-programs" in held.raw) == (None, True)
    run = {
        said: verdict(file, "where", said, runs_programs=True) for said in ("a barn", "here", "")
    }
    assert [one.verdict for one in run.values()] == ["yes", "no", None]
    assert run["a barn"].raw == "looked"
    assert "exit code 7" in run[""].raw


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"grader": {}}, "expected one of exact, number, program"),
        ({"grader": {"exact": "a", "number": 1}}, "expected one of"),
        ({"grader": {"exact": [1]}}, "expected text"),
        ({"grader": {"number": "3"}}, "expected a number"),
        ({"grader": {"program": "nowhere.py"}, "answer": "a"}, "no such file beside the cases"),
        ({"grader": {"program": "check.py"}}, "answer: missing"),
        ({"evidence": ["june"]}, "no such session: june"),
        ({"history": []}, "holds no sessions"),
    ],
)
def test_what_is_wrong_with_a_case_is_said(file: Path, wrong: dict[str, Any], said: str) -> None:
    written = write(file.parent, {**case("one", {"number": 1}), **wrong})
    with pytest.raises(DatasetError, match=said):
        open_dataset("cases", written)


def test_graders_are_for_questions_that_have_one() -> None:
    with pytest.raises(UsageError, match="takes no model"):
        make_judge("graders=small@http://127.0.0.1/v1", JudgeOptions())
    (question, *_) = open_dataset("sample", None).outlines
    with pytest.raises(UsageError, match="has no grader"):
        asyncio.run(make_judge("graders").judge(question, "yes"))


def test_cases_are_replayed_and_judged(
    harness: Harness, assistant: ScriptedAssistant, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    told = ("--dataset", "cases", "--file", file, "--out", out)
    assert harness("run", *told, "--assistant", assistant.url).code == 0
    said = tmp_path / "said.jsonl"
    answers = {"city": "Ghent.", "hives": "four", "where": "Behind the barn"}
    lines = ({"question_id": key, "hypothesis": text} for key, text in answers.items())
    said.write_text("".join(json.dumps(line) + "\n" for line in lines))
    judged = ("--dataset", "cases", "--file", file, "--hypotheses", said, "--controls", 0)
    judged = (*judged, "--out", tmp_path / "judged")
    given = tmp_path / "judged/verdicts.jsonl"
    for switch, decided in ((), ["yes", "no", None]), (("--run-programs",), ["yes", "no", "yes"]):
        assert harness("judge", *judged, *switch).code == 0
        assert [json.loads(line)["verdict"] for line in given.read_text().splitlines()] == decided
        report = json.loads((tmp_path / "judged/report.json").read_text())
        assert report["unscored"] == decided.count(None)
