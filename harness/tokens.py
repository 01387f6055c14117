"""Tokens where nobody counted them: four characters each, everywhere in the harness alike."""

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
