"""Statements of a known frame: what they give a value for, and the value.

"My favourite colour is green" gives the slot "favourite colour" the value "green". The frames are
few and narrow on purpose: a statement that rules do not surely understand replaces nothing.
"""

import re
from collections.abc import Callable

from memory_store.language.english.casual import (
    OPENING,
    OPENINGS,
    UNCAPITALISED,
    lacks_subject,
    writes_capitals,
)
from memory_store.language.language import Stated
from memory_store.language.languages import word_list
from memory_store.language.words import stem

ADVERBS = (
    r"(?:(?:now|currently|just|recently|finally|actually|still|already|officially|also|both|all"
    r"|usually|normally)\s+)*"
)
_MINE = r"(?:my|our)\s+"
_HAVE = r"(?:['’]ve|\s+have)?\s+"
_AM = r"(?:['’]?m|['’]re|\s+am|\s+are)\s+"
_IS = r"(?:\s+(?:is|are)|['’]s|\s+has\s+(?:changed\s+to|become)|\s+changed\s+to)\s+" + ADVERBS
_CAPITALISED = r"[A-Z][\w'’&-]*"
_PROPER = (
    rf"(?-i:(?:(?:the|downtown|central)\s+)?{_CAPITALISED}"
    rf"(?:\s+(?:(?:of|de|la|&)\s+)?{_CAPITALISED})*)"
)
_TITLE = r"(?:dr|mr|mrs|ms|prof)\.?\s+"
_TITLED = rf"(?:{_TITLE})?{_PROPER}"
_NUMBER_WORDS = word_list("english", "numbers")
_NUMBER = rf"(?:\d[\d,.]*|{'|'.join(_NUMBER_WORDS)})"
_MEASURE = (
    r"[$€£]?\d[\w:.,%$€£]*"
    r"(?:\s*(?:kg|kilos|lbs?|pounds|cm|ft|km|miles|min|minutes|years|euros?|dollars|[ap]m))?"
)
_PHRASE = r"[^.,;!?\n]+?"
_END = (
    r"(?=\s*(?:[.,;!?)\n]|$|\b(?:and|but|so|because|since|with|from|for|these|now|nowadays|instead"
    r"|anymore|any\s+more|so\s+far|already|in\s+total|which|who|where|after|until|at|in|a|per"
    r"|right\s+now|last|this)\b))"
)

_HOME = r"(?:flat|apartment|house|home|place|studio|condo)"
_JOB = r"my\s+(?:old\s+)?job\s+(?:at|with)\s+"
_QUIT = rf"(?:(?:quit|resigned\s+from)\s+(?:{_JOB})?|left\s+{_JOB})"
_START = (
    r"(?:(?:start(?:ed)?|began)\s+(?:work(?:ing)?|a\s+new\s+job)\s+(?:at|for|with)"
    r"|work\s+(?:at|for))\s+"
)
# Who quits a job joins another one; who leaves a place may join a friend.
_TAKE_UP = rf"(?:{_START}|(?:start(?:ed)?|began|work)\s+(?:at|for|with)\s+|join(?:ed)?\s+)"
_MEANWHILE = rf"(?:\s+\w+){{0,3}}?,?\s+(?:and|to)\s+(?:i\s+)?{ADVERBS}"

# When it became so.
_AGO = rf"(?:{_NUMBER}|several|a\s+few|a\s+couple\s+of)\s+(?:day|week|month|year)s?\s+ago"
_WHEN = (
    rf"(?=\s+(?:yesterday|today|tonight|recently|permanently|again|together|early|earlier|late"
    rf"|on|before|by|near|next|while|when|as|lol|btw|tbh|haha|{_AGO})\b)"
)
_PLACE = rf"(?P<value>{_PROPER})(?:{_END}|{_WHEN})"

