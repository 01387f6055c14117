"""Made-up chat messages of natural lengths: the same ones in every run."""

import random

_STARTS = ("I", "My sister", "We", "Our neighbour", "By the way, I", "My boss")
_VERBS = ("bought", "lost", "repaired", "painted", "sold", "borrowed", "found", "ordered")
_THINGS = ("a bicycle", "two lamps", "the garden fence", "a cello", "some oats", "a tent", "a map")
_WHEN = ("yesterday", "last Tuesday", "in March", "two weeks ago", "this morning", "on holiday")


def messages(count: int, seed: int = 0) -> list[str]:
    """Messages of one to eight sentences, mostly short, all different."""
    random_ = random.Random(seed)
    return [
        " ".join(
            _sentence(random_, number) for _ in range(min(8, 1 + int(random_.expovariate(0.6))))
        )
        for number in range(count)
    ]


def _sentence(random_: random.Random, number: int) -> str:
    words = [random_.choice(part) for part in (_STARTS, _VERBS, _THINGS, _WHEN)]
    return f"{' '.join(words)}, number {number}."
