"""Statements: those a user makes in the first person, and what is stated of somebody else.

"By the way, I adopted a cat last week. Can you suggest a name?" holds one fact worth finding on its
own; the round's raw key would drown it in the request around it.

No fact is made of statements about others. They are understood as that person would put them:
"Clara moved to Lisbon" is "I moved to Lisbon", said of Clara.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from memory_store.language.english.questions import is_question
from memory_store.language.english.slots import lacks_subject, stated, writes_capitals
from memory_store.language.language import (
    LONGEST_STATEMENT,
    MOST_STATEMENTS,
    Stated,
    replaces,
)
from memory_store.language.languages import wording
from memory_store.language.sentences import read_sentences

_SHORTEST = 15
_OWN_VERBS = {"has": "have", "is": "am", "does": "do", "doesn't": "don't", "doesn’t": "don’t"}


def statements(user_text: str) -> list[str]:
    """The first statements, each once and together with those it is made of."""
    found = dict[str, None]()
    for sentence in map(_stated_part, read_sentences(user_text)):
        if sentence not in found and _is_fact(sentence):
            more = found | dict.fromkeys((sentence, *stated_apart(sentence)))
            if len(more) > MOST_STATEMENTS:
                break
            found = more
    return list(found)


def stated_apart(sentence: str) -> list[str]:
    """The statements in "My name is Sofia and I live in Lyon.", of which one may be replaced while
    the other goes on to hold; none where all is about one thing."""
    parts = wording("statements.and_i").split(sentence)
    if len(parts) == 1:
        return []
    known = [(part, one.slot) for part in parts if (one := stated(part))]
    return [part for part, _ in known] if len({slot for _, slot in known}) > 1 else []


def slot_of(statement: str) -> str | None:
    """What a statement gives a value for; None where rules cannot tell, or where it gives several
    values."""
    known = None if stated_apart(statement) else stated(statement)
    return known.slot if known else None


def _stated_part(sentence: str) -> str:
    """A sentence without the question that it ends in."""
    is_asked = sentence.endswith(("?", "？"))
    asks = wording("statements.then_asks").search(sentence) if is_asked else None
    if asks is None:
        return sentence
    before = sentence[: asks.start()]
    states = wording("statements.states").match(before)
    return before if states and not wording("statements.announces").search(before) else sentence


def _is_fact(sentence: str) -> bool:
    if not _SHORTEST <= len(sentence) <= LONGEST_STATEMENT or is_question(sentence):
        return False
    if wording("statements.first_person").search(sentence):
        return True
    # "Adopted a dog" and "rent is now 950", not "Avoid anything vegan".
    own = wording("statements.did").match(sentence) or stated(sentence)
    return own is not None and lacks_subject(sentence)


def replacements(said: Sequence[str]) -> dict[int, int]:
    """Of statements in the order they were said, those about others that no longer hold: the index
    of each, and of the one that replaced it."""
    replaced: dict[int, int] = {}
    standing: defaultdict[tuple[str, str], list[tuple[int, Stated]]] = defaultdict(list)
    for place, text in enumerate(said):
        found = stated_of_another(text)
        if found is None:
            continue
        who, newer = found
        slot = standing[who, newer.slot]
        gone = [one for one in slot if replaces(newer, one[1])]
        replaced |= {older: place for older, _ in gone}
        kept = [one for one in slot if one not in gone]
        standing[who, newer.slot] = [*kept, (place, newer)] if newer.holds else kept
    return replaced


def stated_of_another(statement: str) -> tuple[str, Stated] | None:
    """Who it is about, and what it states of them; None where no frame surely fits."""
    text = " ".join(statement.split())
    if text.endswith("?"):
        return None
    if match := wording("statements.has").match(text):
        own = stated(f"{match['opening']}my {match['rest']}")
    elif match := wording("statements.does").match(text):
        subject = "I" if writes_capitals(text) else "i"
        does = wording("statements.verb_of_another").sub(_in_first_person, match["rest"])
        own = stated(f"{match['opening']}{subject} {does}")
    else:
        return None
    return ((match["name"] or match["who"]).lower(), own) if own else None


def _in_first_person(match: re.Match[str]) -> str:
    verb = match["verb"]
    return match["before"] + _OWN_VERBS.get(verb.lower(), verb[:-1])
