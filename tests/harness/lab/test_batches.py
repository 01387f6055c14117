"""Prompts through a provider's batch API: none is asked twice or lost, and all is counted."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from histories import three_questions, write_data
from scripted_judge import ScriptedJudge

Harness = Callable[..., Finished]
SAID = {"q1": "Turquoise.", "q2": "A week.", "q3_abs": "No idea about a tent."}


class Judged:
    """A run whose verdicts are asked for in batches."""

    def __init__(self, harness: Harness, model: ScriptedJudge, folder: Path) -> None:
        self._harness, self.model = harness, model
        said = folder / "said.jsonl"
        lines = ({"question_id": key, "hypothesis": text} for key, text in SAID.items())
        said.write_text("".join(json.dumps(line) + "\n" for line in lines))
        data = write_data(folder / "data.json", three_questions())
        self.out, self.prompts = folder / "run", folder / "prompts"
        self._data = ("--dataset", "longmemeval", "--file", data, "--controls", 0)
        self._data = (*self._data, "--judge", f"longmemeval=examiner@{model.url}")
        self._there = ("--out", self.out, "--prompts", self.prompts)
        ended = harness("verdicts", "export", *self._data, *self._there, "--hypotheses", said)
        assert ended.code == 0, ended.err

    def submit(self, *more: object) -> Finished:
        return self._batch("submit", *more)

    def collect(self, *more: object) -> Finished:
        return self._batch("collect", *more)

    def _batch(self, what: str, *more: object) -> Finished:
        provider = ("--batch-url", self.model.url, "--judge-price", "10/100")
        return self._harness("verdicts", what, *self._there, *provider, *more)

    def verdicts(self) -> dict[str, str]:
        ended = self._harness("verdicts", "import", *self._data, *self._there)
        assert ended.code == 0, ended.err
        written = (self.out / "verdicts.jsonl").read_text().splitlines()
        return {one["question_id"]: one["verdict"] for one in map(json.loads, written)}

    def asked(self) -> list[str]:
        """The ids of all requests that the provider has been sent, in batches."""
        files = [self.model.files[one["input_file_id"]] for one in self.model.batches.values()]
        return [json.loads(line)["custom_id"] for text in files for line in text.splitlines()]

    def spent(self) -> list[dict[str, Any]]:
        told: dict[str, Any] = json.loads((self.out / "manifest.json").read_text())
        return [one for one in told["invocations"] if one["stage"] == "batch"]


@pytest.fixture
def judged(harness: Harness, model: ScriptedJudge, tmp_path: Path) -> Iterator[Judged]:
    model.says = lambda prompt: "yes" if "Turquoise" in prompt else "no"
    yield Judged(harness, model, tmp_path)
    assert model.sent == []  # nothing was asked by any other way


RIGHT = {"q1": "yes", "q2": "no", "q3_abs": "no"}


def test_verdicts_come_by_a_batch_at_half_the_price(judged: Judged) -> None:
    ended = judged.submit()
    assert (ended.code, "3 prompts: about" in ended.out) == (0, True), ended.err
    assert "0 answered, 3 in batches that run, 0 to be submitted" in ended.out
    assert judged.collect().code == 0
    assert judged.verdicts() == RIGHT
    (account,) = judged.spent()
    assert account["judge_price"] == {"prompt": 5.0, "completion": 50.0}
    assert account["judge_spent"]["calls"] == 3
    assert account["judge_spent"]["prompt_tokens"] == 21
    report = json.loads((judged.out / "report.json").read_text())
    assert report["cost"]["judge_usd"] == pytest.approx((21 * 5 + 3 * 50) / 1e6)


def test_what_is_under_way_or_answered_is_not_submitted_again(judged: Judged) -> None:
    judged.model.looks_until_done = 2
    assert judged.submit().code == judged.submit().code == 0
    still = judged.collect()
    assert (still.code, "3 in batches that run" in still.out) == (1, True)
    assert "0 prompts" in judged.submit().out
    assert judged.collect("--wait", 30, "--pause", 0.01).code == 0
    assert judged.submit().code == judged.collect().code == 0
    assert sorted(judged.asked()) == sorted(set(judged.asked()))
    assert len(judged.spent()) == 1
    assert judged.verdicts() == RIGHT


def test_a_batch_whose_making_was_interrupted_is_found_again(judged: Judged) -> None:
    judged.model.batches["batch-0"] = {"id": "batch-0", "status": "completed", "metadata": None}
    judged.model.forgets_to_answer = 1
    assert judged.submit().code == 2
    assert len(judged.model.batches) == 2
    assert "3 in batches that run" in judged.submit().out
    assert len(judged.model.batches) == 2
    assert judged.collect().code == 0
    assert judged.verdicts() == RIGHT


def test_of_a_batch_that_was_never_made_all_is_submitted_anew(judged: Judged) -> None:
    judged.model.forgets_to_answer = 1
    assert judged.submit().code == 2
    judged.model.batches.clear()
    assert "3 to be submitted" in judged.collect().out
    assert judged.submit().code == judged.collect().code == 0
    assert judged.verdicts() == RIGHT


def test_what_an_expired_batch_left_is_submitted_again(judged: Judged) -> None:
    judged.model.expires_after = 1
    assert judged.submit().code == 0
    ended = judged.collect()
    assert (ended.code, "2 requests: This request expired." in ended.err) == (1, True), ended.err
    assert "1 answered, 0 in batches that run, 2 to be submitted" in ended.out
    judged.model.expires_after = None
    assert "2 prompts" in judged.submit().out
    assert judged.collect().code == 0
    assert judged.verdicts() == RIGHT
    assert len(judged.asked()) == 5
    assert [one["judge_spent"]["calls"] for one in judged.spent()] == [1, 2]


def test_refused_settings_are_left_out_the_next_time(judged: Judged) -> None:
    for setting in ("max_tokens", "temperature"):
        judged.model.refuses = setting
        assert judged.submit().code == 0
        ended = judged.collect()
        assert (ended.code, "3 requests: Unsupported parameter" in ended.err) == (1, True)
    assert judged.submit().code == judged.collect().code == 0
    assert judged.verdicts() == RIGHT
    last = judged.model.files[[*judged.model.batches.values()][-1]["input_file_id"]]
    assert set(json.loads(last.splitlines()[0])["body"]) == {"model", "messages"}


@pytest.mark.parametrize(
    ("limit", "option"),
    [(("--max-tokens", 100), "--max-tokens"), (("--max-cost", 0.001), "--max-cost")],
)
def test_what_exceeds_the_budget_is_not_submitted(
    judged: Judged, limit: tuple[object, ...], option: str
) -> None:
    ended = judged.submit(*limit)
    assert (ended.code, option in ended.err) == (2, True)
    assert judged.model.batches == {}
    assert judged.submit("--max-cost", 0.1).code == 0
    # What is under way counts, too.
    (judged.prompts / "batch.jsonl").write_text(
        (judged.prompts / "batch.jsonl").read_text().replace('"custom_id": "v', '"custom_id": "vv')
    )
    ended = judged.submit("--max-cost", 0.006)
    assert (ended.code, "--max-cost" in ended.err) == (2, True), ended.out
    assert len(judged.model.batches) == 1


def test_a_dry_run_sends_nothing(judged: Judged) -> None:
    ended = judged.submit("--dry-run")
    assert (ended.code, "US dollars" in ended.out) == (0, True)
    assert judged.model.files == {}
