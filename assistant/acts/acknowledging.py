"""What a statement is answered with where no language model answers: what was kept of it, and what
it replaced."""

from collections.abc import Sequence

from assistant.reading.excerpt import shortened
from assistant.reading.quoting.wording import NOTED, NOTED_THAT, PUT_RIGHT
from memory_store import Fact, FactLink, Kind, MemoryStore, Round, kind_of, read_sentences

_MOST = 3
_LONGEST = 100


async def acknowledged(store: MemoryStore, said: Round) -> str:
    """What is kept of a round that is stored next; its place does not matter."""
    record = await store.foreseen(said)
    own = [fact for fact in record.facts if fact.is_users]
    replaces = any(fact.supersedes for fact in own)
    corrects = replaces and kind_of(said.user_text) is Kind.CORRECTS
    parts = _parts(own) or [(part, ()) for part in read_sentences(said.user_text)]
    if not parts or (not own and kind_of(said.user_text).asks):
        return NOTED
    told = "; ".join(_worded(text, replaced) for text, replaced in parts[:_MOST])
    more = "; …" if len(parts) > _MOST else ""
    opening = PUT_RIGHT if corrects else NOTED_THAT
    return f"{opening}{told}{more}"


_Part = tuple[str, Sequence[FactLink]]


def _parts(facts: Sequence[Fact]) -> list[_Part]:
    """The statements, those that replace something first."""
    return sorted(((f.text, f.supersedes) for f in facts), key=lambda part: not part[1])


def _worded(said: str, replaced: Sequence[FactLink]) -> str:
    text = f"“{_short(said)}”"
    return f"{text}, before: “{_short(replaced[0].text)}”" if replaced else text


def _short(text: str) -> str:
    return shortened(" ".join(text.split()).rstrip("."), _LONGEST)
