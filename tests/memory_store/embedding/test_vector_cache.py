"""The cache of vectors: bounded, least recently used first, and never changing under a reader."""

import pickle

import numpy as np
import pytest

from memory_store.embedding.cache import VectorCache


def vector(value: float) -> np.ndarray:
    return np.array([value, value], np.float32)


def kept(cache: VectorCache, keys: str) -> str:
    return "".join(key for key in keys if cache.get(key) is not None)


def test_what_was_put_is_got() -> None:
    cache = VectorCache(2, 2)
    cache.put("a", vector(1))
    found = cache.get("a")
    assert found is not None
    assert found.tolist() == [1, 1]
    assert cache.get("b") is None


@pytest.mark.parametrize(
    ("puts", "left"), [("ab", "ab"), ("abc", "bc"), ("aba", "ab"), ("abac", "ac"), ("abcabc", "bc")]
)
def test_the_least_recently_put_goes_first(puts: str, left: str) -> None:
    cache = VectorCache(2, 2)
    for number, key in enumerate(puts):
        cache.put(key, vector(number))
    assert kept(cache, "abc") == left
    assert len(cache) == 2


def test_getting_counts_as_using() -> None:
    cache = VectorCache(2, 2)
    cache.put("a", vector(1))
    cache.put("b", vector(2))
    cache.get("a")
    cache.put("c", vector(3))
    assert kept(cache, "abc") == "ac"


def test_a_vector_in_hand_does_not_change_when_its_row_is_used_again() -> None:
    cache = VectorCache(1, 2)
    cache.put("a", vector(1))
    in_hand = cache.get("a")
    cache.put("b", vector(2))
    assert in_hand is not None
    assert in_hand.tolist() == [1, 1]


def test_rows_are_never_mixed_up() -> None:
    cache = VectorCache(5, 2)
    for number in range(200):
        cache.put(number % 7, vector(number))
        found = cache.get(number % 7)
        assert found is not None
        assert found[0] == number


def test_a_cache_of_nothing_keeps_nothing() -> None:
    cache = VectorCache(0, 2)
    cache.put("a", vector(1))
    assert cache.get("a") is None


def test_what_is_forgotten_leaves_its_place_to_another() -> None:
    cache = VectorCache(2, 2)
    for key in "ab":
        cache.put(key, vector(1))
    cache.forget("a")
    cache.forget("c")
    assert kept(cache, "abc") == "b"
    cache.put("c", vector(2))
    assert kept(cache, "abc") == "bc"
    cache.put("d", vector(3))
    assert kept(cache, "abcd") == "cd"


def test_nothing_is_left_of_what_was_cleared() -> None:
    cache = VectorCache(4, 2)
    for key in "abcd":
        cache.put(key, vector(1))
    assert vector(1).tobytes() in pickle.dumps(cache)
    cache.forget("b")
    cache.clear()
    assert (len(cache), kept(cache, "abcd")) == (0, "")
    assert vector(1).tobytes() not in pickle.dumps(cache)
    for key in "abcde":
        cache.put(key, vector(2))
    assert kept(cache, "abcde") == "bcde"
