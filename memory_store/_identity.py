"""The identity of a memory: what made its data, and what is under way with it.

The identity is stored once, apart from every user. It may also carry a state; without one the
memory is in normal use.
"""

from enum import StrEnum

from memory_store.embedding.encoder import EncoderIdentity
from memory_store.engines._engine import Payload
from memory_store.errors import StoreMismatch, StoreUnready

SCHEMA_VERSION = 3
"""The version of the payloads of points."""
_STATE, _PLACE, _RUN = "state", "place", "run"
_EMBEDDER = "embedder"
# An identity leaves out settings that have their usual value; a message shows this word for them.
_USUAL = "usual"


class State(StrEnum):
    """What is under way with a memory that is not in normal use."""

    ARRIVING = "arriving"
    """`assistant migrate` is filling it from another place."""
    COPIED = "copied"
    """It holds a whole copy of another place, and no assistant has used it yet."""
    BUILDING = "building"
    """`assistant reindex` is filling it; it will take the place of the index beside it."""
    CLOSED = "closed"
    """It takes no more writes: its rounds are being moved, or have moved, to another index."""


def to_identity(encoder: EncoderIdentity) -> Payload:
    """The identity that is stored once, to refuse data of another vector space or schema."""
    return {
        "embedder": encoder.name,
        "dimension": encoder.dimension,
        "schema_version": SCHEMA_VERSION,
    }


def maker(identity: Payload) -> dict[str, object]:
    """Embedder, dimension, schema and key design: the identity without what is under way."""
    return {k: v for k, v in identity.items() if k not in (_STATE, _PLACE, _RUN)}


def state_of(identity: Payload) -> State | None:
    """The state of a memory that is not in normal use; None in normal use."""
    return State(identity[_STATE]) if identity.get(_STATE) else None


def place_of(identity: Payload) -> str:
    """The other place that the state is about: the source or the target; empty without one."""
    return str(identity.get(_PLACE, ""))


def run_of(identity: Payload) -> str:
    """The one run of a command that may go on writing; empty when none may."""
    return str(identity.get(_RUN, ""))


def marked(identity: Payload, state: State, place: str, run: str = "") -> Payload:
    """The identity in a state; `run` names the one run of a command that may go on writing."""
    return {**maker(identity), _STATE: state.value, _PLACE: place, _RUN: run}


def admit(theirs: Payload, ours: Payload) -> None:
    """Refuse a memory that this assistant cannot use: `StoreUnready`, `StoreMismatch`."""
    refuse_unready(theirs)
    if maker(theirs) != dict(ours):
        alike = {**ours, _EMBEDDER: theirs.get(_EMBEDDER)} == maker(theirs)
        only = str(theirs.get(_EMBEDDER, "")) if alike else ""
        raise StoreMismatch(_difference(theirs, ours), embedder=only)


def refuse_unready(identity: Payload) -> None:
    """Raise `StoreUnready`, with advice, for a memory that must not be opened now."""
    state = state_of(identity)
    if state is State.ARRIVING:
        raise StoreUnready(
            f"this memory holds only a part of {place_of(identity)}: run the same "
            "`assistant migrate` (or `assistant restore`) again to finish it"
        )
    if state in (State.BUILDING, State.CLOSED):
        raise StoreUnready(CLOSED)


CLOSED = (
    "this memory takes no writes while it is indexed anew. When `assistant reindex` has finished, "
    "restart the assistant with the new settings; if it was interrupted, run it again, or "
    "`assistant reindex --cancel` to stay with the old index"
)


def _difference(theirs: Payload, ours: Payload) -> str:
    changed = ", ".join(
        f"{name} {theirs.get(name, _USUAL)!r} in the store, {ours.get(name, _USUAL)!r} now"
        for name in dict.fromkeys([*ours, *maker(theirs)])
        if theirs.get(name) != ours.get(name)
    )
    if int(theirs.get("schema_version", 0)) > int(ours["schema_version"]):
        return (
            f"this memory was written by a newer version of the assistant ({changed}): install "
            "that version or a later one. Nothing was changed"
        )
    return (
        f"this memory was written by another configuration ({changed}). "
        "Run `assistant reindex` to change it over, start with the old setting, "
        "or use another --data-dir (on a server: qdrant.collection)"
    )
