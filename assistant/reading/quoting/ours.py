"""What our own answers left in the rounds: quotes and admissions, which are no memory. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from assistant.reading.question_kind import question_kind
from assistant.reading.quoting.phrases import ADMITTED, NOTED, OURS
from memory_store import Recalled, Round, read_sentences


def without_ours(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Rounds without our own earlier quotes, which would only be quoted again."""
    return [_without_our_reply(found) for found in recalled]


def without_admissions(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Rounds without the questions that we could not answer: to ask for something is not to tell
    it, as other sentences beside the question do."""
    return [_without_admission(found) for found in recalled]


def _without_admission(found: Recalled) -> Recalled:
    said = found.record.round
    if not said.assistant_text.startswith(ADMITTED):
        return found
    told = " ".join(s for s in read_sentences(said.user_text) if not question_kind(s).asks)
    return _saying(found, replace(said, user_text=told, assistant_text=""))


def _without_our_reply(found: Recalled) -> Recalled:
    said = found.record.round
    if said.assistant_text != NOTED and not any(ours in said.assistant_text for ours in OURS):
        return found
    return _saying(found, replace(said, assistant_text=""))


def _saying(found: Recalled, round: Round) -> Recalled:
    return replace(found, record=replace(found.record, round=round))
