"""Long texts: what is made of them, and that reading them takes no more than their length."""

import json
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest

from assistant.imports import json_items
from memory_store import (
    Fact,
    Record,
    Round,
    rule_facts,
)
from memory_store._changes.links import linked
from memory_store._keys import keys_of
from memory_store.language import ENGLISH, sentences, terms
from memory_store.language.authorship import authorship
from memory_store.language.statements import stated
from memory_store.recall._speakers import without_names

_START = datetime(2024, 5, 1, tzinfo=UTC)
_DISORDER = "\u0315\u0300"


def _round(text: str, index: int = 0) -> Round:
    return Round("ann", "s", index, _START + timedelta(minutes=index), text)


@pytest.mark.parametrize("opening", ["- ", "– ", "— - ", "ok, - ", "no - ", "and - so ", "* - "])
def test_openings_are_read_in_one_way_only(opening: str) -> None:
    # Read in two ways each, two hundred of them would take for ever.
    assert stated(f"{opening * 200}x I live here") is None
    known = stated(f"{opening * 200}I live in Ghent.")
    assert known is not None
    assert known.value == "ghent"


def test_words_are_the_same_in_pieces() -> None:
    words = ["Zoe\u0308", "ﬁne", "ＡＢＣ", "naïve", "e\u0315\u0300"]
    assert terms(" ".join(words * 1000)) == terms(" ".join(words)) * 1000


def test_a_statement_in_doubt_contradicts_the_latest_alone() -> None:
    held = [_round(f"I have {n + 10} cats at home.", n) for n in range(100)]
    doubted = [
        _round(f"Can you fix this?\n\nI now have {n} cats at home.", n) for n in range(500, 600)
    ]
    records = [Record(round, rule_facts(round)) for round in (*held, *doubted)]
    found = [fact for record in linked(records, ["have cat"]) for fact in record.facts]
    contradicted = [[link.text for link in fact.contradicts] for fact in found if fact.in_doubt]
    latest = [f"I have {n + 10} cats at home." for n in range(84, 100)]
    assert contradicted == [latest] * 100


def test_thousands_of_facts_share_keys() -> None:
    facts = tuple(Fact(f"I have {n} cats.") for n in range(5000))
    keys = [key.text for key in keys_of(Record(_round("Cats."), facts))]
    assert len(keys) < 500
    assert {line for key in keys for line in key.split("\n")} == {"Cats.", *(f.text for f in facts)}


@pytest.mark.parametrize(
    "value",
    [
        [],
        [1, -2.5e3, True, None, 'a\n\u20ac"b'],
        ["x" * 200_000, {"a": ["y" * 70_000, {"b": "z" * 70_000}], "c": {}}],
        [list(range(50_000)), {str(n): [n] for n in range(20_000)}],
        [" " * 1022 + "1", 12345678901234567890],
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_items_are_what_json_says(value: list[object], indent: int | None) -> None:
    content = json.dumps(value, indent=indent).encode()
    assert list(json_items.items_of(content)) == value


@pytest.mark.parametrize("before", range(4))
def test_a_part_may_end_within_a_character(before: int) -> None:
    value = ["x" * before + "👩‍👩‍👧é" * 40_000, {"漢" * 5_000: ["é" * 700, 1]}] * 3
    content = json.dumps(value, ensure_ascii=False)
    assert list(json_items.items_of(content.encode())) == value
    assert list(json_items.items_of(content.encode("utf-16"))) == value
    with pytest.raises(UnicodeDecodeError):
        list(json_items.items_of(content.encode()[:-20] + b"\xf0]"))


def test_a_list_is_never_text_as_a_whole() -> None:
    said = [{"said": f"{n} 🍵" * 50} for n in range(20_000)]
    content = json.dumps(said, ensure_ascii=False).encode()
    tracemalloc.start()
    assert sum(1 for _ in json_items.items_of(content)) == 20_000
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < len(content) / 20


@pytest.mark.parametrize(
    "text",
    [
        f"[{'[' * 100_000}",
        f'["{"a" * 100_000}',
        f"[[{'1,' * 50_000}]]",
        f'[{{"a": {"[" + "1," * 50_000 + "1]"} "b": 1}}]',
        "[1] x",
        '{"a": 1}',
    ],
)
def test_what_is_no_list_in_json_is_refused(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        list(json_items.items_of(text.encode()))


def test_an_item_of_more_values_than_may_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert json_items.MOST_VALUES == 2_000_000
    monkeypatch.setattr(json_items, "MOST_VALUES", 200_000)
    with pytest.raises(json_items.TooManyValues):
        list(json_items.items_of(f"[[{'[],' * 100_000}[]]]".encode()))


_UNITS = [
    *("monday ", "said ", "1/1/1 ", "I ", "my ", "- ", "'", '"', "“", "(", "[", "<", "\n> ", "\t"),
    *("\n", "_", "9", "1 ", "1,", "漢", "👩‍👩‍👧", _DISORDER, "\ufdfa", "İ", "e.g. ", "and I "),
    *(", and I ", "http://", "A ", "A&", "in May ", "2023-05-06 ", "between monday and ", "the "),
    *(
        "how many ",
        "what? ",
        "Anna: hi\n",
        "`",
        "```",
        "\\",
        "#",
        "Dr. ",
        " a",
        "...",
        "。",
        "said: ",
    ),
]
_READERS: dict[str, tuple[int, Callable[[str], object]]] = {
    "facts": (1_000_000, lambda text: rule_facts(_round(f"I live in Ghent.\n{text}"))),
    "authorship": (1_000_000, authorship),
    "sentences": (1_000_000, sentences),
    "stated": (1_000_000, stated),
    "terms": (1_000_000, terms),
    "asked": (1_000_000, lambda text: ENGLISH.asked(text, date(2024, 5, 1))),
    "days": (65_000, lambda text: ENGLISH.event_days(text, _START)),
    "range": (32_768, lambda text: ENGLISH.time_range(text, date(2024, 5, 1))),
    "names": (32_768, lambda text: without_names(text, ["Anna Stone"])),
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", _UNITS, ids=ascii)
@pytest.mark.parametrize("name", _READERS)
def test_time_grows_no_faster_than_the_text(name: str, unit: str) -> None:
    most, read = _READERS[name]
    text = (unit * (most // len(unit) + 1))[:most]
    taken: list[float] = []
    for share in (16, 8, 4, 2, 1):
        part = text[: most // share]
        taken.append(min(_seconds(read, part) for _ in range(2)))
    # Sixteen times the text in at most forty times its time: a square would be 256.
    assert taken[-1] < max(0.05, 40 * taken[0])


def _seconds(read: Callable[[str], object], text: str) -> float:
    # Of the processor: other programs do not count.
    began = time.thread_time()
    read(text)
    return time.thread_time() - began
