"""Text that no rule is written for: whole sentences are its facts, and nothing is concluded."""

from datetime import UTC, datetime

import pytest

from memory_store import KeyDesign, Round, rule_facts
from memory_store.language import ENGLISH, PLAIN

SAID = datetime(2024, 5, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Ich wohne jetzt in Gent. Wie wird das Wetter?", ["Ich wohne jetzt in Gent."]),
        ("J'ai adopté un chat, il s'appelle Miso.", ["J'ai adopté un chat, il s'appelle Miso."]),
        ("我搬到了根特。我的猫叫味噌。天气怎么样？", ["我搬到了根特。", "我的猫叫味噌。"]),
        ("¿Dónde vivo?", []),
        ("", []),
    ],
)
def test_sentences_that_ask_nothing_are_facts(text: str, told: list[str]) -> None:
    facts = rule_facts(Round("ann", "s", 0, SAID, text), PLAIN)
    assert [fact.text for fact in facts] == told
    assert all(fact.slot is None and not fact.event_dates for fact in facts)


def test_no_more_facts_of_a_pasted_text_than_with_rules() -> None:
    text = " ".join(f"Satz Nummer {n} steht hier." for n in range(500))
    assert len(rule_facts(Round("ann", "s", 0, SAID, text), PLAIN)) == 32


def test_nothing_is_concluded() -> None:
    assert PLAIN.stated("I live in Ghent.") is None
    assert PLAIN.asked_slot("Where do I live?") is None
    assert PLAIN.replacements(["Clara lives in Rome.", "Clara moved to Lisbon."]) == {}
    assert PLAIN.as_statement("Where do I live?") == "Where do I live?"


def test_a_language_is_part_of_what_a_memory_is() -> None:
    assert KeyDesign() == KeyDesign(language=ENGLISH)
    assert str(KeyDesign(language=PLAIN)) == "raw+fact+keyphrases+summary plain"
