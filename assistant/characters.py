"""Text that can be kept. JSON may hold halves of surrogate pairs, UTF-8 and stores cannot."""


def whole_characters(text: str) -> str:
    """The text with U+FFFD for each half of a pair, as a client leaves it that cuts an emoji in
    two. Any other text is as it was."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
