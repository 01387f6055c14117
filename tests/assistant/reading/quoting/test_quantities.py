"""Numbers in statements."""

import pytest

from assistant.reading.quoting.quantities import amounts, count_of, counted_phrase, counts_owned


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("How many bikes do I own?", ("bike",)),
        ("How many different vintage cameras have I bought?", ("vintage", "camera")),
        ("How many of them are red?", ()),
        ("How many stories did I write?", ("story",)),
        ("How much is it?", ()),
    ],
)
def test_what_is_counted(question: str, phrase: tuple[str, ...]) -> None:
    assert counted_phrase(question) == phrase


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("I own three bikes.", 3),
        ("I have 12 old road bikes now", 12),
        ("1,200 bikes were there", 1200),
        ("My bikes are red.", None),
        ("Three cars and a bike", None),
        ("I just fixed my 5th bike.", 5),
    ],
)
def test_numbers_given_for_it(statement: str, number: int | None) -> None:
    assert count_of(("bike",), statement) == number


def test_the_whole_phrase_is_counted() -> None:
    said = "I own 12 bikes, including 5 road bikes and two stories"
    assert count_of(("road", "bike"), said) == 5
    assert count_of(("mountain", "bike"), said) is None
    assert count_of(("story",), said) == 2


@pytest.mark.parametrize(
    ("question", "owned"),
    [
        ("How many kids do I have?", True),
        ("How many bikes do we currently own?", True),
        ("How many cats have I got?", True),
        ("How many kids came to the party?", False),
        ("How many books have I read?", False),
        ("How many pages do I have left?", False),
        (f"How many came{', and who else' * 20}, and what do I have?", False),
    ],
)
def test_it_may_ask_for_what_one_has(question: str, owned: bool) -> None:
    assert counts_owned(question) is owned


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("We had a party with 11 kids.", None),
        ("I live here with our two kids.", 2),
        ("I now have 3 kids.", 3),
        ("I’ve got a couple of friends, four kids and a dog.", None),
        ("I've four kids.", 4),
    ],
)
def test_of_what_one_has_only_what_one_says_to_have_counts(said: str, number: int | None) -> None:
    assert count_of(("kid",), said, owned=True) == number


def test_amounts_count_once() -> None:
    found = amounts(["It cost $40.", "$1,200.50 and $3", "the $40 shirt"])
    assert found == [("$", 40), ("$", 1200.5), ("$", 3)]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("The bill was 130 euros.", [("€", 130)]),
        ("I paid 1,020.50 € for it, and £3 for the bag.", [("€", 1020.5), ("£", 3)]),
        ("It was 900€, or 1000 dollars.", [("€", 900), ("$", 1000)]),
        ("I lost 3 pounds in 2 weeks.", []),
        ("I got €5 back.", [("€", 5)]),
        ("Lunch was 12,50 €, or €3,20 with a voucher.", [("€", 12.5), ("€", 3.2)]),
        ("The rent is 1.200 €, the bail 2.400,50 euros.", [("€", 1200), ("€", 2400.5)]),
        (
            "It cost 12,500 €, then $1,234,567.89, then $9.5.",
            [("€", 12500), ("$", 1234567.89), ("$", 9.5)],
        ),
        ("It was $1.200, 12,5 € or 1.23.4 €.", []),
    ],
)
def test_amounts_know_their_currency(said: str, found: list[tuple[str, float]]) -> None:
    assert amounts([said]) == found
