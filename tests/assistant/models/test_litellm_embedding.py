"""Embeddings through litellm, by a scripted provider over real HTTP."""

import asyncio
import gc
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI, Response
from pydantic import SecretStr
from served import served

from assistant.models.chat_model import RoleCounts
from assistant.models.encoders import LitellmEncoder
from assistant.services import make_embedder
from assistant.settings import Settings, load_settings
from assistant.settings.groups import EmbedderServer
from memory_store.embedding import TextKind
from memory_store.errors import EmbeddingFailed

MODEL = "openai/text-embedding-3-small"


@pytest.fixture(autouse=True)
def _loops_of_litellm() -> Iterator[None]:
    """litellm leaves an event loop of its own to the garbage collector."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def provider(sent: list[dict[str, Any]], broken: list[Any] | None = None) -> FastAPI:
    app = FastAPI()

    @app.post("/v1/embeddings")
    async def embeddings(body: dict[str, Any]) -> Any:
        sent.append(body)
        if len(sent) > 1 and broken:
            fault = broken[0]
            return Response("{}", status_code=fault) if isinstance(fault, int) else fault
        rows = [
            {"object": "embedding", "index": n, "embedding": [n + 1, 2, 2]}
            for n in range(len(body["input"]))
        ]
        usage = {"prompt_tokens": 8, "total_tokens": 8}
        return {"object": "list", "model": body["model"], "data": rows[::-1], "usage": usage}

    return app


def encoder(url: str, usage: RoleCounts, **how: Any) -> LitellmEncoder:
    server = EmbedderServer(base_url=f"{url}/v1", api_key=SecretStr("k"), timeout=20, **how)
    return LitellmEncoder(MODEL, server, usage)


def test_vectors_tokens_and_cost() -> None:
    sent: list[dict[str, Any]] = []
    usage = RoleCounts()
    with served(provider(sent)) as url:
        made = encoder(url, usage, query_prefix="query: ")
        rows = made.encode(["a", "b"], TextKind.QUERY)
    assert np.allclose(rows[0], [1 / 3, 2 / 3, 2 / 3])
    assert sent[1]["input"] == ["query: a", "query: b"]
    assert (usage.calls, usage.prompt_tokens, usage.failed) == (2, 16, 0)
    assert usage.cost > 0
    assert made.identity.dimension == 3
    assert not made.identity.kinds_alike


@pytest.mark.parametrize("fault", [401, 500, {"object": "list", "data": []}])
def test_what_fails_is_said_and_counted(fault: Any) -> None:
    usage = RoleCounts()
    with served(provider([], [fault])) as url:
        made = encoder(url, usage)
        with pytest.raises(EmbeddingFailed) as failed:
            made.encode(["a secret text"], TextKind.DOCUMENT)
    assert "a secret text" not in str(failed.value)
    assert usage.failed == 1


def test_the_setting_names_it() -> None:
    sent: list[dict[str, Any]] = []
    with served(provider(sent)) as url:
        settings = load_settings(
            embedder=f"litellm:{MODEL}",
            embedder_server={"base_url": f"{url}/v1", "api_key": "k"},
            embedder_cache_mb=0,
        )
        assert asyncio.run(_embedded(settings)) == (MODEL, (1, 3))
    assert sent[-1]["model"] == "text-embedding-3-small"


async def _embedded(settings: Settings) -> tuple[str, tuple[int, ...]]:
    embedder = make_embedder(settings)
    rows = await embedder.embed(["a"], TextKind.QUERY)
    await embedder.close()
    return embedder.identity.name, rows.shape
