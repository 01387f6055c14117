"""The reader without a language model: it answers with dated quotes, or says it does not know."""

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from assistant.dates import print_day
from assistant.reading.reader import AnswerPiece, Question, Trace
from memory_store import MemoryStore, Recalled, Speaker, sentences

NO_MEMORY = (
    "I have no language model to answer with (set chat_model), and memory is off for this message."
)
_OPENING = "From what we talked about:"
UNKNOWN = "I don't know: I found nothing about that in what we talked about."
_ROUNDS = 6
_QUOTES = 4
_SENTENCES = 12
_LONGEST_QUOTE = 400
_LONG_WORD = re.compile(r"\w{4,}")
# A quote much farther from the question than the best one is noise beside it.
_NEAR_THE_BEST = 0.6


@dataclass(frozen=True, slots=True)
class _Quote:
    text: str
    speaker: Speaker
    source: Recalled


class QuotingReader:
    """Quotes the sentences nearest to the question, newest first."""

    name = "quotes"

    def __init__(self, store: MemoryStore, *, floor: float) -> None:
        self._store = store
        self._floor = floor

    async def read(self, question: Question) -> AsyncGenerator[AnswerPiece, None]:
        """See `Reader.read`. The answer comes in one piece."""
        if question.recalled is None:
            yield AnswerPiece(NO_MEMORY, Trace())
            return
        near = [found for found in question.recalled if found.similarity >= self._floor]
        quotes = await self._best_quotes(question.text, near[:_ROUNDS])
        read = tuple(dict.fromkeys(quote.source.record.id for quote in quotes))
        yield AnswerPiece(_print(quotes) if quotes else UNKNOWN, Trace(context=read))

    async def _best_quotes(self, question: str, near: Sequence[Recalled]) -> list[_Quote]:
        candidates = [quote for found in near for quote in _sentences_of(found, question)]
        if not candidates and near:
            # A reply may share no word with the question, only with the request before it.
            candidates = _sentences_of(near[0], question, whole_reply=True)
        if not candidates:
            return []
        texts = [quote.text for quote in candidates]
        closeness = await self._store.closeness(question, texts)
        weighed = sorted(
            zip(candidates, closeness, strict=True),
            key=lambda pair: -(pair[1] + pair[0].source.similarity),
        )
        enough = weighed[0][1] * _NEAR_THE_BEST
        best = [quote for quote, near_by in weighed if near_by >= enough][:_QUOTES]
        return sorted(best, key=lambda q: q.source.record.round.session_date, reverse=True)


def _sentences_of(found: Recalled, question: str, *, whole_reply: bool = False) -> list[_Quote]:
    """What the user stated, and what the assistant replied: all of it, or what shares a word."""
    round = found.record.round
    asked = set(_LONG_WORD.findall(question.lower()))
    said = [
        _Quote(text, Speaker.USER, found)
        for text in sentences(round.user_text)
        if not text.endswith("?")
    ]
    if round.assistant_text.startswith((_OPENING, UNKNOWN)):
        return said[:_SENTENCES]  # our own earlier quotes would only be quoted again
    replied = [
        _Quote(text, Speaker.ASSISTANT, found)
        for text in sentences(round.assistant_text)
        if whole_reply or asked & set(_LONG_WORD.findall(text.lower()))
    ]
    return said[:_SENTENCES] + replied[:_SENTENCES]


def _print(quotes: Sequence[_Quote]) -> str:
    lines = [_OPENING]
    for quote in quotes:
        who = "you said" if quote.speaker is Speaker.USER else "I said"
        day = print_day(quote.source.record.round.session_date)
        lines.append(f"- On {day} {who}: “{_shortened(quote.text)}”")
    return "\n".join(lines)


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_QUOTE:
        return text
    return text[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
