"""A message is read once, when it comes in; what is stored is not read again to answer."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from calls import answer, chat
from served import served

from assistant import Settings, create_app
from memory_store.language import kinds


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The texts that the model of kinds read, in order, each as often as it did."""
    texts: list[str] = []
    features = kinds.features

    def counting(text: str) -> object:
        texts.append(text)
        return features(text)

    monkeypatch.setattr(kinds, "features", counting)
    kinds.kinds_of.cache_clear()
    yield texts
    kinds.kinds_of.cache_clear()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of an assistant of this test alone, without a language model."""
    with (
        served(create_app(Settings(embedder="hash", data_dir=tmp_path))) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client


def say(http: httpx.Client, text: str) -> str:
    return answer(chat(http, "ann", text, metadata={"session_id": "s"}))


@pytest.mark.parametrize(
    "text",
    ["i live in ghent", "where do i live", "hi", "forget that", "my pin is 4471 and dont save it"],
)
def test_one_sentence_is_read_once(own: httpx.Client, read: list[str], text: str) -> None:
    say(own, text)
    assert read == [text]


def test_no_text_is_read_twice_where_a_message_has_several(
    own: httpx.Client, read: list[str]
) -> None:
    say(own, "I moved to Ghent. I like tea, where can I buy some?")
    assert len(read) == len(set(read))


def test_what_is_stored_is_not_read_again_to_answer(own: httpx.Client, read: list[str]) -> None:
    told = ["I live in Ghent.", "where is my bike", "My cat is called Miso. I like tea!"]
    for text in told:
        say(own, text)
    kinds.kinds_of.cache_clear()
    read.clear()
    assert "“I live in Ghent.”" in say(own, "where do i live")
    assert read == ["where do i live"]
