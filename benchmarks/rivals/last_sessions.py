"""No product: the rounds of the last sessions, the latest session first, whatever is asked."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock

from benchmarks.rivals.rounds import RecalledRound, Round
from benchmarks.rivals.serving import serve

SESSIONS = 10


class LastSessions:
    """A memory of one file of JSON lines for each user."""

    def __init__(self, folder: Path, embeddings: str = "") -> None:
        self._folder = folder
        self._lock = Lock()

    def add(self, user: str, rounds: Sequence[Round]) -> None:
        """Keep rounds."""
        lines = "".join(json.dumps(asdict(told)) + "\n" for told in rounds)
        with self._lock, self._file(user).open("a") as file:
            file.write(lines)

    def search(self, user: str, question: str, limit: int) -> list[RecalledRound]:
        """All rounds of the last sessions; `limit` is ignored."""
        with self._lock:
            lines = self._file(user).read_text().splitlines() if self._file(user).exists() else []
        return latest(Round(**json.loads(line)) for line in lines)

    def forget(self, user: str) -> None:
        """Delete a user's file."""
        with self._lock:
            self._file(user).unlink(missing_ok=True)

    def _file(self, user: str) -> Path:
        return self._folder / f"{user.encode().hex()}.jsonl"


def latest(rounds: Iterable[Round], sessions: int = SESSIONS) -> list[RecalledRound]:
    """The rounds of the last sessions by date, the latest session first, each in its order."""
    told = list(rounds)
    began: dict[str, str] = {}
    for one in told:
        began[one.session] = min(began.get(one.session, one.said), one.said)
    names = sorted(began, key=lambda name: began[name], reverse=True)[:sessions]
    ordered = (one for name in names for one in told if one.session == name)
    return [RecalledRound(one.session, one.index, one.said, one.text) for one in ordered]


if __name__ == "__main__":
    serve(LastSessions)
