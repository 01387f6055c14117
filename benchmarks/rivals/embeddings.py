"""The packaged MiniLM behind OpenAI's embeddings route, as our store uses it: the same batches on
as many cores, the same vectors kept in memory. The first line printed is the address.
"""

import os
import socket
from typing import Any

import uvicorn
from fastapi import FastAPI

from memory_store.embedding import (
    PACKAGED,
    Embedder,
    ModelEncoder,
    TextKind,
)


def application() -> FastAPI:
    """The server, with its model loaded."""
    encoder = ModelEncoder(PACKAGED)
    workers = os.cpu_count() or 1
    embedder = Embedder(encoder, workers=workers, batch_size=encoder.batch_size)
    app = FastAPI()

    @app.post("/v1/embeddings")
    async def embed(body: dict[str, Any]) -> dict[str, Any]:
        given = body["input"]
        texts = [given] if isinstance(given, str) else given
        rows = await embedder.embed(texts, TextKind.DOCUMENT)
        return {
            "object": "list",
            "model": PACKAGED,
            "data": [
                {"object": "embedding", "index": index, "embedding": row}
                for index, row in enumerate(rows.tolist())
            ],
            "usage": {"prompt_tokens": 0, "total_tokens": 0},
        }

    return app


def main() -> None:
    """Serve the application on a free port of 127.0.0.1."""
    app = application()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listening])


if __name__ == "__main__":
    main()
