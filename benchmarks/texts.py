"""Made-up chat messages of natural lengths: the same ones in every run."""

import random

_STARTS = ("I", "My sister", "We", "Our neighbour", "By the way, I", "My boss")
_VERBS = ("bought", "lost", "repaired", "painted", "sold", "borrowed", "found", "ordered")
_THINGS = ("a bicycle", "two lamps", "the garden fence", "a cello", "some oats", "a tent", "a map")
_WHEN = ("yesterday", "last Tuesday", "in March", "two weeks ago", "this morning", "on holiday")

_OPENINGS = ("You could", "It often helps to", "Most people", "If you have time,", "Before that,")
_ACTIONS = ("compare", "clean and oil", "measure", "ask a friend about", "photograph", "insure")
_REASONS = (
    "because the first offer is rarely the best one",
    "so that nothing gets lost when you move house",
    "which takes an afternoon at most and saves money later",
    "unless the weather turns cold and wet again",
    "and keep the receipt in case something breaks",
)
_ASKED = ("Who bought", "When did I repair", "What did I do with", "Did my sister sell", "Who lost")


def messages(count: int, seed: int = 0) -> list[str]:
    """Messages of one to eight sentences, mostly short, all different."""
    random_ = random.Random(seed)
    return [
        " ".join(
            _sentence(random_, number) for _ in range(min(8, 1 + int(random_.expovariate(0.6))))
        )
        for number in range(count)
    ]


def replies(count: int, words: int = 120, seed: int = 1) -> list[str]:
    """Replies of an assistant in plain English, of about `words` words each, all different."""
    random_ = random.Random(seed)
    said = []
    for number in range(count):
        length = max(10, int(words * random_.lognormvariate(0.0, 0.5)))
        sentences = [f"Noted as number {number}."]
        while sum(map(len, sentences)) < 6 * length:
            sentences.append(_advice(random_))
        said.append(" ".join(sentences))
    return said


def questions(count: int, seed: int = 2) -> list[str]:
    """Questions that a user of `messages` may ask, all different."""
    random_ = random.Random(seed)
    return [
        f"{random_.choice(_ASKED)} {random_.choice(_THINGS)} {random_.choice(_WHEN)}, number {n}?"
        for n in range(count)
    ]


def _advice(random_: random.Random) -> str:
    opening, action, reason = (random_.choice(part) for part in (_OPENINGS, _ACTIONS, _REASONS))
    return f"{opening} {action} {random_.choice(_THINGS)} {reason}."


def _sentence(random_: random.Random, number: int) -> str:
    words = [random_.choice(part) for part in (_STARTS, _VERBS, _THINGS, _WHEN)]
    return f"{' '.join(words)}, number {number}."
