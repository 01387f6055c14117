"""Notes and answer told apart in one streamed reply. Pure.

The model writes its notes first, then a line with the marker, then the answer. Only what follows
the marker may reach the user. A reply without the marker is all answer, unless it began as notes.
"""

import re

MARKER = "ANSWER:"
"""What the prompt asks for; decorations are tolerated."""

# Models decorate the marker: "**ANSWER:**", "### Answer:".
_MARKER_LINE = re.compile(r"(?:^|\n)[ \t#*_>`]*answer[*_` ]*:[*_`]*[ \t]*\n?", re.I)
# Some forget the new line; then only the marker exactly as asked for is trusted.
_MARKER_IN_LINE = re.compile(r"[*_`]*\bANSWER:[*_`]*[ \t]*\n?")
_NOTES_LINE = re.compile(r"[\s#*_>`]*notes[*_` ]*:", re.I)


class NotesFilter:
    """Feed it the reply piece by piece; it gives back the pieces of the answer."""

    def __init__(self) -> None:
        self._held = ""
        self._notes: str | None = None
        self._begun = False

    @property
    def notes(self) -> str:
        """The notes, once the marker was seen; empty before that and without a marker."""
        return self._notes or ""

    def feed(self, piece: str) -> str:
        """The answer text that this piece lets through; empty while notes are written."""
        if self._notes is not None:
            return self._trimmed(piece)
        line = max(0, self._held.rfind("\n"))
        self._held += piece
        match = _MARKER_LINE.search(self._held, line)
        # The match must not touch the end: "ANSWER:" may still be followed by its decoration.
        if match is None or match.end() == len(self._held):
            return ""
        return self._split(match)

    def finish(self, *, cut: bool = False) -> str:
        """What is left when the reply ends: nothing, or the answer in a reply without the marker.

        `cut` says that the reply ended before its end, so that notes at its end are no answer.
        """
        if self._notes is not None:
            return ""
        match = _MARKER_LINE.search(self._held)
        if match is None and _NOTES_LINE.match(self._held):
            match = _MARKER_IN_LINE.search(self._held)
        if match is not None:
            return self._split(match)
        return _without_notes(self._held, cut)

    def _split(self, match: re.Match[str]) -> str:
        self._notes = self._held[: match.start()].strip()
        return self._trimmed(self._held[match.end() :])

    def _trimmed(self, text: str) -> str:
        """Leading white space of the answer is dropped."""
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        return text


def _without_notes(reply: str, cut: bool) -> str:
    """The answer of a reply without the marker: its last paragraph if it began with notes.

    Empty when there are nothing but notes.
    """
    if not _NOTES_LINE.match(reply):
        return reply.strip()
    paragraphs = [part.strip() for part in reply.split("\n\n") if part.strip()]
    return paragraphs[-1] if len(paragraphs) > 1 and not cut else ""
