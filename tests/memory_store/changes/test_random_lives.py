"""Random sequences of telling, changing, setting conditions, confirming and forgetting, against a
plain model of what must hold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_store import Condition, Correction, Listing, MemoryStore, Round
from memory_store.language import bound_to

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
PLACES = ("Ghent", "Bruges", "Lyon")
JOBS = ("Acme", "Globex")
HABITS = ("I swim before breakfast", "I keep bees in the garden", "I bake my own bread")
SEQUENCES = 1000


@dataclass
class Told:
    """A fact as the plain model knows it: when it was told, and what it says."""

    session: int
    day: int
    text: str
    slot: str = ""
    value: str = ""
    until: int | None = None
    bound: tuple[str, str] | None = None


@dataclass
class Plain:
    """What must hold, worked out from the list of what was told and nothing else."""

    told: list[Told] = field(default_factory=list)

    def holding(self, today: int) -> set[tuple[int, str]]:
        return {(one.session, one.text) for one in self.told if self._holds(one, today)}

    def _holds(self, one: Told, today: int) -> bool:
        if one.until is not None and one.until < today:
            return False
        later = [other for other in self.told if other.session > one.session]
        watched = [(one.slot, one.value)] if one.slot else []
        watched += [one.bound] if one.bound else []
        return not any(
            other.slot == slot and other.value != value
            for other in later
            for slot, value in watched
        )


@dataclass
class Life:
    """A sequence as it is lived: in the memory and in the plain model, an act a day."""

    store: MemoryStore
    plain: Plain = field(default_factory=Plain)
    day: int = 0

    async def tell(self, one: Told) -> None:
        self.plain.told.append(one)
        at = START + timedelta(days=one.day)
        await self.store.remember([Round("ann", f"s{one.session}", 0, at, one.text, "Noted.")])

    async def settle(self, one: Told, **said: object) -> None:
        at = START + timedelta(days=self.day)
        id = Round("ann", f"s{one.session}", 0, at, one.text).id
        await self.store.correct("ann", id, Correction(at, **said))  # type: ignore[arg-type]

    async def held(self, today: int) -> set[tuple[int, str]]:
        page = await self.store.listed(Listing("ann", today=_on(today), limit=200))
        return {
            (int(record.round.session_id[1:]), fact.text)
            for record in page.records
            for fact in record.facts
            if fact.superseded_by is None
        }


def _on(day: int) -> date:
    return (START + timedelta(days=day)).date()


def _named(day: int) -> str:
    on = _on(day)
    return f"{on.day} {on:%B %Y}"


def _state(slot: str, value: str) -> str:
    return f"I live in {value}" if slot == "live in" else f"I work at {value}"


STATES = st.sampled_from([("live in", one) for one in PLACES] + [("work at", one) for one in JOBS])
AHEAD = st.integers(1, 9)
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("change"), STATES),
        st.tuples(st.just("tell"), st.sampled_from(HABITS)),
        st.tuples(st.just("until"), st.sampled_from(HABITS), AHEAD),
        st.tuples(st.just("while"), st.sampled_from(HABITS), STATES),
        st.tuples(st.just("works while"), st.sampled_from(JOBS), st.sampled_from(PLACES)),
        st.tuples(st.just("set until"), st.integers(0, 20), AHEAD),
        st.tuples(st.just("set while"), st.integers(0, 20), STATES),
        st.tuples(st.just("lift"), st.integers(0, 20)),
        st.tuples(st.just("confirm"), st.integers(0, 20)),
        st.tuples(st.just("forget"), st.integers(0, 20)),
    ),
    min_size=2,
    max_size=9,
)


async def _act(life: Life, act: tuple[object, ...]) -> None:
    name, *given = act
    day = life.day
    new = Told(day, day, "")
    if name == "change":
        slot, value = given[0]  # type: ignore[misc]
        new.slot, new.value = slot, value
        new.text = f"{_state(slot, value)} now."
    elif name == "tell":
        new.text = f"{given[0]}."
    elif name == "until":
        new.until = day + given[1]  # type: ignore[operator]
        new.text = f"{given[0]} until {_named(new.until)}."
    elif name == "while":
        new.bound = given[1][0], given[1][1]  # type: ignore[index]
        new.text = f"{given[0]} while {_state(*new.bound)}."
    elif name == "works while":
        new.slot, new.value = "work at", str(given[0])
        new.bound = "live in", str(given[1])
        new.text = f"I now work at {given[0]} while I live in {given[1]}."
    if new.text:
        await life.tell(new)
    elif life.plain.told:
        one = life.plain.told[given[0] % len(life.plain.told)]  # type: ignore[operator]
        await _settled[str(name)](life, one, *given[1:])


async def _set_until(life: Life, one: Told, ahead: int) -> None:
    one.until, one.bound = life.day + ahead, None
    condition = Condition("until then", _on(one.until))
    await life.settle(one, conditions={one.text: condition})


async def _set_while(life: Life, one: Told, state: tuple[str, str]) -> None:
    one.until, one.bound = None, (state if state[0] != one.slot else None)
    await life.settle(one, conditions={one.text: bound_to(_state(*state))})


async def _lift(life: Life, one: Told) -> None:
    one.until = one.bound = None
    await life.settle(one, conditions={one.text: None})


async def _confirm(life: Life, one: Told) -> None:
    if one.until is not None and one.until < life.day:
        one.until = None
    await life.settle(one, confirmed=[one.text])


async def _forget(life: Life, one: Told) -> None:
    life.plain.told.remove(one)
    await life.store.forget_session("ann", f"s{one.session}")


_settled: dict[str, Callable[..., object]] = {
    "set until": _set_until,
    "set while": _set_while,
    "lift": _lift,
    "confirm": _confirm,
    "forget": _forget,
}


_few, _many = (
    settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    for count in (40, SEQUENCES)
)


async def _lived(store: MemoryStore, acts: list[tuple[object, ...]]) -> None:
    await store.forget_user("ann")
    life = Life(store)
    for act in acts:
        life.day += 1
        await _act(life, act)
        assert await life.held(life.day) == life.plain.holding(life.day)
    for later in (life.day + 1, life.day + 5, life.day + 12):
        assert await life.held(later) == life.plain.holding(later)


@_few
@given(acts=ACTS)
async def test_what_holds_is_what_a_plain_model_says(
    store: MemoryStore, acts: list[tuple[object, ...]]
) -> None:
    await _lived(store, acts)


@pytest.mark.slow
@_many
@given(acts=ACTS)
async def test_a_thousand_lives(store: MemoryStore, acts: list[tuple[object, ...]]) -> None:
    await _lived(store, acts)
