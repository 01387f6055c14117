"""Terms: what counts as the same word."""

import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memory_store.language.words import (
    indexed_counts,
    named_terms,
    query_terms,
    shared_words,
    stem,
    term_counts,
    terms,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Running", "runs"),
        ("CATS", "cat"),
        ("recommended", "recommend"),
        ("ﬁsh", "fish"),  # a ligature, as PDFs paste it
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("我上周搬到北京。", "我上 上周 周搬 搬到 到北 北京"),
        ("東京タワー", "東京 京タ タワ ワー"),
        ("iPhone手机坏了", "iphone 手机 机坏 坏了"),
        ("茶", "茶"),
        ("서울 привет", "서울 привет"),
        ("𠮷野家", "𠮷野 野家"),
    ],
)
def test_scripts_without_spaces_are_split_into_pairs(text: str, parts: str) -> None:
    assert list(named_terms(text).values()) == parts.split()


def test_a_word_within_a_sentence_without_spaces_is_found() -> None:
    assert shared_words("北京", "我上周搬到北京了") == 1.0
    assert shared_words("上海", "我上周搬到北京了") == 0.0


def test_stop_words_are_not_terms() -> None:
    assert terms("What did you say about it, and why?") == terms("say")


def test_counts_follow_the_text() -> None:
    counts = term_counts("tea, tea and coffee")
    assert sorted(counts.values()) == [1, 2]
    assert counts.total() == 3


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("The RED_cat's 3rd life,\x1fwell\tdone", "the red_cat s 3rd life well done"),
        ("naïve Ｃafé", "naïve café"),  # another normal form, and letters beyond ASCII
        ("tea\N{RIGHT SINGLE QUOTATION MARK}s\N{EM DASH}cups", "tea's-cups"),
    ],
)
def test_words_are_the_same_with_and_without_letters_beyond_ascii(text: str, same: str) -> None:
    assert terms(text) == terms(same) != []


def test_terms_do_not_depend_on_the_process() -> None:
    # Numbers are stored: they must never change. This one was computed once and written down.
    assert terms("cat") == [0x9E5E43A8]


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("red cat", "the cat is red", 1.0),
        ("red cat", "a dog that is red", 0.5),
        ("red cat", "nothing", 0.0),
        ("what is it", "anything", 0.0),
    ],
)
def test_shared_words(query: str, text: str, share: float) -> None:
    assert shared_words(query, text) == share


@pytest.fixture
def _threads_take_turns_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_threads_take_turns_often")
def test_threads_do_not_disturb_each_others_stems() -> None:
    starts = ("hop", "paint", "nation", "care", "bicycl", "garden", "remember", "celebr")
    words = [f"{start}{end}" for start in starts for end in ("ing", "ations", "fulness", "ies")]
    expected = [stem(word) for word in words]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: [stem(word) for word in words], range(8)))
    assert found == [expected] * 8


@pytest.mark.usefixtures("_threads_take_turns_often")
def test_threads_do_not_disturb_each_others_terms() -> None:
    # Words of this test only: terms that are known are not stemmed again.
    ends = ("ing", "ations", "fulness", "ies")
    texts = [[f"quux{n}x{m}{ends[m % 4]}" for m in range(40)] for n in range(32)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda words: terms(" ".join(words)), texts))
    assert found == [[zlib.crc32(stem(word).encode()) for word in words] for words in texts]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Wann sind die Termine?", "der Termin ist am Dienstag"),
        ("termine?", "der Termin ist am Dienstag"),  # too short to tell its language
        ("¿qué libros leí?", "estoy leyendo el libro de mi hermana"),
        ("est-ce que je mange des viandes", "je ne mange plus de viande depuis un an"),
        ("quantas vezes fui às praias", "fui à praia com a minha irmã"),
        ("какие книги я читал", "это моя книга"),
        ("What did I tell Jürgen?", "ich habe Jürgen das Rad geliehen"),  # in another language
        ("katze 4711", "unsere katze hat die nummer 4711"),
    ],
)
def test_a_word_is_found_in_the_language_of_its_text(query: str, text: str) -> None:
    held = indexed_counts(text).keys()
    assert any(not held.isdisjoint(of_word) for of_word in query_terms(query))
    assert shared_words(query, text) > 0


def test_what_was_indexed_before_is_still_found() -> None:
    text = "unsere Katze heißt Minka"
    assert set(term_counts(text)) <= set(indexed_counts(text))
    old = term_counts(text).keys()
    asked = query_terms("wie heißt die Katze?")
    assert [word for terms, word in asked.items() if not old.isdisjoint(terms)] == [
        "heißt",
        "katze",
    ]


def test_english_has_one_term_a_word() -> None:
    text = "I moved to the house by the river, and what a die it was"
    assert indexed_counts(text) == term_counts(text)
    assert list(query_terms(text)) == [(term,) for term in dict.fromkeys(terms(text))]
