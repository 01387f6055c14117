"""The expected costs of bringing rounds in, and a cap at which extraction stops for the day."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from assistant.clock import Clock
from assistant.enrichment.extraction import ExtractionWanted, extraction_messages
from assistant.models.chat_model import Message, RoleCounts
from assistant.models.token_counter import CHARACTERS_PER_TOKEN, Prices, about_tokens
from memory_store import Round

_log = logging.getLogger(__name__)
# Characters of a session that go into one call: long replies are cut before they are counted.
_BATCH_CHARACTERS = 24_000
_REPLY_CHARACTERS = 800
# Earlier facts that a call shows on average, and the tokens of one.
_KNOWN_TOKENS = 40 * 30
# Tokens that are written for a round, before any call has shown how many.
_WRITTEN = 150
# Seconds of a call, and how many are made at once; rounds that are encoded and written in a minute.
_CALL_SECONDS, _CALLS_AT_ONCE = 15, 4
_ROUNDS_A_MINUTE = 2000
# A text is encoded with its statements, which are about as long again.
_ENCODED = 2


def batches(rounds: Sequence[Round]) -> list[list[Round]]:
    """The rounds of a session in order, in batches of one reach, each of which fits into a call."""
    made: list[list[Round]] = []
    size = 0
    for round in rounds:
        own = len(round.user_text) + min(len(round.assistant_text), _REPLY_CHARACTERS)
        is_other = not made or made[-1][0].reach is not round.reach
        if is_other or size + own > _BATCH_CHARACTERS:
            made.append([])
            size = 0
        made[-1].append(round)
        size += own
    return made


class ExpectedCosts(NamedTuple):
    """The costs expected; `dollars` is None where a price is not known, `minutes` is a guess."""

    rounds: int
    calls: int
    tokens: int
    dollars: float | None
    minutes: float


@dataclass(frozen=True, slots=True)
class CostsBefore:
    """Estimates the costs of rounds that are brought in: of reading them by an extractor, and of
    encoding them by a provider, if there is one."""

    extraction: ExtractionWanted | None
    extraction_prices: Prices
    encoding_prices: Prices | None
    seen: RoleCounts
    """The tokens of earlier extractions, which show how much a model writes."""

    def of(self, kept: Sequence[Round], extracted: Sequence[Round]) -> ExpectedCosts:
        """The costs of storing the rounds `kept`, and of extracting facts from `extracted`."""
        calls = read = written = 0
        for messages, count in self._calls(extracted):
            calls += 1
            here = _tokens_of(messages) + _KNOWN_TOKENS
            read += here
            written += self._written(here, count)
        encoded = 0
        if self.encoding_prices is not None:
            encoded = _ENCODED * sum(round.size for round in kept) // CHARACTERS_PER_TOKEN
        parts = [self.extraction_prices.cost(read, written) if calls else 0.0]
        if self.encoding_prices is not None:
            parts.append(_encoding_cost(self.encoding_prices, encoded))
        known = [part for part in parts if part is not None]
        dollars = round(sum(known), 6) if len(known) == len(parts) else None
        minutes = len(kept) / _ROUNDS_A_MINUTE + calls * _CALL_SECONDS / _CALLS_AT_ONCE / 60
        total = read + written + encoded
        return ExpectedCosts(len(kept), calls, total, dollars, round(minutes, 2))

    def _calls(self, rounds: Sequence[Round]) -> list[tuple[Sequence[Message], int]]:
        if self.extraction is None:
            return []
        wanted = self.extraction
        found: list[tuple[Sequence[Message], int]] = []
        for _, session in groupby(rounds, key=lambda one: (one.user_id, one.session_id)):
            for batch in batches(list(session)):
                found.append((extraction_messages(batch, [], wanted), len(batch)))
        return found

    def _written(self, read: int, rounds: int) -> int:
        if not self.seen.prompt_tokens:
            return _WRITTEN * rounds
        return read * self.seen.completion_tokens // self.seen.prompt_tokens


def _encoding_cost(prices: Prices, tokens: int) -> float | None:
    return None if prices.read is None else prices.read * tokens


def _tokens_of(messages: Sequence[Message]) -> int:
    return sum(about_tokens(message.content) for message in messages)


class DailyCap:
    """Says when extraction has used the tokens or dollars of a day (UTC); 0 means no cap.

    If a provider reports no tokens, those that it was sent are counted.
    """

    def __init__(self, counts: RoleCounts, clock: Clock, tokens: int, dollars: float) -> None:
        self._counts = counts
        self._clock = clock
        self._tokens = tokens
        self._dollars = dollars
        self._day = clock().date()
        self._before = (0, 0.0)
        self._sent = 0
        self._told = False

    def send(self, messages: Sequence[Message]) -> None:
        """Count the tokens that a call sends."""
        self._sent += _tokens_of(messages)

    def is_reached(self) -> bool:
        """Whether no more calls may begin today."""
        counts = self._counts
        taken = max(counts.prompt_tokens + counts.completion_tokens, self._sent)
        if (today := self._clock().date()) != self._day:
            self._day, self._told = today, False
            self._before = (taken, counts.cost)
        tokens, dollars = taken - self._before[0], counts.cost - self._before[1]
        reached = 0 < self._tokens <= tokens or 0 < self._dollars <= dollars
        if reached and not self._told:
            self._told = True
            _log.warning(
                "extraction stops for today: it took %d tokens and $%.2f; what waits is read "
                "after midnight UTC (enrichment.tokens_a_day, enrichment.dollars_a_day)",
                *(tokens, dollars),
            )
        return reached
