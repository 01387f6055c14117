"""What can be known of a user: attributes with their values and wordings, and topics to chat about.

Both lie beside this module as JSON. An attribute says in which words it comes up in passing
(`says`, with `{v}` for a value), and in which other words it is asked for.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Kind = Literal["fact", "change", "count", "event", "preference", "advice"]
Exchange = tuple[str, str]
_FOLDER = "harness.authoring"
_DATA = ("ontology.json", "topics.json")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing that may be known of a user.

    `now` tells a new value of what changes, `absent` asks for something near that was never told,
    `thing` names an event as a question does, `wants` completes "suggestions that …", and of advice
    `asks` says what the assistant listed.
    """

    name: str
    category: str
    kind: Kind
    topic: str
    says: tuple[str, ...]
    values: tuple[str, ...] = ()
    asks: str = ""
    now: str = ""
    absent: str = ""
    thing: str = ""
    wants: str = ""


@dataclass(frozen=True, slots=True)
class Ontology:
    """All attributes in the order of the file; for each topic what is asked and answered about it,
    whoever the user is; `sha256` of both files, twelve hexadecimal digits.
    """

    attributes: tuple[Attribute, ...]
    topics: dict[str, tuple[Exchange, ...]]
    sha256: str

    def of_kinds(self, *kinds: Kind) -> list[Attribute]:
        """The attributes of these kinds."""
        return [attribute for attribute in self.attributes if attribute.kind in kinds]


@cache
def ontology() -> Ontology:
    """The one that comes with the package."""
    texts = [files(_FOLDER).joinpath(name).read_text(encoding="utf-8") for name in _DATA]
    entries, topics = (json.loads(text) for text in texts)
    return Ontology(
        tuple(map(_attribute, entries)),
        {name: tuple((asked, said) for asked, said in found) for name, found in topics.items()},
        hashlib.sha256("".join(texts).encode()).hexdigest()[:12],
    )


def _attribute(entry: dict[str, Any]) -> Attribute:
    lists = {name: tuple(entry.get(name, ())) for name in ("says", "values")}
    return Attribute(**(entry | lists))
