"""The two routes meet: the harness calls our server as a leaderboard would."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import Running, Server

Harness = Callable[..., Running]


def test_nothing_is_lost_or_doubled_and_as_much_is_found_as_by_our_own_routes(
    server: Server, harness: Harness, tmp_path: Path
) -> None:
    server.end()
    server.start(ASSISTANT_LEADERBOARD="true")

    def ended(*arguments: object) -> str:
        process = harness(*arguments)
        output, _ = process.communicate(timeout=240)
        assert process.returncode == 0, output
        return output

    board = f"{server.url}/leaderboard"
    few = ("--memories", 40, "--users", 4, "--writers", 16)
    told = json.loads(ended("load", "--assistant", board, *few, "--json"))
    assert (told["memories"], told["requests"]) == (40, 75)
    assert (told["lost"], told["doubled"], told["leaked"], told["refused"]) == (0, 0, 0, 0)

    questions = ("retrieval", "--dataset", "sample", "--limit", 3)
    ended(*questions, "--assistant", server.url, "--out", tmp_path / "own")
    store = ("--assistant", board, "--profile", "add-search")
    ended(*questions, *store, "--out", tmp_path / "store")
    found = {name: recall(tmp_path / name) for name in ("own", "store")}
    assert found["store"] == found["own"]
    assert found["own"]["recall_all@50"]["value"] == 1


def recall(run: Path) -> dict[str, Any]:
    """How much of the evidence is among the first rounds."""
    found = json.loads((run / "report.json").read_text())["retrieval"]["round"]
    # The convention does not say when a question is asked, which moves the first few.
    return {name: found[name] for name in ("recall_all@10", "recall_all@50")}
