"""What a message wants of the memory: something kept, not kept, or forgotten; or a plain yes.

The model of kinds finds most wishes. The words for refusals and for yes are data, one table per
language (`[wishes]` in `words`). A wish must be in the user's own words: quoted or pasted text asks
for nothing. The results are certainties; the code that acts on them decides which one is enough
(docs/decisions/0021-what-a-wrong-guess-may-cost.md).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from memory_store._reach import Reach
from memory_store.language.kinds import Kind, kinds_of
from memory_store.language.languages import spelled, word_list, wording
from memory_store.language.words import named_terms

LANGUAGES = ("english", "german", "spanish", "french", "portuguese", "chinese")
# A longer message does not ask for something to be forgotten: it tells something.
_LONGEST_REQUEST = 300
_READ = 4000
# One part of a message may refuse all of it. This many parts are read from either end.
_PARTS = 24
_PART_ENDS = re.compile(r"[.,;:!?\n–—，。：；！？]|\s-\s")
_FOREIGN = re.compile(
    r"```.*?(?:```|\Z)|^\s*>.*$|[“„«»].*?[”“»«]|\"[^\"]*\"|(?<!\w)'[^'\n]*'(?!\w)", re.M | re.S
)
_WORD = re.compile(r"[\w'’]+|[👍✅👌]")
# A refusal in known words needs only the first certainty of the model, and then has the second.
_MAY_REFUSE, _WORDED = 0.02, 0.9
# "What did I say off the record?" asks, and refuses nothing.
_ASKS, _ASKS_AND_REFUSES = 0.9, 0.5
_LONGEST_YES = 8
# A lead before a colon asks to keep the rest only if it has at most this many words, and is at
# least this sure.
_LONGEST_LEAD, _LEADS = 5, 0.8
# The most words of a part that says how far a message may go.
_LONGEST_WISH = 12


@dataclass(frozen=True, slots=True)
class Wishes:
    """How sure it is that a message wants something kept, not kept, or forgotten."""

    keeps: float = 0.0
    refuses: float = 0.0
    forgets: float = 0.0


def wishes_of(text: str) -> Wishes:
    """What a message wants of the memory."""
    own = own_words(text)
    if not own:
        return Wishes()
    parts = [part for part in _PART_ENDS.split(own) if part.strip()]
    if len(parts) > 2 * _PARTS:
        parts = [*parts[:_PARTS], *parts[-_PARTS:]]
    is_short = len(own) <= _LONGEST_REQUEST
    whole = own if is_short else ""
    keeps = max((kinds_of(part)[Kind.KEEPS] for part in (whole, *parts) if part), default=0.0)
    refuses, is_worded = _refuses(whole, parts)
    keep, dont_forget = (
        wording(f"wishes.{name}", *LANGUAGES).search(own) for name in ("keep", "dont_forget")
    )
    if dont_forget or (keep and not is_worded):
        # "Don't forget" means keep, whatever the model takes it for.
        keeps, refuses = max(keeps, _WORDED), 0.0
    elif not is_worded and refuses <= keeps:
        refuses = 0.0
    if _reach(parts) is not Reach.ANYWHERE:
        # "Keep it out of your answers" limits where the message goes, but it is still kept.
        keeps, refuses = max(keeps, _WORDED), 0.0
    forgets = 0.0
    if is_short:
        forgets = 1.0 if _only_forgets(own) else kinds_of(own)[Kind.FORGETS]
    return Wishes(keeps, refuses, forgets)


def without_lead(text: str) -> str:
    """The message without a leading wish to keep it ("remember this: ")."""
    lead, colon, rest = text.partition(": ")
    if not (colon and rest.strip()) or len(lead.split()) > _LONGEST_LEAD:
        return text
    return rest.strip() if wishes_of(lead).keeps >= _LEADS else text


def wished_reach(text: str) -> Reach:
    """How far the content of a message may go, if it says so itself; else anywhere."""
    own = own_words(text)
    return _reach([part for part in _PART_ENDS.split(own) if part.strip()])


def _reach(parts: Sequence[str]) -> Reach:
    if _any_says("wishes.keep_unanswered", parts):
        return Reach.NEVER_IN_ANSWERS
    return Reach.THIS_COMPUTER if _any_says("wishes.keep_here", parts) else Reach.ANYWHERE


def _any_says(name: str, parts: Sequence[str]) -> bool:
    worded = wording(name, "english", "german")
    return any(len(part.split()) <= _LONGEST_WISH and worded.search(part) for part in parts)


def own_words(text: str) -> str:
    """The message without quotations; of a long one only the beginning and the end."""
    if len(text) > 2 * _READ:
        text = f"{text[:_READ]}\n{text[-_READ:]}"
    return _FOREIGN.sub(" ", text).strip()


def _refuses(whole: str, parts: Sequence[str]) -> tuple[float, bool]:
    """How surely a message refuses to be kept, and whether it says so in known words. If not, the
    mean of the whole and its surest part counts, as the model can tell little from a few words and
    nothing from one ("notes")."""
    sure = {part: kinds_of(part)[Kind.KEEPS_OUT] for part in (whole, *parts) if part}
    asks = bool(whole) and kinds_of(whole)[Kind.ASKS] >= _ASKS
    least = _ASKS_AND_REFUSES if asks else _MAY_REFUSE
    if any(one >= least and _refusal().search(part) for part, one in sure.items()):
        return _WORDED, True
    # A part without spaces is one word, unless it is in a script such as Chinese.
    several = (part for part in sure if part == whole or " " in part.strip() or not part.isascii())
    phrases = [sure[part] for part in several]
    return (max(phrases, default=0.0) + sure.get(whole, 0.0)) / 2, False


@cache
def _refusal() -> re.Pattern[str]:
    """A pattern for a word of keeping with a "not" before it, or for words of confidence."""
    worded = list[str]()
    for language in LANGUAGES:
        spaced = language != "chinese"
        begin = r"(?<!\bi )(?<!\bcan )\b" if spaced else ""
        # "Neighbour" and "now" only begin like words for "not".
        gap = r"(?:(?!\w)|(?<='))(?:\s*[\w'’]+){0,3}?[\s'’]*" if spaced else ""
        worded.append(spelled(f"{begin}{{not}}{gap}{{keeping}}", "wishes", language))
        worded += word_list(language, "wishes.confidence")
    return re.compile("|".join(worded), re.I)


def _only_forgets(own: str) -> bool:
    """Whether the message only says "forget that", which is too short for the model to be sure."""
    words = set(_words(own))
    return bool(words & _all("wishes.delete")) and not topic_of(own) and "not" not in words


def confirms(text: str) -> bool:
    """Whether the whole message is a clear yes to a question whether to delete."""
    words = _words(text)
    is_own = own_words(text) == text.strip()
    if not words or len(words) > _LONGEST_YES or "?" in text or not is_own:
        return False
    said_yes = any(word in _all("wishes.yes") for word in words)
    # "Forget it" alone may well mean "never mind".
    deletes = _all("wishes.delete") - {*word_list("english", "wishes.unclear")}
    says_delete = not deletes.isdisjoint(words)
    known = _all("wishes.yes") | _all("wishes.delete") | _all("wishes.beside_yes")
    return (said_yes or says_delete) and all(word in known for word in words)


def confirms_deletion(text: str) -> bool:
    """Whether the message says yes and names the deletion: "yes, delete"."""
    return confirms(text) and not _all("wishes.delete").isdisjoint(_words(text))


def declines(text: str) -> bool:
    """Whether the whole message says no to a question whether to delete."""
    words = _words(text)
    known = _all("wishes.no") | _all("wishes.beside_yes") | _all("wishes.delete")
    says_no = any(word in _all("wishes.no") for word in words)
    return says_no and len(words) <= _LONGEST_YES and all(word in known for word in words)


def still_holds(text: str) -> bool | None:
    """The answer to a question whether something still holds; None if the message is no plain yes
    or no."""
    words = _words(text)
    still, not_so = (set(word_list("english", f"wishes.{name}")) for name in ("still", "not_so"))
    known = _all("wishes.yes") | _all("wishes.beside_yes") | still | not_so
    if not words or "?" in text or len(words) > _LONGEST_YES or not known.issuperset(words):
        return None
    is_no = not not_so.isdisjoint(words)
    is_yes = words[0] in _all("wishes.yes") or words[0] == "still"
    return not is_no if is_no or is_yes else None


def _words(text: str) -> list[str]:
    """The words of a text in lower case; in Chinese, the known words are split off. An empty list
    if the text is too long for a request or an answer."""
    if len(text) > _LONGEST_REQUEST:
        return []
    lowered = _chinese().sub(r" \g<0> ", text.lower().replace("’", "'"))
    return _WORD.findall(lowered)


@cache
def _chinese() -> re.Pattern[str]:
    names = ("yes", "delete", "beside_yes", "no")
    words = {word for name in names for word in word_list("chinese", f"wishes.{name}")}
    return re.compile("|".join(sorted(words, key=len, reverse=True)))


@cache
def _all(name: str) -> frozenset[str]:
    """The words of a list in every language."""
    return frozenset(word for language in LANGUAGES for word in word_list(language, name))


@cache
def _asking_terms() -> frozenset[int]:
    words = " ".join(word for name in LANGUAGES[:-1] for word in word_list(name, "wishes.request"))
    return frozenset(named_terms(words))


def topic_of(request: str) -> str:
    """The topic to forget, in the words of the request; empty if it names none ("forget that")."""
    for word in sorted(word_list("chinese", "wishes.request"), key=len, reverse=True):
        request = request.replace(word, " ")
    words = named_terms(request)
    return " ".join(word for term, word in words.items() if term not in _asking_terms())


def is_everything(request: str) -> bool:
    """Whether a request without a topic means everything stored, and not what was just said."""
    words = set(_words(request))
    means_all = words & _all("wishes.everything") or any(
        word in request for word in word_list("chinese", "wishes.everything")
    )
    return bool(means_all) and not wording("wishes.points").search(request)
