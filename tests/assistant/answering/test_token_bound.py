"""The whole is never counted: what its parts take is never less, and little more."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from assistant.answering.context import Context, ContextRequest, build_context
from assistant.answering.packing import Passage
from assistant.answering.plan import Layout
from assistant.answering.standing import StandingRequest
from assistant.models.token_counter import tokenizer_counter
from memory_store import Record, Round

START = datetime(2021, 1, 1, tzinfo=UTC)
COUNT = tokenizer_counter()
AWKWARD = [
    *("a", "Word", " ", "  ", "\n", "\n\n", "\t", "\r\n", ".", "...", "!", "1", "2023", "<", '"'),
    *("</memory>", "'s", "\\", "é", "漢字", "👍🏽", "\u200b", "\u2028", "- ", "},{", "[", "]", ":"),
]
PLAIN = "I bought a red bicycle in May and I ride it to work. It cost 240 euros, by the way. "


def awkward(draw: random.Random) -> str:
    return "".join(draw.choices(AWKWARD, k=draw.randrange(30)))


def built(said: list[tuple[str, str]], budget: int, layout: Layout) -> Context:
    found = [
        Record(Round("u", f"s{n % 4}", n, START + timedelta(days=n % 4 * 233), *sides))
        for n, sides in enumerate(said)
    ]
    wanted = [StandingRequest(f"{n}", START, sides[0][:40]) for n, sides in enumerate(said[:3])]
    request = ContextRequest(
        "What did I buy?",
        START + timedelta(days=1400),
        budget,
        layout,
        requests=wanted,
    )
    return build_context([Passage(one, (one,)) for one in found], request, COUNT)


@pytest.mark.parametrize("layout", list(Layout))
def test_awkward_text_never_takes_more_than_was_counted(layout: Layout) -> None:
    draw = random.Random(7)
    for _ in range(300):
        said = [(awkward(draw), awkward(draw)) for _ in range(draw.randrange(1, 20))]
        context = built(said, draw.randrange(100, 2000), layout)
        assert COUNT(context.text) <= context.tokens


@pytest.mark.parametrize("layout", list(Layout))
def test_plain_text_takes_nearly_what_was_counted(layout: Layout) -> None:
    said = [(PLAIN * (1 + n % 3), PLAIN * (2 + n % 9)) for n in range(60)]
    context = built(said, 8000, layout)
    assert 0.97 * context.tokens <= COUNT(context.text) <= context.tokens <= 8000