# Something changed, and did not merely get mentioned.
_CHANGE = re.compile(
    r"\Ano\s*[,.!:;–—-]"
    r"|\b(?:now|currently|just|recently|finally|officially|no longer|any ?more|new|changed|moved"
    rf"|relocated|promoted|switched|quit|resigned|left\s+(?:{_JOB}|(?-i:[A-Z]).{{0,80}}?\s(?:and|to))"
    r"|actually|correction|mistake|i was wrong|instead|so far|already"
    r"|in total|total of|altogether|these days|nowadays|as of|update|up to|since then)\b",
    re.I,
)
# What is hoped, planned or imagined has not happened.
_UNREAL = re.compile(
    r"\b(?:if|would|wish|hope|hoping|imagine|pretend|suppose|let['’]s say|dream|novel|character"
    r"|used to|temporarily|for the (?:week|weekend|day|summer))\b",
    re.I,
)
_SINGULAR = re.compile(r"\bfavou?rite\b|\bname\b|\bnumber\b|\baddress\b|\be-?mail\b|\btitle\b")
_PEOPLE = (
    r"(?:dentist|doctor|therapist|boss|manager|supervisor|landlord|landlady|roommate|mechanic"
    r"|accountant|lawyer|vet|trainer|coach|tutor|advisor|hairdresser)"
)
_NAMED = r"(?:(?:full|first|middle|last|sur)?\s*name|job title|street address|home address)"
_CONTACT = r"(?:phone number|number|zip code|postcode|e-?mail(?: address)?|shoe size|blood type)"
_MEASURED = (
    r"(?:salary|rent|weight|height|age|commute|personal best(?: time)?|best time|fastest time"
    r"|high(?:est)? score|target weight|credit score|daily step (?:goal|count)|savings)"
)
_COUNTED = (
    r"(?:have|own|keep|collected|read|watched|visited|tried|completed|finished|written|made|baked"
    r"|planted|seen|attended|published|recorded|played|run|climbed|hiked|saved)"
)
_ROUTINE = r"(?:wake up|get up|go to bed|go to sleep|leave for work|start work|finish work)"

_Build = Callable[[re.Match[str]], tuple[str, str]]


def _slot(name: str) -> _Build:
    return lambda match: (name, match["value"])


def _attribute(match: re.Match[str]) -> tuple[str, str]:
    return match["what"] + (match.groupdict().get("of") or ""), match["value"]


def _count(match: re.Match[str]) -> tuple[str, str]:
    verb = match.groupdict().get("verb") or "have"
    return f"{verb} {match['what']}", match["value"]


