"""chromadb: a collection for each user, a document for each round, its own graph index on disk."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.rivals.rounds import RecalledRound, Round
from benchmarks.rivals.serving import serve
from benchmarks.rivals.wire import MODEL


class ChromaMemory:
    """chromadb embedded and persistent, with its embedding function for OpenAI's protocol."""

    def __init__(self, folder: Path, embeddings: str) -> None:
        import chromadb
        from chromadb.utils.embedding_functions import OpenAIEmbeddingFunction

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder), settings=settings)
        self._embed = OpenAIEmbeddingFunction("unused", MODEL, api_base=embeddings)

    def add(self, user: str, rounds: Sequence[Round]) -> None:
        """Add all rounds in one call."""
        self._collection(user).upsert(**documents(rounds))

    def search(self, user: str, question: str, limit: int) -> list[RecalledRound]:
        """The rounds of the nearest documents."""
        return found(self._collection(user).query(query_texts=[question], n_results=limit))

    def forget(self, user: str) -> None:
        """Delete the user's collection."""
        if name_of(user) in [collection.name for collection in self._client.list_collections()]:
            self._client.delete_collection(name_of(user))

    def _collection(self, user: str) -> Any:
        return self._client.get_or_create_collection(name_of(user), embedding_function=self._embed)


def name_of(user: str) -> str:
    """The name of a user's collection: a hash, since a collection's name cannot be any text."""
    return f"user-{hashlib.sha256(user.encode()).hexdigest()[:40]}"


def documents(rounds: Sequence[Round]) -> dict[str, list[Any]]:
    """Rounds as the arguments of a collection's `upsert`."""
    return {
        "ids": [f"{told.session}-{told.index}-{told.turns[0][0]}" for told in rounds],
        "documents": [told.text for told in rounds],
        "metadatas": [
            {"session": told.session, "round": told.index, "said": told.said} for told in rounds
        ],
    }


def found(reply: Mapping[str, Any]) -> list[RecalledRound]:
    """The rounds in a collection's reply to one question."""
    return [
        RecalledRound(kept["session"], kept["round"], kept["said"], text)
        for text, kept in zip(reply["documents"][0], reply["metadatas"][0], strict=True)
    ]


if __name__ == "__main__":
    serve(ChromaMemory)
