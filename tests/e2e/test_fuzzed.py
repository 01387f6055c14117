"""Real servers under requests at random: no failure, and every refusal in one form."""

import json
from pathlib import Path

import pytest
from fuzz import Target, batch_of, fuzz
from served import served

from assistant import Settings, create_app
from assistant.access.limits import ClientPatience
from assistant.serving.bounded_connection import ConnectionConfig


def test_a_few_hundred(tmp_path: Path) -> None:
    app = create_app(Settings(embedder="hash", data_dir=tmp_path))
    config = ConnectionConfig(
        app, connections=100, patience=ClientPatience(), timeout_graceful_shutdown=2
    )
    with served(app, config=config) as url:
        counts = batch_of(0, seed=2026, count=250, target=Target(url, ()))
    assert counts.findings == []
    assert counts.answers.total() == 250
    assert {"200", "400", "403", "404", "405"} <= set(counts.answers)


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["edge", pytest.param("server", marks=pytest.mark.qdrant_server)]
)
def test_ten_thousand_in_batches(tmp_path: Path, engine: str) -> None:
    """`make fuzz` sends ten times as many. What is done is not done again."""
    assert fuzz(tmp_path, requests=4000, seed=1, engine=engine) == 0
    assert fuzz(tmp_path, requests=10_000, seed=1, engine=engine) == 0
    lines = (tmp_path / "batches.jsonl").read_text().splitlines()
    assert [json.loads(line)["batch"] for line in lines] == list(range(10))
