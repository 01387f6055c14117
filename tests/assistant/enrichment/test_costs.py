"""What an import or an extraction will cost, told before; and what stops at a cap."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import assert_error, record
from extractions import extracting
from pydantic import SecretStr
from scripted_model import ScriptedModel
from served import served

from assistant import Settings, create_app
from assistant.enrichment.costs import CostsBefore, DailyCap
from assistant.enrichment.extraction import ExtractionWanted
from assistant.errors import ConfigError
from assistant.models.chat_model import Message, RoleCounts, TokenCounts
from assistant.models.token_counter import Prices
from assistant.services import open_services
from memory_store import Round

NOW = datetime(2023, 6, 10, 9, tzinfo=UTC)
Serve = Callable[..., Any]


@pytest.fixture
def serve(model: ScriptedModel, tmp_path: Path) -> Serve:
    """Serve an assistant that extracts with the scripted model, at a price."""

    @contextmanager
    def serving(prices: tuple[float, float] | None = (10.0, 20.0), **how: Any) -> Iterator[Any]:
        settings = Settings(
            embedder="hash",
            data_dir=tmp_path,
            extract_model="openai/fake",
            extract_model_base_url=model.url,
            extract_model_api_key=SecretStr("k"),
            models={"prices": {"openai/fake": prices} if prices else {}},
            enrichment={"idle_seconds": 600.0, **how},
        )
        with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
            yield client

    return serving


def export(*texts: str) -> str:
    """A session of each text, as another product gives it out."""
    lines = []
    for number, text in enumerate(texts):
        message = {"role": "user", "content": text, "timestamp": "2023-05-20T10:00:00Z"}
        lines.append(json.dumps({"session_id": f"s{number}", "messages": [message]}))
    return "\n".join(lines)


def bring_in(client: httpx.Client, content: str, **asked: Any) -> httpx.Response:
    params = {"format": "auto", **asked}
    return client.post("/v1/users/ann/import", content=content, params=params)


def test_a_dry_run_tells_the_costs(serve: Serve) -> None:
    with serve() as client:
        costs = bring_in(client, export("I fence.", "I row."), dry_run="true").json()["costs"]
        assert (costs["rounds"], costs["calls"]) == (2, 2)
        # The instructions and known facts are most of what is read.
        assert 2 * 1200 < costs["tokens"] < 2 * 6000
        assert 10e-6 * costs["tokens"] < costs["dollars"] < 20e-6 * costs["tokens"]
        assert costs["minutes"] > 0
        assert "costs" not in bring_in(client, export("I fence.")).json()
        again = bring_in(client, export("I fence.", "I row."), dry_run="true").json()["costs"]
        assert (again["rounds"], again["calls"]) == (1, 1)
        saved = client.get("/v1/users/ann/export").text
        ours = client.post(
            "/v1/users/bob/import", content=saved, params={"dry_run": "true"}
        ).json()["costs"]
        assert (ours["rounds"], ours["calls"]) == (1, 1)


def test_without_a_model_it_costs_time_alone(http: httpx.Client) -> None:
    costs = bring_in(http, export("I fence."), dry_run="true").json()["costs"]
    assert (costs["rounds"], costs["calls"], costs["tokens"], costs["dollars"]) == (1, 0, 0, 0)


@pytest.mark.parametrize("cap", [{"most_tokens": 100}, {"most_dollars": 0.001}])
def test_what_costs_more_than_it_may_is_not_stored(serve: Serve, cap: dict[str, float]) -> None:
    with serve() as client:
        refused = bring_in(client, export("I fence.", "I row."), **cap)
        error = assert_error(refused, 400, "invalid_request_error", "costs_too_much")
        assert "nothing was stored" in error["message"]
        assert client.get("/v1/sessions", params={"user_id": "ann"}).json()["data"] == []
        enough = {name: 1_000_000 * value for name, value in cap.items()}
        done = bring_in(client, export("I fence.", "I row."), **enough).json()
        assert (done["imported"], done["costs"]["calls"]) == (2, 2)


def test_a_cap_in_dollars_needs_a_price(serve: Serve, tmp_path: Path) -> None:
    with serve(prices=None) as client:
        dry = bring_in(client, export("I fence."), dry_run="true").json()
        assert dry["costs"]["dollars"] is None
        refused = bring_in(client, export("I fence."), most_dollars=100)
        error = assert_error(refused, 400, "invalid_request_error", "costs_too_much")
        assert "models.prices" in error["message"]


async def test_nor_does_a_day_have_one_without_it(tmp_path: Path) -> None:
    settings = Settings(
        embedder="hash",
        data_dir=tmp_path,
        extract_model="openai/nobody-knows-it",
        extract_model_base_url="http://127.0.0.1:9",
        extract_model_api_key=SecretStr("k"),
        enrichment={"dollars_a_day": 1.0},
    )
    with pytest.raises(ConfigError, match=r"models\.prices"):
        async with open_services(settings):
            pass


def test_extraction_stops_at_the_cap_of_the_day(serve: Serve, model: ScriptedModel) -> None:
    model.on("extract_facts").always(extracting(lambda one, shown: []))
    with serve(tokens_a_day=1) as client:
        first = record(client, "ann", "a", "I fence.", close=True).json()["enrichment"]
        assert first == {"pending": 0, "done": 1, "failed": 0}
        second = record(client, "ann", "b", "I row.", close=True).json()["enrichment"]
        assert second == {"pending": 1, "done": 0, "failed": 0}
        assert len(model.sent) == 1
        waiting = client.get("/v1/usage").json()["waiting"]
        assert (waiting["rounds"], waiting["calls"], waiting["paused"]) == (1, 1, True)
        assert waiting["dollars"] > 0
    with serve() as client:
        client.post(
            "/v1/sessions/b/messages", json={"user_id": "ann", "messages": [], "close": True}
        )
        assert client.get("/v1/usage").json()["waiting"]["rounds"] == 0


def test_a_new_day_begins_anew() -> None:
    now = [NOW]
    counts = RoleCounts()
    cap = DailyCap(counts, lambda: now[0], 100, 0)
    counts.count(TokenCounts(60, 39))
    assert not cap.is_reached()
    counts.count(TokenCounts(1, 0))
    assert cap.is_reached()
    now[0] += timedelta(days=1)
    assert not cap.is_reached()
    counts.count(TokenCounts(100, 0))
    assert cap.is_reached()


def test_dollars_and_what_is_not_counted() -> None:
    dear, silent = RoleCounts(), RoleCounts()
    by_dollars = DailyCap(dear, lambda: NOW, 0, 0.5)
    dear.count(TokenCounts(1, 1, 0.6))
    assert by_dollars.is_reached()
    by_tokens = DailyCap(silent, lambda: NOW, 10, 0)
    silent.count(None)
    assert not by_tokens.is_reached()
    by_tokens.send([Message("user", "x" * 40)])
    assert by_tokens.is_reached()
    assert not DailyCap(dear, lambda: NOW, 0, 0).is_reached()


def test_encoding_elsewhere_costs_too_and_calls_that_were_made_show_how_much_is_written() -> None:
    rounds = [Round("ann", "s", 0, NOW, "x" * 4000)]
    nothing = CostsBefore(None, Prices(), Prices(1e-6, 0.0), RoleCounts())
    costs = nothing.of(rounds, rounds)
    assert (costs.calls, costs.tokens, costs.dollars) == (0, 2000, 0.002)
    wanted = ExtractionWanted("openai/fake")
    seen = RoleCounts()
    before = CostsBefore(wanted, Prices(1e-6, 1e-6), None, seen).of(rounds, rounds)
    seen.count(TokenCounts(1000, 1000))
    after = CostsBefore(wanted, Prices(1e-6, 1e-6), None, seen).of(rounds, rounds)
    assert after.tokens == 2 * (before.tokens - 150)
