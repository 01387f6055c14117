"""What was never told: names that nobody mentioned, and what only another speaker said.

"What did Caroline paint?" is not answered by the sunset that Melanie painted, nor by what Caroline
said of other things.
"""

import calendar
import re
from collections.abc import Sequence

from assistant.answering.statements import ASKS, Statement
from memory_store import Recalled
from memory_store.language import LONGEST_READ, languages_of, terms, word_list, wording
from memory_store.recall import named_speakers, speakers_of

# A word with a capital letter that does not open a sentence: Peter, iPad, NovaTech.
_NAME = re.compile(r"(?<=[\w,;:] )[\"'(‘“]?([A-Za-z][\w-]*)")
# "my new bicycle", "do I have a dog": a thing of one's own, after words that only tell which one.
_WHICH = (
    r"(?:(?:new|old|own|other|first|second|third|last|next|current|former|previous|favou?rite|best"
    r"|big|bigger|little|small|older|younger|oldest|youngest|main|only|two|three)\s+)*"
)
_MINE = re.compile(rf"\b(?:my|our)\s+{_WHICH}([a-z]{{3,}})\b")
_HAVE_I = re.compile(
    r"^(?:do|did|have) (?:i|we) (?:ever )?(?:have|had|own|owned|get|got|keep) (?:an?|any)\s+"
    rf"{_WHICH}([a-z]{{3,}})\b",
    re.I,
)
# A thing may have another name: that it is not named says something where much was read, or all
# that there is, as where fewer rounds were recalled than are wanted.
_MUCH_READ, _MANY_ROUNDS = 8_000, 20
_KIN = [frozenset(terms(names)) for names in word_list("english", "answers.kin")]
_KINDS_OF_THINGS = frozenset(terms(" ".join(word_list("english", "answers.kinds_of_things"))))
# Longer words in capitals are shouted.
_LONGEST_ACRONYM = 4
_LETTERS = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_NO_NAMES = frozenset(
    name.lower()
    for name in (*calendar.month_name, *calendar.month_abbr, *calendar.day_name, *calendar.day_abbr)
) | {"i"}


def unheard(question: str, recalled: Sequence[Recalled], *, things: bool = True) -> list[str]:
    """The question's names, and `things` of one's own ("my dog") where much or all was read, of
    which no recalled round has a word; days and months are no names."""
    rounds = [found.record.round for found in recalled]
    texts = [text for round in rounds for text in (round.user_text, round.assistant_text)]
    if not any(text.strip() for text in texts) or any(len(t) > LONGEST_READ for t in texts):
        return []  # nothing was told; or more than is read, in which it may have come up
    texts += [name for round in rounds for name in (round.user_name, round.assistant_name) if name]
    heard = {term for text in texts for term in terms(text)}
    heard.update(*(names for names in _KIN if names & heard))
    # Every German noun has a capital.
    names = [] if "de" in languages_of(question) else _NAME.findall(question)
    asked = {word: word for word in names if _is_name(word)}
    is_much = len(rounds) < _MANY_ROUNDS or sum(map(len, texts)) >= _MUCH_READ
    if things and (is_much or any(round.user_name for round in rounds)):
        asked |= {word: f"your {word}" for word in _MINE.findall(question)}
        asked |= {word: f"having a {word}" for word in _HAVE_I.findall(question)}
    # A stop word is no term, and was never heard of.
    heard |= _KINDS_OF_THINGS
    return [what for word, what in asked.items() if (t := terms(word)) and heard.isdisjoint(t)]


def _is_name(word: str) -> bool:
    return (
        any(letter.isupper() for letter in word)
        and _LETTERS.fullmatch(word) is not None
        and (not word.isupper() or len(word) <= _LONGEST_ACRONYM)
        and len(word) > 2
        and word.lower() not in _NO_NAMES
    )


# Others must have said something nearer by this much than the person who is asked about. Chosen on
# LoCoMo (benchmarks/LOG.md).
_MUCH_NEARER = 0.12
# "Caroline, I went to Oslo", "Thanks, Caroline!" speak to her, not of her.
_ADDRESS = re.compile(r"(?:^|(?<=[,.!?] ))(?:\w+ )?\w+(?=[,.!?])")


def unsaid(question: str, statements: Sequence[Statement]) -> str:
    """The speaker that is asked about, where what comes near is what others said of themselves;
    empty where it is not, and where no one speaker is asked about."""
    speakers = [speakers_of(name, None) for name in {s.said_by for s in statements}]
    named = named_speakers(question, speakers)
    if len(named) != 1:
        return ""
    (name,) = named
    told = [s for s in statements if s.asking < ASKS]
    own = max((s.closeness for s in told if s.said_by == name), default=0.0)
    others = [
        s.closeness
        for s in told
        if s.said_by not in ("", name)
        and not wording("answers.to_somebody").search(s.text)
        and name not in named_speakers(_ADDRESS.sub("", s.text), speakers)
    ]
    return name if max(others, default=0.0) > own + _MUCH_NEARER else ""
