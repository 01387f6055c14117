"""What a user stated before and still holds, near to some new statements."""

import uuid
from collections.abc import Sequence

from memory_store.embedding.embedder import Embedder
from memory_store.embedding.encoder import TextKind
from memory_store.engines.engine import Engine, Scope
from memory_store.engines.parts import records_in
from memory_store.types import FactLink
from memory_store.updates import superseded_parts

# Statements looked up, and rounds looked at for each.
_MOST_STATEMENTS = 24
_ROUNDS = 8
# Below this cosine two statements are about different things.
_NEAR = 0.3


async def known_facts(
    engine: Engine, embedder: Embedder, user_id: str, statements: Sequence[str], limit: int
) -> list[FactLink]:
    """The user's own facts that nothing replaced, nearest to any of the statements first."""
    asked = list(dict.fromkeys(statements))[:_MOST_STATEMENTS]
    if not asked or not limit:
        return []
    wanted = await embedder.embed(asked, TextKind.DOCUMENT)
    near: set[int] = set()
    for vector in wanted:
        near |= set(await engine.nearest(vector, Scope(user_id), _ROUNDS))
    ids = tuple(str(uuid.UUID(int=id)) for id in sorted(near))
    links = await _standing_facts(engine, user_id, ids) if ids else []
    if not links:
        return []
    rows = await embedder.embed([link.text for link in links], TextKind.DOCUMENT)
    closeness = (rows @ wanted.T).max(axis=1)
    best = sorted(zip(links, closeness, strict=True), key=lambda pair: (-pair[1], pair[0].text))
    return [link for link, cosine in best if cosine >= _NEAR][:limit]


async def _standing_facts(engine: Engine, user_id: str, ids: tuple[str, ...]) -> list[FactLink]:
    records = await records_in(engine, Scope(user_id, ids=ids))
    return [
        FactLink(record.id, fact.text, record.round.session_date)
        for record in records
        for fact in record.facts
        if fact.is_users
        and fact.superseded_by is None
        and not superseded_parts(fact.text, record.facts)
    ]
