"""Ten thousand rounds to a Qdrant server and back: the same memory, to the byte and to the rank."""

from pathlib import Path

import pytest
from memories import Steps, answers, held, made_up, questions, remember
from qdrant_binary import Qdrant

from memory_store.engines import EdgeEngine, EdgeOperator, ServerOperator
from memory_store.transfer import migrate

pytestmark = [pytest.mark.slow, pytest.mark.qdrant_server]

# Of more than 400 rounds that hold a word equally often, which ones count may differ between the
# engines (docs/decisions/0004-server-engine.md), so no user has as many.
ROUNDS, USERS = 10_000, 40
QUESTIONS = questions(100, users=USERS)


async def test_there_and_back(tmp_path: Path, qdrant: Qdrant, collection: str) -> None:
    home, back = tmp_path / "home", tmp_path / "back"
    await remember(EdgeEngine(home), made_up(ROUNDS, users=USERS))
    there = ServerOperator(qdrant.url, grpc_port=qdrant.grpc_port, collection=collection)
    first = await migrate(EdgeOperator(home), there, Steps())
    second = await migrate(there, EdgeOperator(back), Steps())
    assert first.rounds == second.rounds == ROUNDS
    assert first.checksum == second.checksum

    before = sorted(await held(EdgeOperator(home)))
    assert len(before) == ROUNDS + 2  # a line before the rounds, and one after them
    assert sorted(await held(there)) == before
    assert sorted(await held(EdgeOperator(back))) == before

    ranked = await answers(EdgeEngine(home), QUESTIONS)
    assert all(len(ids) == 10 for ids in ranked)
    assert await answers(there, QUESTIONS) == ranked
    assert await answers(EdgeEngine(back), QUESTIONS) == ranked
