"""What a model extracts from a round: the known facts it is shown first, the record that results,
and the state of the enrichment."""

import re
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_store._changes.correction import given_facts
from memory_store._changes.writing import RecordWriter
from memory_store._facts import rule_facts, slot_of, words_of
from memory_store._points import enrichment_to_payload, records_in
from memory_store._types import EnrichmentState, Fact, FactLink, Record, Round, Speaker
from memory_store.embedding.embedder import Embedder
from memory_store.embedding.encoder import TextKind
from memory_store.engines._engine import Claim, Engine, ReadableEngine, UserScope
from memory_store.errors import RoundTaken
from memory_store.language import ENGLISH, Language
from memory_store.language.authorship import Authorship
from memory_store.language.words import terms
from memory_store.scheduler import aside

Cosines = npt.NDArray[Any]
"""A row for each statement, a column for each fact."""
# How many statements are looked up, and how many near rounds are looked at for each. Rounds that
# the statements come from are near too and are left out, so up to `_MOST_OWN` more are asked for.
_MOST_STATEMENTS = 160
_ROUNDS = 8
_MOST_OWN = 32
# Below this cosine two statements are about different things.
_NEAR = 0.15
# How many characters of a failure's reason are stored.
_REASON = 500


async def known_facts(
    engine: ReadableEngine,
    embedder: Embedder,
    user_id: str,
    statements: Sequence[str],
    limit: int,
    besides: Collection[str] = (),
) -> list[FactLink]:
    """The user's facts near to the statements: not replaced, possibly in doubt, and not from the
    rounds `besides`. The nearest to each statement come first, then the second nearest, and so on,
    so that the limit leaves no statement without any."""
    asked = list(dict.fromkeys(statements))[:_MOST_STATEMENTS]
    if not asked or not limit:
        return []
    wanted = await embedder.embed(asked, TextKind.DOCUMENT)
    rounds = _ROUNDS + min(len(besides), _MOST_OWN)
    near: set[int] = set()
    for vector in wanted:
        near |= set(await engine.nearest(vector, UserScope(user_id), rounds))
    ids = {str(uuid.UUID(int=id)) for id in near} - set(besides)
    links = await _standing_facts(engine, user_id, tuple(sorted(ids))) if ids else []
    if not links:
        return []
    rows = await embedder.embed([link.text for link in links], TextKind.DOCUMENT)
    return _nearest_to_each(links, wanted @ rows.T)[:limit]


def _nearest_to_each(links: Sequence[FactLink], closeness: Cosines) -> list[FactLink]:
    """The links by their rank among those near to a statement (row); of one rank nearest first."""
    order = np.argsort(-closeness, axis=1, kind="stable")
    places = ((rank, row) for rank in range(len(links)) for row in range(len(order)))
    found: dict[int, None] = {}
    for rank, group in groupby(places, key=itemgetter(0)):
        near = [(closeness[row, order[row, rank]], order[row, rank]) for _, row in group]
        found |= dict.fromkeys(
            int(link) for cosine, link in sorted(near, reverse=True) if cosine >= _NEAR
        )
    return [links[place] for place in found]


async def _standing_facts(
    engine: ReadableEngine, user_id: str, ids: tuple[str, ...]
) -> list[FactLink]:
    records = await records_in(engine, UserScope(user_id, ids=ids))
    return [
        FactLink(record.id, fact.text, record.round.session_date)
        for record in records
        for fact in record.facts
        if fact.speaker is Speaker.USER
        and fact.superseded_by is None
        and not _is_told_in_parts(fact, record)
    ]


def _is_told_in_parts(fact: Fact, record: Record) -> bool:
    """Whether a part of a compound fact is replaced, and other facts of the record state the parts
    that still hold."""
    parts = [one for one in record.facts if one.text in fact.text != one.text]
    return len({one.superseded_by is None for one in parts}) > 1


_DATE = re.compile(r"\d{4}(?:-\d\d){1,2}")


# Two statements that share at least this part of their words are the same statement.
_SAME = 0.75


def as_stated(text: str, round: Round, language: Language = ENGLISH) -> str:
    """The statement of the round, in the user's own words, that says what this text says; the text
    itself if there is none. Days are not compared, as a model may have worked them out."""
    said = set(terms(_timeless(text, round, language)))
    for own in rule_facts(round, language):
        words = set(terms(_timeless(own.text, round, language)))
        if said and len(said & words) >= _SAME * max(len(words), len(said)) and said <= words:
            return own.text
    return text


