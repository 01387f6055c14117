"""Random operations by several users over every method of the store: each user's memory stays what
that user made of it, whatever the others do and however alike their ids are."""

import asyncio
import inspect
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from memory_store import (
    Checkup,
    Correction,
    Days,
    EnrichmentState,
    Extraction,
    Fact,
    Listing,
    MemoryStore,
    Query,
    Reach,
    Record,
    RetentionRule,
    Round,
    as_title,
    is_shared,
    where,
    whose,
)
from memory_store._labels import holds
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import Claim, EdgeEngine, Engine
from memory_store.errors import RoundTaken

_Result = TypeVar("_Result")
MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)

# Ids that would meet if they were joined, cut, folded, escaped or matched as a pattern.
IDS = (
    *("a", "ab", "abc", "a/b", "a:b", "1:a", "1:a/1:b", "a b", "a ", " a", "A", "a\n", "a\x00b"),
    *('a"b', "a'b", "a\\b", "*", "%", ".*", "null", "None", "0", "-1", " ", "user_id"),
    # Spaces, and what looks like one.
    *("a\x1fagent:b", "a\x1fagent:a", "ab\x1fagent:b", "\x1fagent:b", "a\x1f", "agent:b"),
    *("ä", "a\u0308", "á", "ß", "ss", "ﬁ", "fi", "茶", "🦜", "a" * 500, "a" * 499 + "b"),
)
# Few, so that what one user does mostly finds rounds of that user and of the others.
some_ids = st.lists(st.sampled_from(IDS), min_size=5, max_size=5, unique=True)
indexes = st.integers(0, 2)
words = st.sampled_from(["tea", "cat", "Ghent", "bread", "my name is", "I live in"])
texts = st.lists(words, min_size=1, max_size=5).map(lambda some: f"I like {' '.join(some)}.")

COVERED = {
    # Each names its user, and has a rule below.
    *("remember", "enrich", "enrichment_failed", "enrich_again", "recall", "round", "session"),
    "claim",
    *(
        "sessions",
        "spaces",
        "shared_spaces",
        "name_session",
        "count",
        "known_facts",
        "listed",
        "records",
        "bring_in",
        "let_supersede",
        "pin",
        "set_reach",
        "told",
        "conflicts",
        "correct",
        "forget_round",
        "forget_session",
        "forget_by_rule",
        "forget_user",
        "foreseen",
        "ask_again",
        "health",
    ),
    # Of the operator: they read all users, to enrich them, to back them up and to index them anew.
    *("unenriched", "users", "verify", "scrub", "traces", "reindex", "reindex_is_unfinished"),
    # Of no user.
    *("open", "close", "check", "closeness", "description", "language", "promise", "let_go"),
    *("key_fallbacks", "embedder", "reach", "as_seen"),
    # The same methods for a reader who sees less.
    "seen_up_to",
}


def test_every_public_method_is_tried() -> None:
    public = {name for name, _ in inspect.getmembers(MemoryStore) if not name.startswith("_")}
    assert public == COVERED, "a method of the store is missing in the machine of this module"


MEMBER = "a"
"""Who says what is said in a shared space."""


def _said(user: str, *said: Any, **more: Any) -> Round:
    """A round; one of a shared space says who said it."""
    return Round(user, *said, **more, user_name=MEMBER if is_shared(user) else None)


