"""What a statement is answered with where no language model answers: what was kept of it, and what
it replaced."""

from collections.abc import Sequence

from assistant.answering.packing import shortened
from assistant.answering.wording import NOTED, NOTED_THAT, PUT_RIGHT
from memory_store import (
    Fact,
    FactLink,
    Kind,
    MemoryStore,
    Round,
    Speaker,
    goes_on_to_ask,
    kind_of,
    read_sentences,
)

_MOST = 3
_LONGEST = 100
_TELLING = (Kind.TELLS, Kind.CORRECTS)


async def acknowledged(store: MemoryStore, said: Round) -> str:
    """What is kept of a round that is stored next; its place does not matter."""
    own = [fact for fact in await _facts(store, said) if fact.is_users]
    parts = _parts(own) or [(part, ()) for part in read_sentences(said.user_text)]
    if not parts or (not own and kind_of(said.user_text).asks):
        return NOTED
    replaces = any(fact.supersedes for fact in own)
    corrects = replaces and kind_of(said.user_text) is Kind.CORRECTS
    return (PUT_RIGHT if corrects else NOTED_THAT) + _listed(parts)


async def acknowledged_beside(store: MemoryStore, said: Round) -> str:
    """What is kept of a round that asks something, too; nothing where it only asks."""
    own = [fact for fact in await _facts(store, said) if fact.speaker is Speaker.USER]
    told = [fact for fact in own if _is_told(fact.text, said.user_text)]
    return NOTED_THAT + _listed(_parts(told)) if told else ""


def _is_told(text: str, message: str) -> bool:
    """Whether it surely asks nothing: a question without its mark may be a fact, too."""
    ends = text.endswith((".", "!")) or goes_on_to_ask(text, message)
    return ends and kind_of(text) in _TELLING


async def _facts(store: MemoryStore, said: Round) -> Sequence[Fact]:
    return (await store.foreseen(said)).facts


_Part = tuple[str, Sequence[FactLink]]


def _parts(facts: Sequence[Fact]) -> list[_Part]:
    """The statements, those that replace something first."""
    return sorted(((f.text, f.supersedes) for f in facts), key=lambda part: not part[1])


def _listed(parts: Sequence[_Part]) -> str:
    told = "; ".join(_worded(text, replaced) for text, replaced in parts[:_MOST])
    return told + ("; …" if len(parts) > _MOST else "")


def _worded(said: str, replaced: Sequence[FactLink]) -> str:
    text = f"“{_short(said)}”"
    return f"{text}, before: “{_short(replaced[0].text)}”" if replaced else text


def _short(text: str) -> str:
    return shortened(" ".join(text.split()).rstrip("."), _LONGEST)