def _timeless(statement: str, round: Round, language: Language) -> str:
    for words, _ in language.counted_days(statement, round.session_date):
        statement = statement.replace(words, " ")
    return _undated(statement)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found in a round.

    A fact names in `supersedes` the user's earlier facts that it replaces. `extractor` is the
    identity of model and prompt.
    """

    extractor: str
    facts: tuple[Fact, ...] = ()
    keyphrases: tuple[str, ...] = ()
    summary: str = ""


class Enrichment:
    """Enriches the rounds of an engine, and stores the state of the enrichment in their records."""

    def __init__(self, engine: Engine, writer: RecordWriter, language: Language) -> None:
        self._engine = engine
        self._writer = writer
        self._language = language

    async def done(
        self, record: Record | None, round: Round, extraction: Extraction
    ) -> Record | None:
        """See `MemoryStore.enrich`; `record` is what is stored of the round."""
        if record is None or record.round != round:
            return None
        try:
            done = await self._writer.write(
                [await aside(record.round.size, enriched, record, extraction, self._language)],
                {record.id: round.turn_ids},
            )
        except RoundTaken:
            return None
        return done[0]

    async def failed(
        self, record: Record | None, round: Round, extractor: str, reason: str, most_attempts: int
    ) -> None:
        """See `MemoryStore.enrichment_failed`; `record` is what is stored of the round."""
        if record is None or record.round != round:
            return
        attempts = record.attempts + 1
        final = attempts >= most_attempts
        changed = replace(
            record,
            enrichment=EnrichmentState.FAILED if final else EnrichmentState.PENDING,
            attempts=attempts,
            extractor=extractor,
            failure=reason[:_REASON],
        )
        only = UserScope(round.user_id, ids=(record.id,))
        await self._engine.set_payload(only, enrichment_to_payload(changed), round.turn_ids)

    async def again(self, user_id: str, ids: Sequence[str]) -> None:
        """See `MemoryStore.enrich_again`."""
        again = {"enrichment": EnrichmentState.PENDING.value, "attempts": 0}
        for id in ids:
            failed = UserScope(user_id, ids=(id,), states=(EnrichmentState.FAILED,))
            await self._engine.set_payload(failed, again)

    async def claimed(self, rounds: Sequence[Round], claim: Claim, now: datetime) -> list[Round]:
        """See `MemoryStore.claim`."""
        if not rounds:
            return []
        held = {round.id: round.turn_ids for round in rounds}
        ours = await self._engine.claim(UserScope(rounds[0].user_id), held, claim, now)
        return [round for round in rounds if round.id in ours]


def enriched(record: Record, extraction: Extraction, language: Language = ENGLISH) -> Record:
    """The record with this extraction in place of any earlier one. The rules' facts stay. If the
    user gave the facts, these remain the only ones."""
    by_rule = rule_facts(record.round, language)
    words = words_of(record.round)
    found = [_guarded(record, fact, words, language) for fact in extraction.facts]
    return replace(
        record,
        facts=given_facts(record) or tuple(_distinct([*by_rule, *found])),
        keyphrases=extraction.keyphrases,
        summary=extraction.summary,
        enrichment=EnrichmentState.DONE,
        attempts=record.attempts + 1,
        extractor=extraction.extractor,
        failure="",
    )


def _guarded(record: Record, fact: Fact, words: Authorship, language: Language) -> Fact:
    """The fact with the speaker whose words it has. Unless the user surely said it, it only
    contradicts what it would replace."""
    speaker = _speaker(record, fact, words)
    is_sure = speaker is Speaker.ASSISTANT or (speaker is Speaker.USER and words.is_sure)
    new = [older for older in fact.supersedes if says_what_is_new(words, fact, older.text)]
    replaced = new if record.may_supersede and is_sure and speaker is Speaker.USER else []
    is_denied = record.may_supersede and speaker is not Speaker.ASSISTANT
    return replace(
        fact,
        speaker=speaker,
        slot=slot_of(fact.text, record.round.user_text, language),
        condition=language.condition_of(fact.text, record.round.session_date),
        supersedes=tuple(replaced),
        in_doubt=not is_sure,
        contradicts=tuple(o for o in fact.supersedes if is_denied and o not in replaced),
    )


def _speaker(record: Record, fact: Fact, words: Authorship) -> Speaker:
    """The speaker of the fact. A model may take the assistant's or quoted words for a statement of
    the user, so the user is believed only if at least half of the fact's words are theirs."""
    if fact.speaker is not Speaker.USER:
        return fact.speaker
    round, said = record.round, set(terms(_undated(fact.text)))
    shares = {
        Speaker.USER: len(said & set(terms(words.own))),
        Speaker.QUOTED: len(said & set(terms(round.user_text))),
        Speaker.ASSISTANT: len(said & set(terms(round.assistant_text))),
    }
    if 2 * shares[Speaker.USER] >= len(said):
        return Speaker.USER
    return max(shares, key=lambda speaker: shares[speaker])


def says_what_is_new(words: Authorship, fact: Fact, older: str) -> bool:
    """Whether the words by which the fact differs from the older one are the user's own.

    Quoted, pasted and assistant's words do not count, so that none of them can replace what the
    user said.
    """
    new = set(terms(_undated(fact.text))) - set(terms(older))
    said = set(terms(words.own))
    return bool(said) and (not new or 2 * len(new & said) >= len(new))


def _undated(text: str) -> str:
    """The text without dates in digits, which a model works out and the user does not say."""
    return _DATE.sub("", text)


def _distinct(facts: Iterable[Fact]) -> Iterable[Fact]:
    """Each text once, in order. A text found twice takes the links and the days of the later fact,
    if that has any."""
    by_text: dict[str, Fact] = {}
    for fact in facts:
        known = by_text.get(fact.text)
        by_text[fact.text] = (
            fact
            if known is None
            else replace(
                known,
                supersedes=fact.supersedes or known.supersedes,
                contradicts=fact.contradicts or known.contradicts,
                event_dates=fact.event_dates or known.event_dates,
            )
        )
    return by_text.values()
