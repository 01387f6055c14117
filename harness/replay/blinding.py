"""Opaque names for everything that leaves the harness, and the way back.

In LongMemEval a session id can carry its own evidence label, so original ids never reach an
assistant. Names are hashes with the run's salt: the same run always produces the same names,
another run produces others.
"""

import hashlib
import secrets


def new_salt() -> str:
    """A fresh secret for one run, 128 bits as hex."""
    return secrets.token_hex(16)


class Blinding:
    """Maps ids of one run to opaque names."""

    def __init__(self, salt: str) -> None:
        if not salt:
            raise ValueError("a run needs a salt")
        self._salt = salt

    def user(self, history_id: str, attempt: int = 1) -> str:
        """The fresh user that owns this history; another attempt to bring it in is another user."""
        again = () if attempt == 1 else (attempt,)
        return "u" + self._digest("user", history_id, *again)

    def session(self, history_id: str, position: int) -> str:
        """The session at this file position; duplicates of one id get different names."""
        return "s" + self._digest("session", history_id, position)

    def turn(self, history_id: str, position: int, turn: int) -> str:
        """One turn: sending it twice under this name must record it once."""
        return "t" + self._digest("turn", history_id, position, turn)

    def asking_session(self, question_id: str) -> str:
        """The session in which the question itself is asked."""
        return "s" + self._digest("asking", question_id)

    def asking_turn(self, question_id: str) -> str:
        """The turn that is the question itself."""
        return "t" + self._digest("asking", question_id)

    def prompt(self, question_id: str) -> str:
        """The prompt of the question, where others answer it."""
        return "p" + self._digest("prompt", question_id)

    def _digest(self, *parts: str | int) -> str:
        text = "\x1f".join([self._salt, *(str(part) for part in parts)])
        return hashlib.sha256(text.encode()).hexdigest()[:24]
