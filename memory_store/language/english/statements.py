"""Statements: those a user makes in the first person, and what is stated of somebody else.

"By the way, I adopted a cat last week. Can you suggest a name?" holds one fact worth finding on its
own; the round's raw key would drown it in the request around it.

No fact is made of statements about others. They are understood as that person would put them:
"Clara moved to Lisbon" is "I moved to Lisbon", said of Clara.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from memory_store.language.english.casual import OPENINGS, lacks_subject, writes_capitals
from memory_store.language.english.questions import is_question
from memory_store.language.english.slots import ADVERBS, stated
from memory_store.language.language import (
    LONGEST_STATEMENT,
    MOST_STATEMENTS,
    Stated,
    replaces,
)
from memory_store.language.languages import word_list
from memory_store.language.sentences import read_sentences

_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’](?:m|ve|d|ll)|im|ive|my|me|mine|myself|we|us|our|ours)\b", re.I
)
_PAST = "|".join(word_list("english", "time.past"))
_DID = re.compile(
    rf"{OPENINGS}{ADVERBS}(?:{_PAST}|[a-z]{{3,}}ed|quit)\s+\w",
    re.I,
)
_AND_I = re.compile(r",?(?<!\s)\s+and\s+(?=(?:i|we|my|our)\b)", re.I)
# "I start on June 15, how can I prepare?": what comes before is stated, unless all that follows is
# a tag: "I don't live in Ghent, do I?"
_STATES = re.compile(
    rf"{OPENINGS}(?:(?:i|we)\b|(?:my|our)\b.*\b(?:is|are|was|were|has|have|had)\b)", re.I | re.S
)
_ANNOUNCES = re.compile(r"\b(?:ask|asking|wonder|wondering|curious)\s*$", re.I)
_ASKING_VERB = r"(?:can|could|would|will|do|does|did|is|are|was|should|shall)"
_TAG = r"\w+ \w+(?: (?:right|correct|true|so))?\s*[?？]"
_THEN_ASKS = re.compile(
    rf"(?<!\s)(?:\s*+[,;–—]|\s++-)\s*+(?:(?:and|so|but|or)\s+)?(?!{_TAG})"
    rf"(?=(?:(?:wh(?:en|ere|ich|o)\s+)?{_ASKING_VERB}|how|what|why|any)\b)"
    r"|(?<!\s)\s++(?:and|so)\s+(?=(?:can|could|would|will) you\b)",
    re.I,
)
_SHORTEST = 15


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
    parts = _AND_I.split(sentence)
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
    asks = _THEN_ASKS.search(sentence) if sentence.endswith(("?", "？")) else None
    if asks is None:
        return sentence
    before = sentence[: asks.start()]
    return before if _STATES.match(before) and not _ANNOUNCES.search(before) else sentence


def _is_fact(sentence: str) -> bool:
    if not _SHORTEST <= len(sentence) <= LONGEST_STATEMENT or is_question(sentence):
        return False
    if _FIRST_PERSON.search(sentence):
        return True
    # "Adopted a dog" and "rent is now 950", not "Avoid anything vegan".
    own = _DID.match(sentence) is not None or stated(sentence) is not None
    return own and lacks_subject(sentence)


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
_OWN_VERBS = {"has": "have", "is": "am", "does": "do", "doesn't": "don't", "doesn’t": "don’t"}


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
        subject = "I" if writes_capitals(text) else "i"
        own = stated(f"{match['opening']}{subject} {_VERB.sub(_in_first_person, match['rest'])}")
    else:
        return None
    return ((match["name"] or match["who"]).lower(), own) if own else None


def _in_first_person(match: re.Match[str]) -> str:
    verb = match["verb"]
    return match["before"] + _OWN_VERBS.get(verb.lower(), verb[:-1])
