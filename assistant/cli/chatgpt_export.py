"""A ChatGPT data export on its way to the server: in pieces that its limit lets through."""

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from assistant.imports.chatgpt import read_conversations, read_session

_NAME = "conversations.json"


def zipped_pieces(content: bytes, most_bytes: int) -> Iterator[bytes]:
    """Exports of some of the conversations each, of so many bytes before they are packed, or of
    one longer conversation. Those that cannot be read are left out."""
    piece: list[Any] = []
    size = 0
    for conversation in filter(_can_be_read, read_conversations(content)):
        length = len(json.dumps(conversation))
        if piece and size + length > most_bytes:
            yield _zipped(piece)
            piece, size = [], 0
        piece.append(conversation)
        size += length
    if piece:
        yield _zipped(piece)


def _can_be_read(conversation: Any) -> bool:
    try:
        read_session(conversation)
    except ValueError:
        return False
    return True


def _zipped(conversations: Sequence[Any]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_NAME, json.dumps(conversations))
    return packed.getvalue()
