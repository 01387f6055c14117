"""How texts are measured and written, everywhere in the harness alike.

Tokens that nobody counted are four characters each.
"""

from datetime import UTC, datetime

CHARACTERS_A_TOKEN = 4


def tokens_of(characters: int) -> int:
    """Whole tokens of so many characters."""
    return characters // CHARACTERS_A_TOKEN


def tokens_at_least_one(characters: int) -> int:
    """The same for something that is sent, which is never nothing."""
    return max(1, tokens_of(characters))


def characters_of(tokens: int) -> int:
    """How many characters so many tokens hold."""
    return tokens * CHARACTERS_A_TOKEN


def encodable(text: str) -> str:
    """The text with every lone surrogate (half of a cut emoji) replaced by a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def beginning(text: str, length: int = 160) -> str:
    """As much of a text as it takes to recognize it, on one line."""
    return " ".join(text[: 2 * length].split())[:length]


def rfc3339(moment: datetime) -> str:
    """An instant as the wire wants it, in UTC with whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
