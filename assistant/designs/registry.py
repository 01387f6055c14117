"""Designs by name: the product's own, those of the literature, and classes of anybody's."""

import importlib
from typing import Any

from assistant.answering.plan import Mode
from assistant.designs.control_points import AIDE_MEMOIRE, Choices, KeySource, Retrieval
from assistant.designs.design import Design
from assistant.errors import ConfigError
from memory_store import TimeUse

PUBLISHED = {
    "in-context-rag": "in_context_rag:InContextRag",
    "memorybank": "memorybank:MemoryBank",
    "ld-agent": "ld_agent:LdAgent",
    "chain-of-note": "chain_of_note:ChainOfNote",
    "chatgpt-facts": "chatgpt_facts:ChatGptFacts",
    "coze-facts": "coze_facts:CozeFacts",
    "raptor": "raptor:Raptor",
    "memwalker": "memwalker:MemWalker",
    "hipporag": "hipporag:HippoRag",
    "longmemeval": "longmemeval:LongMemEval",
}
"""The designs of the literature, each by its class in `assistant.designs.published`."""

_FOLDER = "assistant.designs.published."
# What the product chooses where the others choose: for reports.
_OWN = Choices(
    keys=(KeySource.VALUE, KeySource.FACT),
    time=TimeUse.LIFT,
    retrieval=Retrieval.BOTH,
    mode=Mode.CHAIN_OF_NOTE,
)
_OWN_CHOICES = ("time", "retrieval")
_READING = ("mode", "layout")
_OWN_RETRIEVALS: tuple[Retrieval, ...] = (Retrieval.DENSE, Retrieval.WORDS, Retrieval.BOTH)


def choices_of(name: str, chosen: dict[str, Any]) -> Choices:
    """The choices of a design with those made in the settings. Raises `ConfigError` for what it
    cannot be."""
    made = {point: choice for point, choice in chosen.items() if choice is not None}
    if name == AIDE_MEMOIRE:
        if others := sorted(made.keys() - {*_OWN_CHOICES, *_READING}):
            raise ConfigError(
                f"design {AIDE_MEMOIRE} has a choice of {' and '.join(_OWN_CHOICES)} only, not of "
                f"{', '.join(others)}: set design=longmemeval, or another one, to choose these",
                code="wrong_setting",
            )
        own, retrievals = _OWN, _OWN_RETRIEVALS
    else:
        design = class_of(name)
        own, retrievals = design.choices, design.retrievals
    choices = own.with_chosen(made)
    if choices.retrieval not in (*retrievals, own.retrieval):
        raise ConfigError(
            f"design {name} does not find by {choices.retrieval}: choose "
            f"{', '.join(dict.fromkeys((own.retrieval, *retrievals)))}",
            code="wrong_setting",
        )
    return choices


def class_of(name: str) -> type[Design]:
    """The class of a design that is a view. Raises `ConfigError`."""
    path = _FOLDER + PUBLISHED[name] if name in PUBLISHED else name
    module, colon, attribute = path.rpartition(":")
    if not colon:
        known = ", ".join((AIDE_MEMOIRE, *PUBLISHED))
        raise ConfigError(
            f"there is no design {name[:80]!r}: choose one of {known}, or module:Class",
            code="wrong_setting",
        )
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        wants = "pip install 'aide-memoire[designs]'" if name in PUBLISHED else "is it installed?"
        raise ConfigError(f"design {name}: {error}; {wants}", code="wrong_setting") from error
    except AttributeError as error:
        raise ConfigError(f"design {name}: {error}", code="wrong_setting") from error
    if not (isinstance(found, type) and issubclass(found, Design)):
        raise ConfigError(f"design {name} is no class below Design", code="wrong_setting")
    return found
