"""Embeddings of a server: our own route over a socket, and what is sent to one that is scripted."""

from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI, Response
from served import served

from assistant.app import create_app
from assistant.models.encoders import ServerEncoder
from assistant.settings import Settings
from assistant.settings.groups import EmbedderServer
from memory_store.embedding import HashEncoder, TextKind
from memory_store.errors import EmbeddingFailed


def scripted(sent: list[dict[str, Any]], reply: dict[str, Any] | int | None = None) -> FastAPI:
    app = FastAPI()

    @app.post("/v1/embeddings")
    async def embeddings(body: dict[str, Any]) -> Any:
        sent.append(body)
        if isinstance(reply, int):
            return Response("the texts were: …", status_code=reply)
        if reply is not None:
            return reply
        rows = [{"index": n, "embedding": [n + 1, 2, 2]} for n in range(len(body["input"]))]
        return {"data": rows[::-1]}

    return app


def test_a_server_gives_the_vectors_that_its_model_gives_here(tmp_path: Any) -> None:
    with served(create_app(Settings(data_dir=tmp_path, embedder="hash"))) as url:
        encoder = ServerEncoder("hash", EmbedderServer(base_url=f"{url}/v1/"))
        rows = encoder.encode(["green tea", "black coffee"], TextKind.DOCUMENT)
    here = HashEncoder()
    assert np.allclose(rows, here.encode(["green tea", "black coffee"], TextKind.DOCUMENT))
    assert encoder.identity == here.identity


def test_queries_and_documents_are_told_apart_as_the_server_wants_it() -> None:
    sent: list[dict[str, Any]] = []
    with served(scripted(sent)) as url:
        how = EmbedderServer(
            base_url=f"{url}/v1", query_prefix="query: ", document_prefix="passage: "
        )
        encoder = ServerEncoder("e5", how)
        rows = encoder.encode(["a", "b"], TextKind.QUERY)
        encoder.encode(["c"], TextKind.DOCUMENT)
        typed = ServerEncoder("e5", EmbedderServer(base_url=f"{url}/v1", input_type=True))
        typed.encode(["d"], TextKind.QUERY)
    assert np.allclose(rows, [[1 / 3, 2 / 3, 2 / 3], np.array([2, 2, 2]) / np.sqrt(12)])
    assert [one["input"] for one in sent[1:3]] == [["query: a", "query: b"], ["passage: c"]]
    assert "input_type" not in sent[0]
    assert (sent[-1]["input"], sent[-1]["input_type"]) == (["d"], "query")
    assert not encoder.identity.kinds_alike
    assert not typed.identity.kinds_alike
    assert encoder.identity.name != typed.identity.name


@pytest.mark.parametrize("reply", [500, {}, {"data": []}, {"data": [{"index": 0}]}])
def test_a_server_that_gives_no_vectors_stops_the_start(reply: Any) -> None:
    with served(scripted([], reply)) as url, pytest.raises(EmbeddingFailed) as failed:
        ServerEncoder("e5", EmbedderServer(base_url=f"{url}/v1"))
    assert "texts were" not in str(failed.value)


def test_an_address_where_nobody_answers_stops_the_start() -> None:
    with pytest.raises(EmbeddingFailed, match="no answer"):
        ServerEncoder("e5", EmbedderServer(base_url="http://127.0.0.1:9/v1"))


def test_the_model_of_a_server_must_be_named() -> None:
    with pytest.raises(ValueError, match="embedder names the model"):
        Settings(embedder_server=EmbedderServer(base_url="http://127.0.0.1:9/v1"))
