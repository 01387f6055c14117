"""What a question asks of one of several speakers, and another one said. Pure.

"What did Caroline paint?" is not answered by the sunset that Melanie painted, nor by what Caroline
said of other things.
"""

import re
from collections.abc import Sequence

from assistant.reading.statements import Statement
from memory_store import named_speakers, speakers_of

# What others said has to be so much nearer to the question than what the one asked about said.
# Chosen on LoCoMo (docs/reading.md).
_MUCH_NEARER = 0.12
# Said to somebody, maybe of that one.
_TO_SOMEBODY = re.compile(r"\b(?:you|your|yours)\b", re.I)
# "Caroline, I went to Oslo", "Thanks, Caroline!" speak to her, not of her.
_ADDRESS = re.compile(r"(?:^|(?<=[,.!?] ))(?:\w+ )?\w+(?=[,.!?])")


def unsaid(question: str, statements: Sequence[Statement]) -> str:
    """The speaker that is asked about, where what comes near is what others said of themselves;
    empty where it is not, and where no one speaker is asked about."""
    told = [speakers_of(name, None) for name in {s.said_by for s in statements}]
    named = named_speakers(question, told)
    if len(named) != 1:
        return ""
    (name,) = named
    own = max(s.closeness for s in statements if s.said_by == name)
    others = [
        s.closeness
        for s in statements
        if s.said_by not in ("", name)
        and not _TO_SOMEBODY.search(s.text)
        and name not in named_speakers(_ADDRESS.sub("", s.text), told)
    ]
    return name if max(others, default=0.0) > own + _MUCH_NEARER else ""