class Memories(RuleBasedStateMachine):
    """The store beside a model of it: for each user the rounds they wrote and did not forget.

    A few ids serve as those of users and of sessions alike.
    """

    ids = Bundle("ids")

    def __init__(self, make: Callable[[], Engine]) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()
        self._store = MemoryStore(make(), Embedder(HashEncoder()))
        self._expected: defaultdict[str, dict[str, Round]] = defaultdict(dict)
        self._users: list[str] = []

    def _run(self, call: Awaitable[_Result]) -> _Result:
        async def awaited() -> _Result:
            return await call

        return self._loop.run_until_complete(awaited())

    @initialize(target=ids, some=some_ids)
    def open(self, some: list[str]) -> MultipleResults[str]:
        self._users = some
        self._run(self._store.open())
        for user in self._run(self._store.users()):  # what another example left
            self._run(self._store.forget_user(user))
        for user in some:
            for session in some[:2]:
                self.remember(user, session, 0, "I like tea.", False)
        return multiple(*some)

    def teardown(self) -> None:
        self._run(self._store.close())
        self._loop.close()

    def _own(self, user: str, record: Record) -> None:
        """What came back is this user's, as the user wrote it."""
        assert record.round == self._expected[user][record.id]

    def _ids(self, session: str, index: int) -> list[str]:
        """The id of this place, for every user."""
        return [Round(user, session, index, MAY).id for user in self._users]

    @rule(user=ids, session=ids, index=indexes, text=texts, over=st.booleans())
    def remember(self, user: str, session: str, index: int, text: str, over: bool) -> None:
        at = MAY + timedelta(days=index)
        round = _said(user, session, index, at, text, "Noted.", turn_ids=(text,))
        round = replace(round, labels={"index": index})
        held = {i: r.turn_ids for i, r in self._expected[user].items() if i == round.id}
        self._run(self._store.remember([round], over=held if over else None))
        self._expected[user][round.id] = round

    @rule(user=ids, session=ids, text=texts)
    def foreseen(self, user: str, session: str, text: str) -> None:
        round = _said(user, session, 9, MAY, text)
        record = self._run(self._store.foreseen(round))
        assert record.round == round
        assert self._run(self._store.round(user, round.id)) is None
        links = [link for fact in record.facts for link in fact.supersedes]
        assert all(link.round_id in self._expected[user] for link in links)

    @rule(user=ids, session=ids, index=indexes, text=texts)
    def remember_at_a_taken_place(self, user: str, session: str, index: int, text: str) -> None:
        round = _said(user, session, index, MAY, text, turn_ids=(text, "new"))
        if round.id in self._expected[user]:
            with pytest.raises(RoundTaken):
                self._run(self._store.remember([round], over={}))

    @rule(user=ids, owner=ids, session=ids, index=indexes, text=texts)
    def enrich(self, user: str, owner: str, session: str, index: int, text: str) -> None:
        theirs = self._expected[owner].get(Round(owner, session, index, MAY).id)
        if theirs is not None:
            extraction = Extraction("model", (Fact(f"{text} Really."),))
            record = self._run(self._store.enrich(theirs, extraction))
            assert record is not None
            self._own(owner, record)
            stolen = _said(user, session, index, theirs.session_date, theirs.user_text)
            if user != owner and stolen.id not in self._expected[user]:
                assert self._run(self._store.enrich(stolen, extraction)) is None

    @rule(user=ids, most=st.integers(1, 2))
    def enrichment_failed(self, user: str, most: int) -> None:
        for round in list(self._expected[user].values())[:1]:
            self._run(self._store.enrichment_failed(round, "model", "because", most_attempts=most))

    @rule(user=ids, session=ids, index=indexes)
    def enrich_again(self, user: str, session: str, index: int) -> None:
        self._run(self._store.enrich_again(user, self._ids(session, index)))
        pending = self._run(self._store.unenriched(EnrichmentState.PENDING))
        for record in pending:
            self._own(record.round.user_id, record)

    @rule(user=ids, session=ids, index=indexes, by=st.sampled_from(["one", "other"]))
    def claim(self, user: str, session: str, index: int, by: str) -> None:
        rounds = [_said(user, session, index, MAY, "Said by whom?")]
        claim = Claim(by, MAY + timedelta(minutes=1))
        got = self._run(self._store.claim(rounds, claim, MAY))
        assert {round.id for round in got} <= set(self._ids(session, index))

    @rule(user=ids, session=ids, index=indexes, allowed=st.booleans())
    def let_supersede(self, user: str, session: str, index: int, allowed: bool) -> None:
        for id in self._ids(session, index):
            record = self._run(self._store.let_supersede(user, id, allowed))
            assert (record is not None) is (id in self._expected[user])

    @rule(user=ids, session=ids, index=indexes, pinned=st.booleans())
    def pin(self, user: str, session: str, index: int, pinned: bool) -> None:
        for id in self._ids(session, index):
            record = self._run(self._store.pin(user, id, pinned))
            assert (record is not None) is (id in self._expected[user])

    @rule(user=ids, session=ids, index=indexes, reach=st.sampled_from(Reach))
    def set_reach(self, user: str, session: str, index: int, reach: Reach) -> None:
        ids = self._ids(session, index)
        for record in self._run(self._store.set_reach(user, ids, reach)):
            self._own(user, record)

    @rule(user=ids, text=st.sampled_from(["", "tea"]), index=st.none() | indexes)
    def listed(self, user: str, text: str, index: int | None) -> None:
        only = () if index is None else where({"index": index})
        page = self._run(self._store.listed(Listing(user, text=text, limit=50, where=only)))
        for record in page.records:
            self._own(user, record)

    @rule(user=ids)
    def records(self, user: str) -> None:
        records = self._run(self._store.records(user))
        assert {record.id for record in records} == set(self._expected[user])
        for record in records:
            self._own(user, record)

    @rule(user=ids, owner=ids)
    def bring_in(self, user: str, owner: str) -> None:
        taken_out = self._run(self._store.records(owner))
        self._run(self._store.bring_in(user, taken_out))
        for record in taken_out:
            ours = replace(record.round, user_id=user)
            self._expected[user].setdefault(ours.id, ours)

    @rule(user=ids, text=texts)
    def known_facts(self, user: str, text: str) -> None:
        for link in self._run(self._store.known_facts(user, [text], 50)):
            assert link.round_id in self._expected[user]

    @rule(user=ids, text=texts, when=st.sampled_from([None, date(2023, 5, 21)]))
    def recall(self, user: str, text: str, when: date | None) -> None:
        query = Query(user, f"{text} yesterday", 50, Days(), asked_on=when, explained=True)
        found = self._run(self._store.recall(query))
        for hit in [*found.rounds, *(r for session in found.sessions for r in session.rounds)]:
            self._own(user, hit.record)
        assert len({hit.record.id for hit in found.rounds}) == len(self._expected[user])

    @rule(user=ids, session=ids)
    def name_session(self, user: str, session: str) -> None:
        title = as_title(f"of {user}")
        for record in self._run(self._store.name_session(user, session, title)):
            self._own(user, record)
            assert record.round.session_id == session
            assert record.round.session_title == title

    @rule(user=ids, session=ids, index=indexes)
    def round(self, user: str, session: str, index: int) -> None:
        for id in self._ids(session, index):
            record = self._run(self._store.round(user, id))
            assert (record.round if record else None) == self._expected[user].get(id)

    @rule(user=ids, session=ids, index=indexes)
    def told(self, user: str, session: str, index: int) -> None:
        for id in self._ids(session, index):
            told = self._run(self._store.told(user, id))
            assert (told.record.round if told else None) == self._expected[user].get(id)

    @rule(user=ids)
    def conflicts(self, user: str) -> None:
        for conflict in self._run(self._store.conflicts(user)):
            self._own(user, conflict.record)
            assert {link.round_id for link in conflict.held} <= set(self._expected[user])

    @rule(user=ids)
    def health(self, user: str) -> None:
        found = self._run(self._store.health(user, Checkup(MAY.date())))
        for one in found:
            assert one.record.id in self._expected[user]
            assert {link.round_id for link in one.others} <= set(self._expected[user])

    @rule(user=ids, session=ids, index=indexes)
    def ask_again(self, user: str, session: str, index: int) -> None:
        for id in self._ids(session, index):
            known = self._run(self._store.round(user, id))
            for fact in known.facts[:1] if known else ():
                correction = Correction(MAY, ask_on={fact.text: MAY.date()})
                done = self._run(self._store.correct(user, id, correction))
                self._expected[user][id] = done.record.round
        others = {one: self._due(one) for one in self._expected if one != user}
        due = {link.round_id for link in self._run(self._store.ask_again(user, MAY.date()))}
        assert due <= set(self._expected[user])
        assert self._due(user) == set()
        assert {one: self._due(one) for one in others} == others

    def _due(self, user: str) -> set[str]:
        """The rounds with a fact that the user is still to be asked about."""
        records = self._run(self._store.records(user))
        return {record.id for record in records for fact in record.facts if fact.ask_on}

    @rule(user=ids, session=ids, index=indexes, text=texts)
    def correct(self, user: str, session: str, index: int, text: str) -> None:
        for id in self._ids(session, index):
            correction = Correction(MAY, user_text=text, assistant_text="Put right.")
            done = self._run(self._store.correct(user, id, correction))
            known = self._expected[user].get(id)
            assert (done is None) == (known is None)
            if done and known:
                record = done.record
                assert (record.round.user_text, record.round.turns) == (text, known.turns)
                self._expected[user][id] = record.round

    @rule(user=ids, session=ids)
    def session(self, user: str, session: str) -> None:
        records = self._run(self._store.session(user, session))
        expected = [r for r in self._expected[user].values() if r.session_id == session]
        assert [r.round for r in records] == sorted(expected, key=lambda r: r.round_index)

    @rule(user=ids, session=ids, index=indexes)
    def forget_round(self, user: str, session: str, index: int) -> None:
        for id in self._ids(session, index):
            known = self._expected[user].pop(id, None)
            assert self._run(self._store.forget_round(user, id)).rounds == int(known is not None)

    @rule(user=ids, session=ids)
    def forget_session(self, user: str, session: str) -> None:
        own = self._expected[user]
        gone = [id for id, round in own.items() if round.session_id == session]
        assert self._run(self._store.forget_session(user, session)).rounds == len(gone)
        for id in gone:
            del own[id]

    @rule(user=ids, first=indexes, labelled=st.booleans())
    def forget_by_rule(self, user: str, first: int, labelled: bool) -> None:
        own = self._expected[user]
        until = (MAY + timedelta(days=first)).date()
        only = where({"index": first}) if labelled else ()
        gone = [
            id
            for id, round in own.items()
            if round.session_date.date() <= until and holds(round.labels, only)
        ]
        asked = RetentionRule(MAY - timedelta(days=9), until, only)
        assert self._run(self._store.forget_by_rule(user, asked)).rounds == len(gone)
        for id in gone:
            del own[id]

    @rule(user=ids)
    def forget_user(self, user: str) -> None:
        assert self._run(self._store.forget_user(user)).rounds == len(self._expected.pop(user, {}))

    @rule(user=ids, text=texts)
    def closeness(self, user: str, text: str) -> None:
        assert len(self._run(self._store.closeness(text, [user, text]))) == 2

    @invariant()
    def everybody_has_what_they_had(self) -> None:
        known = {user for user, own in self._expected.items() if own}
        assert set(self._run(self._store.users())) == known
        for user, own in self._expected.items():
            spaces = [owner.space for owner in map(whose, known) if owner.user_id == user]
            assert self._run(self._store.spaces(user)) == sorted(filter(None, spaces))
            shared = [whose(owner).space for owner in known if is_shared(owner) and user == MEMBER]
            assert self._run(self._store.shared_spaces(user)) == shared
            assert self._run(self._store.count(user)) == len(own)
            listed = self._run(self._store.sessions(user))
            counted = {summary.session_id: summary.rounds for summary in listed}
            ids = [round.session_id for round in own.values()]
            assert counted == {id: ids.count(id) for id in ids}


def _try(make: Callable[[], Engine], examples: int) -> None:
    run_state_machine_as_test(
        lambda: Memories(make),
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


EXAMPLES = [4, pytest.param(150, marks=pytest.mark.slow)]


@pytest.mark.parametrize("examples", EXAMPLES)
def test_embedded(tmp_path: Path, examples: int) -> None:
    _try(lambda: EdgeEngine(tmp_path), examples)


@pytest.mark.qdrant_server
@pytest.mark.parametrize("examples", EXAMPLES)
def test_on_a_server(another_server_engine: Callable[[], Engine], examples: int) -> None:
    _try(another_server_engine, examples)
