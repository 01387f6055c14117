"""Does a sentence look back or ahead where it names a day? "on Friday" alone does not say."""

import re

from memory_store.time.vocabulary import any_of

_PAST = """was were did had went got bought saw met took made came ate gave found told said left
lost won ran began started drove flew felt knew thought wrote spoke spent sold sent paid caught
taught held kept built broke chose fell grew heard hurt led sat slept stood swam wore woke threw
brought became been done gone seen taken given celebrated ago didn't wasn't weren't hadn't
finally recently already""".split()
# They end in -ed, or look like it, and say nothing of the past.
_NOT_PAST = """need feed seed speed indeed bed red shed wed hundred exceed proceed succeed breed
weed embed supposed scheduled excited""".split()
_AHEAD = """will won't going gonna plan plans planning hope hopes hoping upcoming scheduled want
wants need needs must should might is are am i'm we're it's he's she's they're isn't
aren't have has looking arriving expecting supposed excited intend let's
ends starts leaves begins arrives opens closes expires departs falls gets retires""".split()
# "a customized mug" tells of no past.
_ADJECTIVE = r"(?<!\ba\s)(?<!\ban\s)(?<!\bthe\s)(?<!\bmy\s)(?<!\bsome\s)"
# "is getting married" either.
_NOT_YET = r"(?<!\bbe\s)(?<!\bget\s)(?<!\bgets\s)(?<!\bgetting\s)"
# "We move on Friday": what goes by plan is told in the present.
_PLANNED = r"move|fly|leave|start|travel|meet|marry"
_BY_PLAN = rf"(?:(?<=\bi\s)|(?<=\bwe\s)|(?<=\bthey\s))(?:{_PLANNED})"
# "did I have" is past though "have" is not; "did I plan" asks for what lies ahead.
_DID = rf"did(?:n't)?\s+(?:\w+\s+){{1,2}}(?:have|need|want|{_PLANNED})"
# Verbs whose past is their present: past only right after who did it.
_SAME_FORM = (
    r"(?:(?<=\bi\s)|(?<=\bwe\s)|(?<=\bhe\s)|(?<=\bshe\s)|(?<=\bthey\s))"
    r"(?:set|put|read|cut|hit|quit|let|shut|hurt|cost)"
)
_CUE = re.compile(
    rf"\b(?:(?P<got>(?:have|has|\w+'ve)\s+got)|(?P<past>{_NOT_YET}(?!{any_of(_NOT_PAST)}\b)"
    rf"(?:{_DID}|{any_of(_PAST)}|{_ADJECTIVE}[a-z]{{2,}}ed|{_SAME_FORM})\b)|(?:{any_of(_AHEAD)}|\w+'ll"
    rf"|turns(?=\s+\d)|due(?!\s+to)|{_BY_PLAN})\b)",
    re.I,
)
_PLAIN = re.compile(
    r"\b(?:will|won't|\w+'ll|going\s+to|gonna|i'm|we're|am|is|are|planning|plan\s+to"
    r"|ends|starts|leaves|begins|arrives|expires)\b",
    re.I,
)
_CLAUSE = re.compile(r"[,;:.?!–—]|\s-\s")
_HABIT = re.compile(
    r"\b(?:usually|always|normally|typically|often|regularly|generally|sometimes|weekly|daily"
    r"|routine|tend\s+to|(?:once|twice|times)\s+(?:a|per|each|every)|(?:every|each)\s+(?:\w+\s+)?(?:year|month|week|day))\b",
    re.I,
)


def looks_ahead(text: str, position: int) -> bool:
    """Whether the verb nearest before the position (else the first after it) looks ahead.

    No verb: it looks back, since people mostly tell what happened.
    """
    nearest = None
    for cue in _CUE.finditer(text):
        if nearest is not None and cue.start() >= position:
            break
        nearest = cue
    return nearest is not None and nearest["past"] is None


def announces(text: str, position: int) -> bool:
    """Whether the words before the position plainly announce: "in two weeks" is then a date."""
    return _PLAIN.search(text, 0, position) is not None and looks_ahead(text, position)


def is_habit(text: str, position: int) -> bool:
    """Whether the clause around the position tells what happens again and again."""
    begin = max((m.end() for m in _CLAUSE.finditer(text, 0, position)), default=0)
    following = _CLAUSE.search(text, position)
    return _HABIT.search(text, begin, following.start() if following else len(text)) is not None
