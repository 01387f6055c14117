"""The events that questions about time name."""

import pytest

from assistant.answering.conclusions import EventPhrases, asked_choice, asked_span

SPANS = {
    "How many days ago did I adopt Miso?": EventPhrases("adopt Miso", "", "day"),
    "How many weeks ago was my concert?": EventPhrases("was my concert", "", "week"),
    "How many days passed between my run and the concert?": EventPhrases(
        "my run", "the concert", "day"
    ),
    "How many months between the day I moved to Porto and my wedding?": EventPhrases(
        "I moved to Porto", "my wedding", "month"
    ),
    "How many days before the race did I buy shoes?": EventPhrases(
        "the race", "I buy shoes", "day"
    ),
    "How many days did it take for me to paint the kayak after buying it?": EventPhrases(
        "paint the kayak", "buying it", "day"
    ),
    "How long have I been using the loom since I got it?": None,
    "How many days since I planted the tree?": EventPhrases("I planted the tree", "", "day"),
    "How many weeks is it since we moved?": EventPhrases("we moved", "", "week"),
    "How many bikes do I own?": None,
    "Where did I run?": None,
}


@pytest.mark.parametrize(("question", "phrases"), SPANS.items())
def test_spans(question: str, phrases: EventPhrases | None) -> None:
    found = asked_span(question)
    if phrases is None:
        assert found is None or found.unit is None
    else:
        assert found == phrases


CHOICES = {
    "Which did I buy first, the kayak or the loom?": ("kayak", "loom", False),
    "Which event was the latest: my wedding or the trip to Porto?": (
        "my wedding",
        "trip to Porto",
        True,
    ),
    "Did I meet first Ann or Bo?": ("Ann", "Bo", False),
    "Should I take tea or coffee?": None,
    "Which did I buy first?": None,
}


@pytest.mark.parametrize(("question", "choice"), CHOICES.items())
def test_choices(question: str, choice: tuple[str, str, bool] | None) -> None:
    assert asked_choice(question) == choice
