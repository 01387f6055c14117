"""mem0 without a language model (`infer=False`): each message is a memory, on its default store."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any

from benchmarks.rivals.rounds import RecalledRound, Round
from benchmarks.rivals.serving import serve
from benchmarks.rivals.wire import DIMENSION, MODEL


class Mem0Memory:
    """The open-source `Memory` on qdrant-client's local mode, which is what it uses by default."""

    def __init__(self, folder: Path, embeddings: str) -> None:
        # The library reads these on import. It keeps an id of the machine in its folder.
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0")}
        from mem0 import Memory

        self._memory = Memory.from_config(configuration(folder, embeddings))
        self._memory.vector_store = OneAtATime(self._memory.vector_store)

    def add(self, user: str, rounds: Sequence[Round]) -> None:
        """Add one round in each call, as its documentation shows for a growing conversation."""
        for told in rounds:
            self._memory.add(messages(told), user_id=user, metadata=metadata(told), infer=False)

    def search(self, user: str, question: str, limit: int) -> list[RecalledRound]:
        """The best messages; a low score leaves no message out."""
        reply = self._memory.search(question, top_k=limit, filters={"user_id": user}, threshold=0.0)
        return found(reply)

    def forget(self, user: str) -> None:
        """Delete the user's memories."""
        self._memory.delete_all(user_id=user)


class OneAtATime:
    """A store whose methods wait for each other: local mode breaks when two threads write. Texts
    are still encoded side by side.
    """

    def __init__(self, store: Any) -> None:
        self._store = store
        self._lock = RLock()

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._store, name)
        return self._waiting(value) if callable(value) else value

    def _waiting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:
            with self._lock:
                return method(*given, **options)

        return call


def configuration(folder: Path, embeddings: str) -> dict[str, Any]:
    """mem0's configuration: store and history in a folder, an embedder on this machine, and a model
    that is never called."""
    store = {"path": str(folder / "qdrant"), "embedding_model_dims": DIMENSION, "on_disk": True}
    embedder = {"model": MODEL, "openai_base_url": embeddings, "api_key": "unused"}
    return {
        "vector_store": {"provider": "qdrant", "config": store},
        "embedder": {"provider": "openai", "config": embedder},
        "llm": {"provider": "openai", "config": {"api_key": "unused"}},
        "history_db_path": str(folder / "history.db"),
    }


def messages(told: Round) -> list[dict[str, str]]:
    """A round as a conversation."""
    return [{"role": role, "content": words} for role, words in told.turns]


def metadata(told: Round) -> dict[str, Any]:
    """The metadata that are kept with each message of a round."""
    return {"session": told.session, "round": told.index, "said": told.said}


def found(reply: Mapping[str, Any]) -> list[RecalledRound]:
    """The memories in a search's reply; each text begins with who spoke."""
    return [
        RecalledRound(
            memory["metadata"]["session"],
            memory["metadata"]["round"],
            memory["metadata"]["said"],
            f"{memory['role']}: {memory['memory']}",
        )
        for memory in reply["results"]
    ]


if __name__ == "__main__":
    serve(Mem0Memory)
