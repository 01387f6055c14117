"""Texts that wait to be encoded, and which of them come next.

A free worker takes the oldest text of the user who has had the least encoded, so that many texts of
one user do not delay a question of another user. With it the worker takes texts of about the same
length, so that little is wasted on padding.
"""

import asyncio
from dataclasses import dataclass, field
from itertools import chain, islice

from memory_store.embedding.cache import Vector
from memory_store.embedding.encoder import TextKind
from memory_store.scheduler import Shares, current_job

Key = bytes
"""Digest of the vector space, the kind and the text."""
LONGEST_READ = 1200
"""About how many characters of a text the packaged encoder reads."""
# A worker looks at this many waiting texts for some of about the same length.
_WINDOW = 64
# Characters by which a user may be ahead of others who have had more: those of an ordinary answer.
_CREDIT = 12_000
# Every text of a batch is padded to the longest one. A batch with more characters than this is no
# faster, and everybody else waits until it is done.
_PADDED_CHARACTERS = 2 * LONGEST_READ
# Fewer characters than this are not divided among workers: an encoder reads all its weights in each
# call, which then takes longer than the computing.
_WORTH_A_CALL = 400
# Texts that would add more padding to a batch than this are encoded sooner in a call of their own.
_PADDING = 40


@dataclass(slots=True)
class WaitingText:
    """A text that was asked for, and the future of its vector."""

    text: str
    kind: TextKind
    urgent: bool
    """Whether it goes before others."""
    forgets: int = 0
    """The embedder's count of calls of `forget` when the text was asked for."""
    owner: str = field(default_factory=lambda: current_job().owner)
    """The user in whose queue it waits."""
    vector: "asyncio.Future[Vector]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def size(self) -> int:
        """About how many of its characters are encoded."""
        return min(len(self.text), LONGEST_READ)


Batch = dict[Key, WaitingText]


class Waiting:
    """A queue for each user."""

    def __init__(self, workers: int, batch_size: int) -> None:
        self._workers = workers
        self._batch_size = batch_size
        self._queues: dict[str, Batch] = {}
        self._shares = Shares(_CREDIT)

    def __bool__(self) -> bool:
        return bool(self._queues)

    def add(self, key: Key, text: WaitingText) -> None:
        """Let a text wait behind the others of its owner."""
        self._queues.setdefault(text.owner, {})[key] = text

    def take(self, key: Key, text: WaitingText) -> bool:
        """Take a text out of the queue that it waits in. Return whether it was there."""
        queue = self._queues.get(text.owner, {})
        found = queue.pop(key, None) is not None
        if found and not queue:
            del self._queues[text.owner]
        return found

    def next_batch(self) -> Batch:
        """Take the text that is due and those nearest to it in length, at most a fair share of the
        waiting texts."""
        heads = {owner: next(iter(queue.values())) for owner, queue in self._queues.items()}
        due = heads[self._shares.next_of({owner: head.size for owner, head in heads.items()})]
        window = self._window(due)
        window.sort(key=lambda item: abs(item[1].size - due.size))
        share = -(-len(window) // self._workers)
        batch: Batch = {}
        longest = 0
        for key, text in window[: self._batch_size]:
            padding = max(longest - text.size, (text.size - longest) * len(batch))
            longest = max(longest, text.size)
            enough = _PADDED_CHARACTERS if len(batch) < share else _WORTH_A_CALL
            if batch and (padding > _PADDING or longest * (len(batch) + 1) > enough):
                break
            batch[key] = text
            self.take(key, text)
            self._shares.charge(text.owner, text.size)
        return batch

    def _window(self, due: WaitingText) -> list[tuple[Key, WaitingText]]:
        """The due text, then others that may share its batch: the oldest ones of each user."""
        own = self._queues[due.owner]
        queues = [own, *(queue for queue in self._queues.values() if queue is not own)]
        each = max(1, _WINDOW // len(queues))
        oldest = chain.from_iterable(islice(queue.items(), each) for queue in queues)
        return [item for item in islice(oldest, _WINDOW) if item[1].kind is due.kind]
