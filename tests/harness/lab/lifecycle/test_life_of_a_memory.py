"""`harness lifecycle` over real HTTP: an assistant that knows all answers, the same with one fault,
interfaces that cannot express a kind, interruptions, restarts and gates.
"""

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import life_oracle
import pytest
from benches import Finished
from served import served

from harness.lab.lifecycle.cases import KINDS, load_cases

Harness = Callable[..., Finished]
CASES = load_cases().cases
TELLING = [kind for kind in KINDS if kind != "never told"]
CAUGHT = {
    "none": [],
    "forgetful": TELLING,
    "never-forgets": ["forgotten", "must not come back"],
    "ignores-time": ["when it was", "as of a day"],
    "never-decides": ["changed", "corrected", "as of a day", "after a restart"],
    "mixes-users": ["asked by somebody else"],
    "loses-at-restart": ["after a restart"],
}


def oracle(fault: str) -> str:
    return shlex.join([sys.executable, life_oracle.__file__, "--fault", fault])


def report_of(out: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
    return report


def some(folder: Path, kinds: dict[str, int]) -> Path:
    """A folder with the first so many cases of these kinds."""
    folder.mkdir()
    shipped = Path(sys.modules["harness.lab.lifecycle.cases"].__file__ or "").parent / "cases"
    for file in shipped.glob("*.json"):
        data = json.loads(file.read_text())
        if data["kind"] in kinds:
            data["cases"] = data["cases"][: kinds[data["kind"]]]
            (folder / file.name).write_text(json.dumps(data))
    return folder


@contextmanager
def running(fault: str) -> Iterator[tuple[str, ...]]:
    """How to reach an oracle: where a restart is all that matters, it is really restarted."""
    if fault in ("none", "loses-at-restart"):
        yield ("--server", oracle(fault))
        return
    with served(life_oracle.app(life_oracle.Oracle(fault))) as url:
        yield ("--assistant", url, "--restart", "true")


@pytest.mark.parametrize("each", [4, pytest.param(99, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", CAUGHT)
def test_each_fault_is_caught_by_its_kinds_and_by_no_other(
    fault: str, each: int, harness: Harness, tmp_path: Path
) -> None:
    folder, out = some(tmp_path / "cases", dict.fromkeys(KINDS, each)), tmp_path / "run"
    with running(fault) as there:
        ended = harness("lifecycle", *there, "--profile", "openai", "--cases", folder, "--out", out)
    assert ended.code == 0, ended.err
    report = report_of(out)
    assert [k["kind"] for k in report["kinds"] if k["right"]["value"] < 1] == CAUGHT[fault]
    assert report["right"]["n"] == min(each * len(KINDS), len(CASES))


def test_a_plain_profile_cannot_express_other_users_and_nobody_restarts_it(
    harness: Harness, tmp_path: Path
) -> None:
    kinds = {"told": 2, "asked by somebody else": 2, "after a restart": 2}
    folder, out = some(tmp_path / "cases", kinds), tmp_path / "run"
    with served(life_oracle.app(life_oracle.Oracle("none"))) as url:
        ended = harness(
            "lifecycle", "--assistant", url, "--profile", "plain", "--cases", folder, "--out", out
        )
    assert ended.code == 0, ended.err
    report = report_of(out)
    assert {k["kind"]: (k["right"]["n"], k["not_put"]) for k in report["kinds"]} == {
        "told": (2, 0), "asked by somebody else": (0, 2), "after a restart": (0, 2),
    }  # fmt: skip
    reasons = " ".join(report["not_put"])
    assert "not possible: profile plain names no user" in reasons
    assert "not run: nobody said how to restart" in reasons
    assert "not emptied between cases" in report["remarks"][1]


def test_a_profile_without_dates_cannot_be_asked_when_it_was(
    harness: Harness, tmp_path: Path
) -> None:
    profile = tmp_path / "undated.toml"
    profile.write_text('[body]\nuser = "$user"\n')
    folder = some(tmp_path / "cases", {"told": 1, "when it was": 2, "as of a day": 2})
    with served(life_oracle.app(life_oracle.Oracle("none"))) as url:
        harness(
            "lifecycle", "--assistant", url, "--profile", profile, "--cases", folder,
            "--out", tmp_path / "run",
        )  # fmt: skip
    assert report_of(tmp_path / "run")["not_put"] == {
        "not possible: profile undated tells no dates": [
            "when-01",
            "when-02",
            "as-of-01",
            "as-of-02",
        ]
    }


RECORDING = """
[body]
user = "$user"
[text]
prefix = "[$weekday $date] "
[record]
path = "/v1/notes"
body = { user = "$user", turns = "$turns" }
"""


def test_what_was_said_is_recorded_where_the_profile_has_a_route_for_it(
    harness: Harness, tmp_path: Path
) -> None:
    (tmp_path / "notes.toml").write_text(RECORDING)
    kinds = ("told", "told by the assistant", "changed", "when it was", "forgotten")
    folder = some(tmp_path / "cases", dict.fromkeys(kinds, 3))
    for out, more in ("recorded", ()), ("chatted", ("--chat-only",)):
        with served(life_oracle.app(life_oracle.Oracle("none"))) as url:
            harness(
                "lifecycle", "--assistant", url, "--profile", tmp_path / "notes.toml",
                "--cases", folder, "--out", tmp_path / out, *more,
            )  # fmt: skip
        assert report_of(tmp_path / out)["right"]["value"] == 1.0
    assert report_of(tmp_path / "recorded")["manner"] == "the profile's [record] and chat"
    assert report_of(tmp_path / "chatted")["manner"] == "chat alone"


def test_an_interrupted_run_goes_on_where_it_ended(harness: Harness, tmp_path: Path) -> None:
    folder = some(tmp_path / "cases", {"told": 3, "changed": 2})
    out = tmp_path / "run"
    arguments = ("lifecycle", "--profile", "openai", "--cases", folder, "--out", out)
    with served(life_oracle.app(life_oracle.Oracle("none"))) as url:
        assert harness(*arguments, "--assistant", url).code == 0
    lines = (out / "cases.jsonl").read_text().splitlines(keepends=True)
    (out / "cases.jsonl").write_text("".join(lines[:2]) + lines[2][:20])
    with served(life_oracle.app(life_oracle.Oracle("none"))) as url:
        ended = harness(*arguments, "--assistant", url)
    assert "3 of 5 cases to put" in ended.err
    assert report_of(out)["right"]["n"] == 5
    assert (out / "cases.jsonl").read_text().startswith("".join(lines[:2]))


def test_a_budget_stops_a_run_that_can_be_continued(harness: Harness, tmp_path: Path) -> None:
    folder, out = some(tmp_path / "cases", {"told": 6}), tmp_path / "run"
    with served(life_oracle.app(life_oracle.Oracle("none"))) as url:
        arguments = (
            "lifecycle", "--assistant", url, "--profile", "openai", "--cases", folder, "--out", out,
            "--concurrency", 1,
        )  # fmt: skip
        stopped = harness(*arguments, "--max-tokens", 200)
        assert (stopped.code, "--max-tokens 200" in stopped.err) == (2, True), stopped.err
        put = len((out / "cases.jsonl").read_text().splitlines())
        assert 0 < put < 6
        assert f"{6 - put} of 6 cases to put" in harness(*arguments).err
    spent = json.loads((out / "manifest.json").read_text())["invocations"]
    assert all(one["spent"]["calls"] for one in spent)


def test_a_failing_server_leaves_errors_that_are_tried_again(
    harness: Harness, tmp_path: Path
) -> None:
    folder, out = some(tmp_path / "cases", {"told": 2}), tmp_path / "run"
    profile = tmp_path / "wrong.toml"
    profile.write_text('path = "/v1/nothing"\n[body]\nuser = "$user"\n[text]\nprefix = "$date "\n')
    with served(life_oracle.app(life_oracle.Oracle("none"))) as url:
        arguments = ("--assistant", url, "--profile", profile, "--cases", folder, "--out", out)
        ended = harness("lifecycle", *arguments)
        assert (ended.code, report_of(out)["kinds"][0]["error"]) == (1, 2)
        assert "status 404" in report_of(out)["failures"][0]["error"]
        assert "2 of 2 cases to put" in harness("lifecycle", *arguments).err


@pytest.mark.parametrize(
    ("gate", "code"),
    [("told=1", 0), ("0.4", 0), ("never told=1", 0), ("all=0.9", 3), ("changed=1", 3)],
)
def test_gates_hold_a_kind_or_all_to_a_share(
    gate: str, code: int, harness: Harness, tmp_path: Path
) -> None:
    folder = some(tmp_path / "cases", {"told": 1, "never told": 1, "forgotten": 2})
    with served(life_oracle.app(life_oracle.Oracle("never-forgets"))) as url:
        ended = harness(
            "lifecycle", "--assistant", url, "--profile", "openai", "--cases", folder,
            "--out", tmp_path / "run", "--fail-under", gate,
        )  # fmt: skip
    assert ended.code == code, ended.err


def test_a_failure_is_shown_with_what_was_told_asked_and_answered(
    harness: Harness, tmp_path: Path
) -> None:
    folder, out = some(tmp_path / "cases", {"forgotten": 1}), tmp_path / "run"
    with served(life_oracle.app(life_oracle.Oracle("never-forgets"))) as url:
        ended = harness(
            "lifecycle", "--assistant", url, "--profile", "openai", "--cases", folder, "--out", out
        )
    assert "must not be there: Marsh" in ended.out
    for face in ("report.md", "report.html"):
        text = (out / face).read_text()
        for part in ("wants forgotten: Please forget", "therapist", "must not be there: Marsh"):
            assert part in text, (face, part)


def test_a_restart_command_restarts_a_running_assistant(harness: Harness, tmp_path: Path) -> None:
    folder, out = some(tmp_path / "cases", {"after a restart": 2}), tmp_path / "run"
    mark = tmp_path / "restarted"
    touch = shlex.join([sys.executable, "-c", f"open({str(mark)!r}, 'a').write('x')"])
    with served(life_oracle.app(life_oracle.Oracle("none"))) as url:
        arguments = ("--assistant", url, "--profile", "openai", "--cases", folder, "--out", out)
        assert harness("lifecycle", *arguments, "--restart", touch).code == 0
    assert (mark.read_text(), report_of(out)["right"]["value"]) == ("x", 1.0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "say either --assistant URL"),
        (("--assistant", "http://127.0.0.1:9", "--server", "x"), "say either --assistant URL"),
        (("--server", "x", "--restart", "y"), "say either --assistant URL"),
        (("--server", "x", "--fail-under", "dreamt=1"), "unknown kind 'dreamt'"),
        (("--server", "x", "--fail-under", "told=2"), "share from 0 to 1"),
    ],
)
def test_what_cannot_be_done_is_refused(
    arguments: tuple[str, ...], said: str, harness: Harness, tmp_path: Path
) -> None:
    ended = harness("lifecycle", *arguments, "--out", tmp_path / "run")
    assert (ended.code, said in ended.err) == (2, True), ended.err


def test_a_directory_of_another_run_is_refused(harness: Harness, tmp_path: Path) -> None:
    folder, out = some(tmp_path / "cases", {"told": 1}), tmp_path / "run"
    with served(life_oracle.app(life_oracle.Oracle("none"))) as url:
        arguments = ("--assistant", url, "--cases", folder, "--out", out)
        assert harness("lifecycle", *arguments, "--profile", "openai").code == 0
        other = harness("lifecycle", *arguments, "--profile", "plain")
        assert (other.code, "another approach" in other.err) == (2, True), other.err
    assert "a run of another kind (lifecycle 1)" in harness("report", out).err
