"""Statements about somebody else: which replaces which among them. Pure.

No fact is made of them. They are understood as that person would put them: "Clara moved to Lisbon"
is "I moved to Lisbon", said of Clara.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from memory_store.updates.slots import ADVERBS, OPENINGS, Stated, replaces, stated

_NO_NAME = r"(?!(?:I|We|He|She|It|They|You|This|That|These|Those|There|The|My|Our|Your)\b)"
_NAME = rf"(?-i:{_NO_NAME}[A-Z][\w-]*(?:\s+[A-Z][\w-]*)?)"
_WHO = rf"(?:my\s+[a-z]+(?:\s+(?P<name>{_NAME}))?|{_NAME})"
_DOES = re.compile(rf"(?P<opening>{OPENINGS})(?P<who>{_WHO})\s+(?P<rest>\S.*)", re.I | re.S)
_HAS = re.compile(rf"(?P<opening>{OPENINGS})(?P<who>{_WHO})['’]s\s+(?P<rest>\S.*)", re.I | re.S)
_VERB = re.compile(
    rf"^(?P<before>{ADVERBS}(?:no\s+longer\s+)?)"
    rf"(?P<verb>lives|resides|works|keeps|owns|has|is|does(?:n['’]t)?)\b",
    re.I,
)
_FIRST_PERSON = {"has": "have", "is": "am", "does": "do", "doesn't": "don't", "doesn’t": "don’t"}


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
    if match := _HAS.match(text):
        own = stated(f"{match['opening']}my {match['rest']}")
    elif match := _DOES.match(text):
        own = stated(f"{match['opening']}I {_VERB.sub(_in_first_person, match['rest'])}")
    else:
        return None
    return ((match["name"] or match["who"]).lower(), own) if own else None


def _in_first_person(match: re.Match[str]) -> str:
    verb = match["verb"]
    return match["before"] + _FIRST_PERSON.get(verb.lower(), verb[:-1])
