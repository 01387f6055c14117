"""The published schema of a run's files, against the types, and against real runs."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benches import Bench, Finished
from histories import instance, write_data
from jsonschema import Draft202012Validator
from scripted_judge import ScriptedJudge

from harness.datasets.longmemeval import parse_instances
from harness.export.run_schema import FILES, run_schema
from harness.metrics.prompt_evidence import prompt_record

Harness = Callable[..., Finished]
PUBLISHED = Path(__file__).parents[3] / "docs/run-directory.schema.json"
FAULT = {"question_id": "q2", "wrong": "Nobody says so."}


def objects(path: Path) -> list[Any]:
    text = path.read_text()
    return (
        [json.loads(line) for line in text.splitlines()]
        if "jsonl" in path.name
        else [json.loads(text)]
    )


def validator(name: str, schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({"$defs": schema["$defs"]} | schema["properties"][name])


def strange(value: Any, kind: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    """Fields that the schema does not know: what the harness writes has a type."""
    kind = next((one for one in kind.get("anyOf", ()) if one != {"type": "null"}), kind)
    if "$ref" in kind:
        kind = schema["$defs"][kind["$ref"].removeprefix("#/$defs/")]
    for key, inner in value.items() if isinstance(value, dict) else ():
        if "properties" in kind and key not in kind["properties"]:
            yield key
        elif "properties" in kind:
            yield from strange(inner, kind["properties"][key], schema)
    if isinstance(value, list) and "items" in kind:
        for inner in value:
            yield from strange(inner, kind["items"], schema)


@pytest.fixture
def run(bench: Bench, harness: Harness, model: ScriptedJudge, tmp_path: Path) -> Path:
    """A run planned, judged twice, with a failure and a dossier: as many files as there are."""
    bench.data_file = write_data(tmp_path / "data.json", [instance("q1"), instance("q2")])
    (tmp_path / "data.dossier.jsonl").write_text(json.dumps(FAULT))
    given = ("--dataset", "longmemeval", "--file", bench.data_file)
    plan = tmp_path / "plan.json"
    said = ("--hypothesis", "Half is right.", "--threshold", "0.5", "--out", plan)
    assert harness("plan", *given, *said).code == 0
    bench.plan = plan
    bench.replay()
    (bench.out / "failures.jsonl").write_text(
        json.dumps({"question_id": "q1", "error": "E", "message": "no", "at": "2026-01-01"}) + "\n"
    )
    (asked,) = parse_instances([instance("q1")], source="test")
    record = prompt_record(asked, ["Nothing of it."])
    (bench.out / "prompts.jsonl").write_text(json.dumps(record) + "\n")
    hypotheses = ("--hypotheses", bench.out / "hypotheses.jsonl", "--out", bench.out)
    judges = ("--judge", model.spec, "--second-judge", "lexical")
    assert harness("judge", *given, *hypotheses, *judges).code == 0
    return bench.out


def test_every_file_of_a_real_run_is_as_published(run: Path) -> None:
    schema = run_schema()
    there = [name for name in FILES if (run / name).exists()]
    # A run that has ended has no open attempts.
    assert set(FILES) - set(there) == {"attempts.jsonl"}
    for name in there:
        check = validator(name, schema)
        for value in objects(run / name):
            assert [error.message for error in check.iter_errors(value)] == []
            assert list(strange(value, schema["properties"][name], schema)) == []


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("manifest.json", {"format": "2"}),
        ("verdicts.jsonl", {"verdict": "maybe"}),
        ("retrieval.jsonl", {"ranked_rounds": [{"session_id": 1}]}),
        ("report.json", {"n": None}),
        ("plan.json", {"set_up": {"mode": 1}}),
    ],
)
def test_what_is_not_so_is_noticed(run: Path, name: str, change: dict[str, Any]) -> None:
    value = objects(run / name)[0] | change
    assert list(validator(name, run_schema()).iter_errors(value))


def test_the_published_schema_is_that_of_the_types(harness: Harness) -> None:
    Draft202012Validator.check_schema(run_schema())
    assert harness("schema").out == PUBLISHED.read_text()
    assert json.loads(PUBLISHED.read_text()) == run_schema()
