"""What is said of somebody else: whom it is about, and what replaces what."""

import pytest

from memory_store.language.statements import replacements, stated_of_another


@pytest.mark.parametrize(
    ("statement", "who", "slot", "value", "replaces"),
    [
        ("Clara lives in Porto.", "clara", "live in", "porto", False),
        ("No, Clara moved to Lisbon.", "clara", "live in", "lisbon", True),
        ("Actually Clara Maes moved to Lisbon last month", "clara maes", "live in", "lisbon", True),
        ("By the way, my sister now lives in Rome.", "my sister", "live in", "rome", True),
        ("My sister Clara lives in Rome.", "clara", "live in", "rome", False),
        ("Tom works at Acme.", "tom", "work at", "acme", False),
        ("Tom doesn’t work at Acme anymore.", "tom", "work at", "acme", True),
        ("Clara no longer lives in Porto.", "clara", "live in", "porto", True),
        ("Clara's favourite colour is green.", "clara", "favourit colour", "green", True),
    ],
)
def test_what_is_stated(statement: str, who: str, slot: str, value: str, replaces: bool) -> None:
    found = stated_of_another(statement)
    assert found is not None
    about, said = found
    assert (about, said.slot, said.value, said.replaces) == (who, slot, value, replaces)


@pytest.mark.parametrize(
    "statement",
    [
        "I live in Ghent.",
        "We moved to Ghent.",
        "He lives in Porto.",
        "The shop is open.",
        "Clara would live in Porto if she could.",
        "Does Clara live in Porto?",
        "Clara likes tea.",
        "",
    ],
)
def test_what_rules_do_not_surely_understand(statement: str) -> None:
    assert stated_of_another(statement) is None


@pytest.mark.parametrize(
    ("said", "replaced"),
    [
        (["Clara lives in Porto.", "No, Clara moved to Lisbon."], {0: 1}),
        (["Clara lives in Porto.", "Clara lives in Lisbon."], {}),
        (["Clara lives in Porto.", "Tom moved to Lisbon."], {}),
        (["Clara lives in Porto.", "Tom moved to Faro.", "Clara moved to Lisbon."], {0: 2}),
        (["Clara lives in Porto.", "Clara moved to Faro.", "Clara moved to Rome."], {0: 1, 1: 2}),
        (["Clara moved to Porto.", "Clara no longer lives in Porto."], {0: 1}),
        (["My sister lives in Porto.", "My brother moved to Lisbon."], {}),
        ([], {}),
    ],
)
def test_the_newest_holds(said: list[str], replaced: dict[int, int]) -> None:
    assert replacements(said) == replaced
