"""Keys: the texts under which a round can be found."""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import TypeAdapter

from memory_store import _keys as keys
from memory_store._facts import rule_facts
from memory_store._keys import KeyDesign, KeyKind, keys_of
from memory_store._types import Record, Round


def a_round(user: str, assistant: str = "") -> Round:
    return Round("ann", "s", 0, datetime(2023, 5, 20, tzinfo=UTC), user, assistant)


def test_the_raw_key_comes_first_and_each_fact_has_its_own() -> None:
    round = a_round("I moved to Ghent. Where can one eat well?", "At the harbour.")
    keys = keys_of(Record(round, rule_facts(round)))
    assert [(key.kind, key.text) for key in keys] == [
        (KeyKind.RAW, "I moved to Ghent. Where can one eat well?"),
        (KeyKind.FACT, "I moved to Ghent."),
    ]


def test_what_a_question_begins_with_has_a_key_only_where_the_message_has_none() -> None:
    round = a_round("I moved to Ghent, where can one eat well?")
    record = Record(round, rule_facts(round))
    assert [key.text for key in keys_of(record)] == ["I moved to Ghent, where can one eat well?"]
    only_facts = KeyDesign((KeyKind.FACT,))
    assert [key.text for key in keys_of(record, only_facts)] == ["I moved to Ghent"]


def test_a_fact_that_is_the_whole_text_is_not_a_second_key() -> None:
    round = a_round("I moved to Ghent.")
    assert len(keys_of(Record(round, rule_facts(round)))) == 1


def test_a_round_without_user_text_is_found_by_what_the_assistant_said() -> None:
    assert [key.text for key in keys_of(Record(a_round("", "Welcome back!")))] == ["Welcome back!"]


def test_a_blank_round_has_no_key() -> None:
    assert keys_of(Record(a_round("", ""))) == []


def test_text_beyond_the_encoders_window_gets_keys_of_its_own() -> None:
    text = " ".join(f"word{number}" for number in range(400))
    keys = keys_of(Record(a_round(text)))
    assert all(len(key.text) <= 1000 for key in keys)
    assert " ".join(key.text for key in keys) == text


def test_keys_of_an_endless_text_are_bounded_and_reach_as_far_as_they_can() -> None:
    text = "".join(f"{number:06}" for number in range(10_000))
    keys = keys_of(Record(a_round(text)))
    assert [key.text for key in keys] == [text[at : at + 1000] for at in range(0, 8000, 1000)]


@pytest.mark.parametrize(
    ("design", "texts"),
    [
        (KeyDesign(), ["I moved to Ghent. Where to eat?", "I moved to Ghent.", "a; b", "A move."]),
        (KeyDesign((KeyKind.RAW,)), ["I moved to Ghent. Where to eat?"]),
        (KeyDesign((KeyKind.FACT,)), ["I moved to Ghent."]),
        (
            KeyDesign((KeyKind.FACT, KeyKind.RAW), merged=True),
            ["I moved to Ghent.\nI moved to Ghent. Where to eat?"],
        ),
        (KeyDesign((KeyKind.SUMMARY, KeyKind.KEYPHRASES)), ["a; b", "A move."]),
    ],
    ids=str,
)
def test_a_design_takes_some_of_the_texts(design: KeyDesign, texts: list[str]) -> None:
    round = a_round("I moved to Ghent. Where to eat?")
    record = Record(round, rule_facts(round), keyphrases=("a", "b"), summary="A move.")
    assert [key.text for key in keys_of(record, design)] == texts


@pytest.mark.parametrize("merged", [False, True])
def test_a_round_that_has_nothing_the_design_takes_keeps_its_raw_key(merged: bool) -> None:
    record = Record(a_round("Where to eat?"))
    keys = keys_of(record, KeyDesign((KeyKind.FACT,), merged))
    assert [key.text for key in keys] == ["Where to eat?"]
    assert keys_of(Record(a_round("")), KeyDesign(merged=merged)) == []


DOCS = Path(__file__).parents[2] / "docs"


def test_a_kind_of_key_is_one_line_as_the_documents_show(monkeypatch: pytest.MonkeyPatch) -> None:
    line = re.findall(r"```python\n( +TOOLS = .*\n)```", (DOCS / "architecture.md").read_text())[0]
    source = Path(str(keys.__file__)).read_text()
    last = re.findall(r"^    SUMMARY = .*\n", source, re.MULTILINE)[0]
    extended = ModuleType("keys_with_one_more")
    monkeypatch.setitem(sys.modules, extended.__name__, extended)
    exec(source.replace(last, last + line), extended.__dict__)
    kind = TypeAdapter(extended.KeyKind).validate_python("tools")

    round = Round("ann", "s", 0, datetime(2023, 5, 20, tzinfo=UTC), "Hi!", tools=("weather",))
    of_tools = extended.keys_of(Record(round), extended.KeyDesign((kind,)))
    assert [(key.kind, key.text) for key in of_tools] == [("tools", "weather")]
    both = extended.KeyDesign((kind, extended.KeyKind.RAW))
    assert [key.text for key in extended.keys_of(Record(round), both)] == ["Hi!", "weather"]
    assert str(both) == "raw+tools"
    assert str(extended.KeyDesign()) == str(KeyDesign()) == "raw+fact+keyphrases+summary"


def test_every_kind_of_key_is_in_the_documents() -> None:
    table = (DOCS / "recall.md").read_text().split("## Keys: what is searched")[1].split("##")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])] == list(
        KeyKind
    )
