"""A compact dated profile: what a person has said to like, own, be or do, for advice that
fits. Pure.

Made from the facts of everything recalled, also of rounds that do not fit the context.
"""

import re
from collections.abc import Sequence
from typing import Any

from assistant.dates import print_day
from assistant.reading.speakers import as_said, name_of, several_speak
from memory_store import Fact, Recalled, Speaker, superseded_parts

_MOST_LINES = 12
_LONGEST_LINE = 200
_LASTING = re.compile(
    r"\bI(?:['’]m| am) (?:a|an|allergic|vegan|vegetarian|into|interested|passionate|obsessed"
    r"|trying|working|planning|looking|really into|learning|training)\b"
    r"|\bI(?:['’]ve| have) (?:been|always|never|got|a|an|two|three)\b"
    r"|\bI (?:really |also |usually |often |always |never |still |just )*"
    r"(?:love|like|prefer|enjoy|hate|dislike|avoid|want|need|use|own|work|live|play|collect|read"
    r"|watch|listen|follow|bought|started|can['’]?t|don['’]t)\b"
    r"|\bmy (?:\w+ )?(?:favou?rite|job|work|wife|husband|partner|kids?|son|daughter|dog|cat|home"
    r"|apartment|house|car|bike|hobby|setup|diet|goal)\b",
    re.I,
)


def profile_lines(recalled: Sequence[Recalled]) -> list[dict[str, Any]]:
    """Lasting facts the user stated, the most relevant rounds first, then newest first."""
    found: dict[str, tuple[Recalled, str]] = {}
    several = several_speak(recalled)
    for item in recalled:
        for fact in _lasting(item.record.facts):
            text = as_said(name_of(item, fact.speaker) if several else "", fact.text)
            found.setdefault(text.casefold(), (item, text))
    lines = list(found.values())[:_MOST_LINES]
    lines.sort(key=lambda line: line[0].record.round.session_date, reverse=True)
    return [
        {"said_on": print_day(item.record.round.session_date), "fact": text[:_LONGEST_LINE]}
        for item, text in lines
    ]


def _lasting(facts: Sequence[Fact]) -> list[Fact]:
    """The user's lasting facts that hold, without those that are a part of another one."""
    lasting = [
        fact
        for fact in facts
        if fact.speaker is Speaker.USER
        and _LASTING.search(fact.text)
        and not (fact.superseded_by or superseded_parts(fact.text, facts))
    ]
    return [f for f in lasting if not any(f.text in one.text != f.text for one in lasting)]