_FRAMES: tuple[tuple[str, _Build], ...] = (
    (rf"(?:i|we)\s+{ADVERBS}(?:live|reside)\s+in\s+{_PLACE}", _slot("live in")),
    (rf"(?:i|we){_AM}{ADVERBS}(?:living|based)\s+in\s+{_PLACE}", _slot("live in")),
    (
        rf"(?:i|we){_HAVE}{ADVERBS}(?:moved|relocated)\s+(?:back\s+|over\s+)?"
        rf"(?:from\s+{_PROPER}\s+)?to\s+"
        rf"{_PLACE}",
        _slot("live in"),
    ),
    (rf"{_MINE}new\s+{_HOME}\s+is\s+in\s+{_PLACE}", _slot("live in")),
    (rf"i\s+{ADVERBS}work\s+(?:at|for)\s+{_PLACE}", _slot("work at")),
    (rf"i{_AM}{ADVERBS}working\s+(?:at|for)\s+{_PLACE}", _slot("work at")),
    (
        rf"i{_HAVE}{ADVERBS}(?:started\s+(?:a\s+new\s+job|working|work)|got\s+a\s+new\s+job"
        rf"|changed\s+jobs)\s+(?:at|for|with|to)\s+{_PLACE}",
        _slot("work at"),
    ),
    (
        rf"i{_HAVE}{ADVERBS}(?:{_QUIT}{_PROPER}{_MEANWHILE}{_TAKE_UP}"
        rf"|left\s+{_PROPER}{_MEANWHILE}{_START})"
        rf"(?P<value>{_PROPER}){_END}",
        _slot("work at"),
    ),
    (rf"i\s+{ADVERBS}work\s+as\s+(?:an?\s+|the\s+)?(?P<value>{_PHRASE}){_END}", _slot("work as")),
    (rf"i{_AM}{ADVERBS}working\s+as\s+(?:an?\s+)?(?P<value>{_PHRASE}){_END}", _slot("work as")),
    (
        rf"i(?:['’]ve\s+been|\s+have\s+been|\s+was|\s+got|['’]ve\s+got)\s+{ADVERBS}promoted\s+to\s+"
        rf"(?:an?\s+|the\s+)?(?P<value>{_PHRASE}){_END}",
        _slot("work as"),
    ),
    (
        rf"my\s+{ADVERBS}(?:new\s+|current\s+)?(?P<what>favou?rite\s+(?:\w+\s+){{0,2}}?\w+){_IS}"
        rf"(?P<value>{_PHRASE}){_END}",
        _attribute,
    ),
    (
        rf"my\s+{ADVERBS}(?:new\s+|current\s+)?(?P<what>{_PEOPLE}){_IS}(?P<value>{_TITLED}){_END}",
        _attribute,
    ),
    (
        rf"my\s+{ADVERBS}(?:new\s+|current\s+)?(?P<what>{_NAMED}){_IS}(?P<value>{_PHRASE}){_END}",
        _attribute,
    ),
    (
        rf"my\s+{ADVERBS}(?:new\s+|current\s+)?(?P<what>{_CONTACT}){_IS}(?P<value>\S*\w){_END}",
        _attribute,
    ),
    (
        rf"{_MINE}{ADVERBS}(?:new\s+|current\s+)?(?P<what>{_MEASURED})"
        rf"(?P<of>\s+(?:for|in|on)\s+(?:the\s+)?[\w-]+(?:\s+[\w-]+){{0,2}}?)?{_IS}"
        rf"(?:about\s+|around\s+|down\s+to\s+|up\s+to\s+|at\s+)?(?P<value>{_MEASURE}){_END}",
        _attribute,
    ),
    (
        rf"i{_HAVE}{ADVERBS}(?P<verb>{_COUNTED})\s+{ADVERBS}(?:a\s+total\s+of\s+|about\s+|around\s+|over\s+)?"
        rf"(?P<value>{_NUMBER})\s+(?P<what>(?:different\s+)?[a-z-]+(?:\s+[a-z-]+){{0,2}}?){_END}",
        _count,
    ),
    (
        rf"i\s+{ADVERBS}(?P<verb>have|own|keep)\s+{ADVERBS}(?:a\s+total\s+of\s+|about\s+|around\s+)?"
        rf"(?P<value>{_NUMBER})\s+(?P<what>[a-z-]+(?:\s+[a-z-]+){{0,2}}?){_END}",
        _count,
    ),
    (
        rf"i{_AM}{ADVERBS}(?:up\s+to|at)\s+(?P<value>{_NUMBER})\s+"
        rf"(?P<what>[a-z-]+(?:\s+[a-z-]+){{0,2}}?){_END}",
        _count,
    ),
    (
        rf"i\s+{ADVERBS}(?P<what>{_ROUTINE})\s+(?:at|around)\s+"
        rf"(?P<value>\d[\d:.]*\s*(?:[ap]\.?m\.?)?|noon|midnight){_END}",
        _attribute,
    ),
)
_ENDED: tuple[tuple[str, _Build], ...] = (
    (rf"i{_HAVE}{ADVERBS}{_QUIT}(?P<value>{_PROPER})(?:{_END}|{_WHEN})", _slot("work at")),
    *(
        (pattern, _slot(slot))
        for slot, said in (
            ("live in", r"live\s+in"),
            ("work at", r"work\s+(?:at|for)"),
            ("work as", r"work\s+as(?:\s+an?)?"),
        )
        for pattern in (
            rf"(?:i|we)\s+no\s+longer\s+{said}\s+(?P<value>{_PHRASE}){_END}",
            rf"(?:i|we)\s+(?:don['’]t|do\s+not)\s+{said}\s+(?P<value>{_PHRASE})\s+any\s?more\b",
        )
    ),
)


