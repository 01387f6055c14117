"""Text that can be written and sent."""


def encodable(text: str) -> str:
    """The text with every lone surrogate (half of a cut emoji) replaced by a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()
