"""What judging takes: counted, priced, limited together with the assistant, and foreseen."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from histories import instance, write_data
from scripted_judge import ScriptedJudge
from scripted_rival import Rival

Harness = Callable[..., Finished]
COLOURS = ("turquoise", "crimson", "ochre", "violet")
# The scripted judge counts 7 + 1 tokens a call, the rival 10 + 5.
NO_CONTROLS = ("--controls", 0, "--judge-concurrency", 1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    records = [instance(f"q{i}", answer=colour) for i, colour in enumerate(COLOURS)]
    return write_data(tmp_path / "data.json", records)


@pytest.fixture
def judging(data: Path, model: ScriptedJudge, tmp_path: Path) -> tuple[object, ...]:
    lines = [{"question_id": f"q{i}", "hypothesis": f"It is {c}."} for i, c in enumerate(COLOURS)]
    said = tmp_path / "said.jsonl"
    said.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return (
        *("judge", "--dataset", "longmemeval", "--file", data, "--hypotheses", said),
        *("--judge", model.spec, *NO_CONTROLS),
    )


@pytest.fixture
def running(data: Path, theirs: Rival, model: ScriptedJudge) -> tuple[object, ...]:
    return (
        *("run", "--dataset", "longmemeval", "--file", data, "--assistant", theirs.url),
        *("--profile", "plain", "--mode", "no-memory", "--concurrency", 1),
        *("--judge", model.spec, *NO_CONTROLS),
    )


def report(out: Path) -> Any:
    return json.loads((out / "report.json").read_text())


def longest_prompt(model: ScriptedJudge) -> int:
    """In tokens as the harness estimates them."""
    return max(len(body["messages"][0]["content"]) for body in model.sent) // 4


def test_judging_is_counted_and_priced_apart_from_the_assistant(
    harness: Harness, running: tuple[object, ...], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    ended = harness(*running, "--out", out, "--price", "1/2", "--judge-price", "10/100")
    assert ended.code == 0
    told = report(out)
    assert told["cost"] == {
        "assistant_usd": pytest.approx(4 * (10 * 1 + 5 * 2) / 1e6),
        "judge_usd": pytest.approx(4 * (7 * 10 + 1 * 100) / 1e6),
    }
    assert told["tokens"]["judge"]["asked"] == {
        "calls": 4,
        "estimated_calls": 0,
        "prompt_tokens": 28,
        "completion_tokens": 4,
    }
    assert (
        "| judge, but for kept replies | 28 | 4 | 4 | 0.0007 |" in (out / "report.md").read_text()
    )


def test_kept_replies_cost_nothing_again(
    harness: Harness, judging: tuple[object, ...], tmp_path: Path
) -> None:
    kept = ("--judge-cache", tmp_path / "kept", "--judge-price", "10/100")
    for name in ("first", "again"):
        assert harness(*judging, *kept, "--out", tmp_path / name).code == 0
    first, again = report(tmp_path / "first"), report(tmp_path / "again")
    assert first["cost"]["judge_usd"] > 0
    assert again["cost"]["judge_usd"] == 0
    assert again["tokens"]["judge"]["calls"] == 4
    assert again["tokens"]["judge"]["asked"]["calls"] == 0


def test_without_a_price_the_cost_is_not_known(
    harness: Harness, judging: tuple[object, ...], tmp_path: Path
) -> None:
    harness(*judging, "--out", tmp_path / "run")
    assert report(tmp_path / "run")["cost"]["judge_usd"] is None


def test_a_second_judge_has_a_price_of_its_own(
    harness: Harness, judging: tuple[object, ...], model: ScriptedJudge, tmp_path: Path
) -> None:
    second = ("--second-judge", f"strict=other@{model.url}", "--judge-price", "1/1,100/100")
    assert harness(*judging, *second, "--out", tmp_path / "run").code == 0
    assert report(tmp_path / "run")["cost"]["judge_usd"] == pytest.approx(4 * 8 * 101 / 1e6)


def test_a_token_budget_stops_judging_and_a_larger_one_goes_on(
    harness: Harness, judging: tuple[object, ...], model: ScriptedJudge, tmp_path: Path
) -> None:
    harness(*judging, "--out", tmp_path / "free")
    held = longest_prompt(model)
    model.sent.clear()
    out, limit = tmp_path / "run", held + 8 + 4  # room for one reply besides the next prompt
    ended = harness(*judging, "--out", out, "--max-tokens", limit)
    assert (ended.code, f"--max-tokens {limit}: the next call" in ended.err) == (2, True)
    assert len(model.sent) == 2
    assert harness(*judging, "--out", out, "--max-tokens", 100_000).code == 0
    assert len(model.sent) == 4


def test_assistant_and_judge_share_one_budget(
    harness: Harness,
    running: tuple[object, ...],
    theirs: Rival,
    model: ScriptedJudge,
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    # Four answers cost 80 millionths of a dollar: nothing is left for the judge.
    prices = ("--price", "1/2", "--judge-price", "10/100")
    ended = harness(*running, "--out", out, *prices, "--max-cost", "0.0009")
    assert (ended.code, "--max-cost 0.0009" in ended.err) == (2, True)
    assert (len(theirs.chats()), len(model.sent)) == (4, 0)
    assert harness(*running, "--out", out, *prices, "--max-cost", "1").code == 0
    assert len(model.sent) == 4


def test_money_for_a_judge_without_a_price_is_refused_before_anything_is_sent(
    harness: Harness, running: tuple[object, ...], theirs: Rival, tmp_path: Path
) -> None:
    ended = harness(*running, "--out", tmp_path / "run", "--price", "1/2", "--max-cost", "1")
    assert ended.code == 2
    assert "--max-cost needs a price of the judge: --judge-price" in ended.err
    assert theirs.chats() == []


@pytest.mark.parametrize(
    ("stage", "known", "wanted"),
    [("replay", "--price", "--judge-price"), ("judge", "--judge-price", "--price")],
)
def test_a_stage_alone_takes_the_price_of_what_others_paid(
    harness: Harness,
    running: tuple[object, ...],
    model: ScriptedJudge,
    tmp_path: Path,
    stage: str,
    known: str,
    wanted: str,
) -> None:
    out = tmp_path / "run"
    assert harness(*running, "--out", out).code == 0
    _, *data_and_assistant = running[: running.index("--judge")]
    telling = ("--hypotheses", out / "hypotheses.jsonl", "--judge", model.spec, *NO_CONTROLS)
    alone = {"replay": data_and_assistant, "judge": [*data_and_assistant[:4], *telling]}[stage]
    command = (stage, *alone, "--out", out, "--max-cost", "1", known, "1/2")
    ended = harness(*command)
    assert (ended.code, f": {wanted}" in ended.err) == (2, True), ended.err
    ended = harness(*command, wanted, "1/2")
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("price", ["1", "1/x", "1/1,2", "1/-1"])
def test_judge_prices_that_are_none(
    harness: Harness, judging: tuple[object, ...], tmp_path: Path, price: str
) -> None:
    second = ("--second-judge", "strict=m@http://127.0.0.1:9")
    ended = harness(*judging, *second, "--out", tmp_path / "run", "--judge-price", price)
    assert (ended.code, "--judge-price" in ended.err) == (2, True)


def test_a_dry_run_of_judging_counts_the_calls_that_are_then_made(
    harness: Harness, judging: tuple[object, ...], model: ScriptedJudge, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    more = ("--controls", 2, "--judge-price", "1000/0", "--out", out)
    ended = harness(*judging, *more, "--dry-run")
    assert (ended.code, out.exists(), model.sent) == (0, False, [])
    assert harness(*judging, *more).code == 0
    assert f"controls included │ {len(model.sent)} " in " ".join(ended.out.split())
    assert "US dollars" in ended.out


def test_a_dry_run_of_a_run_has_its_judging(
    harness: Harness, running: tuple[object, ...], model: ScriptedJudge, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    more = ("--out", out, "--price", "1/1", "--judge-price", "1/1", "--repeat", 3)
    ended = harness(*running, *more, "--dry-run")
    said = " ".join(ended.out.split())
    assert "calls of judge longmemeval-1=examiner, controls included │ 4 │" in said
    assert "US dollars of all 3 repeats" in said
    assert model.sent == []


def test_repeats_say_how_far_they_wander(
    harness: Harness, running: tuple[object, ...], model: ScriptedJudge, tmp_path: Path
) -> None:
    out, asked = tmp_path / "runs", iter(range(100))
    # Every second verdict passes in the first run, all in the second: half of the questions flip.
    model.says = lambda _: "no" if (n := next(asked)) < 4 and n % 2 else "yes"
    ended = harness(*running, "--out", out, "--repeat", 2)
    assert ended.code == 0
    (repeats,) = json.loads((out / "compare.json").read_text())["repeats"]
    assert (repeats["names"], repeats["mean"]) == (["1", "2"], 0.75)
    assert repeats["flipped"]["value"] == 0.5
    assert "Repeats, %" in ended.out
    assert "50.0" in ended.out
    assert harness(*running, "--out", out, "--repeat", 2).code == 0
    assert len(model.sent) == 8


def test_repeats_share_one_budget(
    harness: Harness,
    running: tuple[object, ...],
    theirs: Rival,
    model: ScriptedJudge,
    tmp_path: Path,
) -> None:
    harness(*running, "--out", tmp_path / "free")
    held = longest_prompt(model)
    model.sent.clear()
    theirs.arrived.clear()
    # In millionths: a run costs 4 * 20 + 4 * 170; in the second, one verdict is paid beside the
    # prompt that is held back.
    limit = (4 * 20 + 4 * 170 + 4 * 20 + 170 + 100 + 10 * held) / 1e6
    prices = ("--price", "1/2", "--judge-price", "10/100", "--repeat", 2)
    ended = harness(*running, "--out", tmp_path / "runs", *prices, "--max-cost", f"{limit:.6f}")
    assert (ended.code, "--max-cost" in ended.err) == (2, True)
    assert (len(theirs.chats()), len(model.sent)) == (8, 4 + 2)


def test_repeats_are_told_from_a_single_run(
    harness: Harness, running: tuple[object, ...], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert harness(*running, "--out", out).code == 0
    ended = harness(*running, "--out", out, "--repeat", 2)
    assert (ended.code, "holds a single run" in ended.err) == (2, True)
    more = ("--out", tmp_path / "other", "--repeat", 2, "--junit", tmp_path / "junit.xml")
    ended = harness(*running, *more)
    assert (ended.code, "--junit does not work with --repeat" in ended.err) == (2, True)