def _compiled(
    frames: tuple[tuple[str, _Build], ...],
) -> tuple[tuple[re.Pattern[str], re.Pattern[str], _Build], ...]:
    """Each frame for text with names in capitals, and for text without."""
    return tuple(
        (
            re.compile(OPENINGS + pattern, re.I),
            re.compile(OPENINGS + _without_capitals(pattern), re.I),
            build,
        )
        for pattern, build in frames
    )


def _without_capitals(pattern: str) -> str:
    # "My boss is annoying" names nobody.
    return pattern.replace(_TITLED, _TITLE + UNCAPITALISED).replace(_PROPER, UNCAPITALISED)


_STATES, _ENDS = _compiled(_FRAMES), _compiled(_ENDED)
# What stands before a statement whose subject is left out.
_LEFT_OUT = ("i", "i am", "i was", "my")
# How every frame begins.
_SPEAKS = re.compile(OPENINGS + r"(?:im|i|we|my|our)\b", re.I)

# Where another clause begins that speaks of its speaker.
_CLAUSE = re.compile(
    r"(?:[,:;–—]|\s-|\b(?:and|but|so))\s+(?:(?:and|but|so|because|since)\s+)?(?=(?:i|we|my|our)\b)",
    re.I,
)
# Rates and stretches of time are not counts of things.
_NO_THING = re.compile(
    r"\b(?:second|minute|hour|day|night|week|month|year|time|mile|kilometer|percent|meeting"
    r"|appointment|exam|question|minutes|call|interview|deadline|idea|option|guest|visitor)s?\b"
)


def stated(statement: str) -> Stated | None:
    """What a first-person statement gives a value for; None where no frame surely fits.

    "The landlord called, my rent is now $1,100" says so in its second clause.
    """
    text = " ".join(statement.split())
    if _SPEAKS.match(text) or not lacks_subject(text):
        return _by_frames(text)
    opening = OPENING.match(text)
    cut = opening.end() if opening else 0
    completed = (f"{text[:cut]}{subject} {text[cut:]}" for subject in _LEFT_OUT)
    return next((known for known in map(_by_frames, completed) if known), None)


def _by_frames(text: str) -> Stated | None:
    capitals = writes_capitals(text)
    starts = [0, *(boundary.end() for boundary in _CLAUSE.finditer(text))]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        if not _SPEAKS.match(text, start):
            continue
        for frames, holds in ((_STATES, True), (_ENDS, False)):
            for capitalised, uncapitalised, build in frames:
                if match := (capitalised if capitals else uncapitalised).match(text, start):
                    said = text[: max(end, match.end())]
                    return _checked(*build(match), text=said, end=match.end(), holds=holds)
    return None


def _checked(slot: str, value: str, *, text: str, end: int, holds: bool) -> Stated | None:
    counted = slot.partition(" ")[0] in _COUNTED.strip("(?:)").split("|")
    if _UNREAL.search(text) or (counted and _NO_THING.search(slot)):
        return None
    changed = _CHANGE.search(text) is not None
    if counted and re.match(r"\s*(?:a|per|every|each|this|last|next|tomorrow|today)\b", text[end:]):
        return None
    replaces = changed or not holds or _SINGULAR.search(slot) is not None
    return Stated(_normal_slot(slot), _normal(value), replaces, holds, changed)


def _normal_slot(slot: str) -> str:
    """Plurals and spellings of one slot are one."""
    return " ".join(map(stem, re.sub(r"\b(fav|col)o(?=r)", r"\1ou", slot.lower()).split()))


def _normal(value: str) -> str:
    lowered = value.lower().strip(" '\"’.")
    lowered = re.sub(r"^(?:the|an?|my)\s+", "", lowered)
    return str(_NUMBER_WORDS.index(lowered) + 1) if lowered in _NUMBER_WORDS else lowered
