"""Until when a statement holds, if it says so itself: "until 1 May", "while I live in Ghent".

A condition is bound to a day, or to the value of a slot. If it can be bound to neither ("until I
find a job"), it is open, and the user is asked; nothing is guessed. Only English has words for
conditions (`[conditions]`).
"""

from datetime import date, datetime

from memory_store._types import Condition
from memory_store.language.dates import expression_at
from memory_store.language.languages import wording
from memory_store.language.statements import stated


def condition_of(statement: str, said_on: datetime | date) -> Condition | None:
    """The condition under which a statement holds; None if it has none or tells of the past."""
    if match := wording("conditions.standing").search(statement):
        return Condition(match[0])
    return (
        _until_a_day(statement, said_on)
        or _while_a_state(statement)
        or _open(statement, "conditions.until_then")
    )


def bound_to(state: str) -> Condition | None:
    """The condition that this holds ("I live in Ghent"); None where no rule knows its slot."""
    known = stated(state)
    if known is None or not known.holds:
        return None
    return Condition(f"while {state}", slot=known.slot, value=known.value)


def is_open(condition: Condition) -> bool:
    """Whether it is not known until when the condition holds, so that the user is to be asked."""
    is_bound = condition.until is not None or condition.slot is not None
    return not is_bound and not wording("conditions.standing").search(condition.text)


def is_condition(text: str) -> bool:
    """Whether a message is a condition and says nothing else: "Until 1 May."."""
    return wording("conditions.alone").match(text.strip()) is not None


def _until_a_day(statement: str, said_on: datetime | date) -> Condition | None:
    word = wording("conditions.until").search(statement)
    named = expression_at(statement, word.start(), word.end(), said_on) if word else None
    if word is None or named is None:
        return None
    said = said_on.date() if isinstance(said_on, datetime) else said_on
    if named.last <= said or wording("conditions.put_off").search(statement, 0, word.start()):
        return None
    words = statement[word.start() : named.start + len(named.text)]
    # "until March" does not say which of its days is meant.
    is_sure = named.first == named.last or wording("conditions.to_the_end").search(words)
    return Condition(words, named.last if is_sure or named.start < word.start() else None)


def _while_a_state(statement: str) -> Condition | None:
    for match in wording("conditions.while").finditer(statement):
        if known := bound_to(match["state"]):
            return Condition(match[0].strip(), slot=known.slot, value=known.value)
    return _open(statement, "conditions.as_long_as")


def _open(statement: str, name: str) -> Condition | None:
    """A condition that only the user can bind; None in a statement about the past."""
    match = wording(name).search(statement)
    if match is None or wording("conditions.told").search(statement):
        return None
    return Condition(match[0].strip())
