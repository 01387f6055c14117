"""The server's clock is set back while somebody talks: what is said is taken for no retry."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from calls import chat, record, rounds
from served import served

from assistant import Settings, create_app

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class Clock:
    """Stands still until it is moved."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def http(tmp_path: Path, clock: Clock) -> Iterator[httpx.Client]:
    app = create_app(Settings(embedder="hash", data_dir=tmp_path), clock=clock)
    with served(app) as url, httpx.Client(base_url=url) as client:
        yield client


@pytest.mark.parametrize("seconds", [-60, -3600, -86_400, 3600])
def test_the_same_words_are_kept_again(http: httpx.Client, clock: Clock, seconds: float) -> None:
    for _ in range(2):
        assert record(http, "ann", "s", "I had soup.", "Nice.", timestamp=None).status_code == 200
        chat(http, "ann", "I had tea.", metadata={"session_id": "c", "memory": "write_only"})
        clock.move(seconds)
    assert rounds(http, "ann", "s") == [("I had soup.", "Nice.")] * 2
    assert [said for said, _ in rounds(http, "ann", "c")] == ["I had tea."] * 2


def test_a_retry_is_still_a_retry(http: httpx.Client, clock: Clock) -> None:
    named = {"Idempotency-Key": "k1"}, {"x-stainless-retry-count": "1"}
    for headers in named:
        for _ in range(2):
            body = {"user_id": "ann", "messages": [{"role": "user", "content": "I had soup."}]}
            http.post(f"/v1/sessions/{headers}/messages", json=body, headers=headers)
            clock.move(-60)
        assert len(rounds(http, "ann", str(headers))) == 1
    for _ in range(2):
        record(http, "ann", "t", "I had soup.", timestamp="2026-03-01T12:00:00Z")
        clock.move(-60)
    assert len(rounds(http, "ann", "t")) == 1


def test_what_is_said_later_holds(http: httpx.Client, clock: Clock) -> None:
    for said in ("I live in Ghent.", "I live in Bruges now."):
        record(http, "ann", "s", said, timestamp=None)
        clock.move(-60)
    [older, newer] = http.get("/v1/sessions/s", params={"user_id": "ann"}).json()["data"]
    assert older["facts"][0]["superseded_by"]["text"] == "I live in Bruges now."
    assert newer["facts"][0]["superseded_by"] is None
    assert newer["session_date"] >= older["session_date"]
