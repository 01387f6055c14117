"""Made-up memories of many users, ready to be written: points with keys, words and payload.

As in real histories (LongMemEval_S, measured), a round has some 175 words without stop words, with
frequencies after Zipf and Mandelbrot; a session has ten rounds about one topic; a question names
five words, most of them rare. Rounds have more keys than real ones, three to six against two or
three, so that figures err on the slow side. Texts are drawn again and again from a pool, so that a
million rounds take minutes. The numbers are the same every time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from memory_store import Query, Record, Round, round_id
from memory_store._points import to_point
from memory_store.embedding.encoder import EncoderIdentity, Matrix, TextKind
from memory_store.engines._engine import Point
from memory_store.language import ENGLISH

DIMENSION = 384
ASKED_ON = date(2025, 1, 15)
_START = datetime(2024, 1, 1, tzinfo=UTC)
_ROUNDS_A_SESSION = 10
_TOPICS = 2000
_VOCABULARY = 30_000
_FLATTENED_RANKS = 20  # Mandelbrot's shift, because of which no word is in nearly every round.
_USER_WORDS, _ASSISTANT_WORDS = 28, 125
_QUESTION_WORDS = 5
_MOST_ROUNDS = 50_000
_SPREAD = 2.4  # The standard deviation of the logarithm of people's numbers of rounds.
_MONTHS = ("in March", "in June", "in September")


@dataclass(frozen=True, slots=True)
class Crowd:
    """A number of rounds and of users. The rounds are spread evenly, or `as_people` have them: most
    users have few."""

    rounds: int
    users: int
    prefix: str = "user"
    as_people: bool = False

    def __str__(self) -> str:
        users = f"{self.users:,} user{'s' * (self.users > 1)}"
        return f"{self.rounds:,} rounds of {users}{', most with few' * self.as_people}"

    def places(self, numbers: range) -> list[tuple[str, int]]:
        """The user of each of these rounds, and its number among the user's own rounds. Users come
        one after the other."""
        ends = _ends(self)
        users = np.searchsorted(ends, numbers, side="right")
        before = np.where(users > 0, ends[users - 1], 0)
        own = (np.asarray(numbers) - before).tolist()
        return [(f"{self.prefix}{user}", place) for user, place in zip(users, own, strict=True)]

    def rounds_of(self, user: int) -> int:
        """How many rounds the user of this number has."""
        return int(np.diff(_ends(self), prepend=0)[user])

    def asking(self, random: np.random.Generator) -> int:
        """Draw the number of a user who asks. Among people, those who told more ask more."""
        if not self.as_people:
            return int(random.integers(self.users))
        return int(np.searchsorted(_ends(self), random.integers(self.rounds), side="right"))


@cache
def _ends(crowd: Crowd) -> npt.NDArray[np.int64]:
    """The end of each user's rounds among all rounds."""
    if not crowd.as_people:
        each = -(-crowd.rounds // crowd.users)
        return np.minimum(np.arange(1, crowd.users + 1) * each, crowd.rounds)
    sizes = np.random.default_rng(0).permutation(sizes_of_people(crowd.rounds, crowd.users))
    return np.floor(np.cumsum(sizes) + 0.5).astype(np.int64)


def sizes_of_people(rounds: int, users: int) -> npt.NDArray[np.float64]:
    """How many rounds each of these people has, the fewest first.

    The numbers are log-normal, as what people write is; nobody has less than one round or more than
    50,000, which is ten a day for fourteen years. Of 10,000 people with a million rounds, half have
    at most six, one in a hundred more than 1,500, ten more than 10,000, and these ten a fifth of
    all.
    """
    if not users <= rounds <= users * _MOST_ROUNDS:
        raise ValueError(f"{users} people cannot have {rounds} rounds")
    normal = NormalDist(0, _SPREAD)
    shape = np.exp([normal.inv_cdf((rank + 0.5) / users) for rank in range(users)])
    least, most = 1e-12, 1e12
    sizes = shape
    while most / least > 1 + 1e-12:
        median = (least * most) ** 0.5
        sizes = np.asarray(np.clip(median * shape, 1, _MOST_ROUNDS))
        least, most = (median, most) if sizes.sum() < rounds else (least, median)
    return sizes


class Memories:
    """Points and questions from one seed; every call goes on with the same generator."""

    def __init__(self, *, keys: Sequence[int] = (3, 4, 5, 6), texts: int = 2000, seed: int = 0):
        self._random = np.random.default_rng(seed)
        self._topics = self._rows(_TOPICS)
        self._keys = np.asarray(keys)
        ranks = np.arange(_VOCABULARY)
        often = np.cumsum(1.0 / (ranks + _FLATTENED_RANKS))
        self._often = often / often[-1]
        self._pool = [self._said() for _ in range(texts)]
        self._asked = 0

    def points(self, crowd: Crowd, batch: int = 2000) -> Iterator[list[Point]]:
        """Every point of a crowd, users one after the other, in batches."""
        for start in range(0, crowd.rounds, batch):
            places = crowd.places(range(start, min(start + batch, crowd.rounds)))
            counts = self._random.choice(self._keys, len(places))
            topics = [self._topic(user, number) for user, number in places]
            rows = self._near(self._topics[np.repeat(topics, counts)])
            texts = self._random.integers(len(self._pool), size=len(places))
            parts = np.split(rows, np.cumsum(counts)[:-1])
            yield [
                self._point(user, number, self._pool[text], keys)
                for (user, number), text, keys in zip(places, texts, parts, strict=True)
            ]

    def queries(self, crowd: Crowd, count: int) -> tuple[list[Query], Matrix]:
        """Questions of users, each about one of the user's topics; every other names a month.

        The second value holds a vector for each question.
        """
        queries, topics = [], []
        for number in range(self._asked, self._asked + count):
            asking = crowd.asking(self._random)
            user = f"{crowd.prefix}{asking}"
            topics.append(self._topic(user, int(self._random.integers(crowd.rounds_of(asking)))))
            ranks = np.exp(self._random.uniform(np.log(10), np.log(20_000), _QUESTION_WORDS))
            month = _MONTHS[number % len(_MONTHS)] if number % 2 else ""
            text = f"what {' '.join(_word(int(rank)) for rank in ranks)} {number} {month}"
            queries.append(Query(user, text, asked_on=ASKED_ON))
        self._asked += count
        return queries, self._near(self._topics[topics])

    def replies(self) -> list[str]:
        """The assistant's text in each of the pool's rounds."""
        return [str(point.payload["assistant_text"]) for point in self._pool]

    def _said(self) -> Point:
        """A round for the pool: its texts, words and payload, without keys and without a user."""
        lengths = self._random.lognormal(0.0, 0.5, 2) * (_USER_WORDS, _ASSISTANT_WORDS)
        user, assistant = (self._text(max(3, int(length))) for length in lengths)
        reading = ENGLISH.read(user)
        record = Record(Round("nobody", "none", 0, _START, user, assistant, reading=reading))
        return to_point(record, np.empty((0, DIMENSION), np.float32))

    def _text(self, words: int) -> str:
        # About half of the words of a text are repeated in it.
        different = self._random.random(-(-words * 4 // 7))
        ranks = np.searchsorted(self._often, self._random.choice(different, words))
        return " ".join(_word(int(rank)) for rank in ranks)

    def _point(self, user: str, number: int, said: Point, keys: Matrix) -> Point:
        session = f"s{number // _ROUNDS_A_SESSION}"
        when = _START + timedelta(hours=number * 7 % 8760)
        mine = {
            "user_id": user,
            "session_id": session,
            "round_index": number,
            "session_date": when.isoformat(),
            "event_days": [f"{when.date()}T00:00:00Z"] if number % 5 == 0 else [],
        }
        payload = {**said.payload, **mine}
        return replace(said, id=round_id(user, session, number), keys=keys, payload=payload)

    def _topic(self, user: str, number: int) -> int:
        """The topic of a round. A session has one topic; a user has some thirty topics."""
        interest = number // _ROUNDS_A_SESSION % 30
        return int(round_id(user, "topic", interest)[:8], 16) % _TOPICS

    def _rows(self, count: int) -> Matrix:
        rows = self._random.standard_normal((count, DIMENSION), dtype=np.float32)
        return _unit(rows)

    def _near(self, rows: Matrix) -> Matrix:
        """A neighbour of each row; two neighbours of one row have a cosine of about one half."""
        return _unit(rows + self._rows(len(rows)))


class PreparedEncoder:
    """An encoder of vectors that were made before; it finds them by the digits in each text."""

    def __init__(self, texts: Sequence[str], rows: Matrix) -> None:
        self._rows = dict(zip(map(_number, texts), rows, strict=True))
        self.identity = EncoderIdentity("prepared", DIMENSION)
        self.path = "prepared"

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """The prepared row of each text; a reworded question still holds its number."""
        return np.stack([self._rows[_number(text)] for text in texts])


def _number(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _unit(rows: npt.NDArray[np.float32]) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _word(rank: int) -> str:
    """A word for a rank, of three or four syllables."""
    syllables = []
    rest = rank + 75 * 75
    while rest:
        rest, place = divmod(rest, 75)
        syllables.append("bcdfghklmnprtvz"[place // 5] + "aeiou"[place % 5])
    return "".join(syllables)
