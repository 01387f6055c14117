"""Which speakers a question names, and what of it is searched."""

from collections.abc import Iterable

import pytest

from memory_store.recall._speakers import named_speakers, speakers_of, without_names

ANN, BOB, WILL = (speakers_of(name, None) for name in ("Ann", "Bob Stone", "Will"))
MELANIE = speakers_of("Melanie Stone", None)
ZOË = speakers_of("Zoë", None)
ANN_TO_MAX, BOB_TO_MAX = (speakers_of(name, "Max") for name in ("Ann", "Bob"))
ALONE = speakers_of(None, None)


@pytest.mark.parametrize(
    ("text", "rounds", "named"),
    [
        ("What did Ann paint?", [ANN, BOB], {"Ann"}),
        ("what did ann paint?", [ANN, BOB], {"Ann"}),
        ("What is Ann's dog called?", [ANN, BOB], {"Ann"}),
        ("What did Bob and Ann paint?", [ANN, BOB], {"Ann", "Bob Stone"}),
        ("When does Stone leave?", [ANN, BOB], {"Bob Stone"}),
        ("What is the stone for?", [ANN, BOB], set()),
        ("Who painted the annex?", [ANN, BOB], set()),
        ("What did I paint?", [ANN, BOB], set()),
        ("What did Ann paint?", [ANN, BOB, ALONE], {"Ann"}),
        ("What did Ann paint?", [ANN, ALONE], set()),  # the only one who has a name
        ("What did Ann paint?", [ANN, ANN], set()),  # no choice
        ("What did Max say to Ann?", [ANN_TO_MAX, BOB_TO_MAX], {"Ann"}),
        ("Will it rain?", [ANN, WILL], set()),
        ("Did Will paint?", [ANN, WILL], {"Will"}),
        ("What did I do in the 2 weeks?", [ANN, speakers_of("User 2", None)], set()),
        ("Where did I work?", [ANN, speakers_of("John I.", None)], set()),
        ("Do I work from home?", [ANN, speakers_of("Anna from work", None)], set()),
        ("When will it rain?", [ANN, WILL], set()),
        ("What did Ann paint?", [], set()),
        ("What did Mel paint?", [ANN, MELANIE], {"Melanie Stone"}),
        ("What did mel paint?", [ANN, MELANIE], set()),
        ("Mel, what is that?", [ANN, MELANIE], set()),
        ("What did Me paint?", [ANN, MELANIE], set()),
        ("What did Ann paint?", [ANN, speakers_of("Annabel", None)], {"Ann"}),
        ("What did Zoe paint?", [ANN, ZOË], {"Zoë"}),
        ("What did Zoe\u0308 paint?", [ANN, ZOË], {"Zoë"}),
        ("What did Zoë paint?", [ANN, speakers_of("Zoe\u0308", None)], {"Zoe\u0308"}),
        ("What did Ibrahim paint?", [ANN, speakers_of("İbrahim", None)], {"İbrahim"}),
        ("What did IŞIL paint?", [ANN, speakers_of("Işıl", None)], {"Işıl"}),
    ],
)
def test_speakers_are_named_by_words_of_their_names(
    text: str, rounds: Iterable[frozenset[str]], named: set[str]
) -> None:
    assert named_speakers(text, rounds) == named


@pytest.mark.parametrize(
    ("text", "asker", "named"),
    [
        ("What did I paint?", "Ann", {"Ann"}),
        ("Is my bike as old as Stone's?", "Ann", {"Ann", "Bob Stone"}),
        ("What did we paint?", "Ann", set()),
        ("What did I paint?", "Zoë", set()),  # who said nothing
        ("What did I paint?", None, set()),
    ],
)
def test_who_asks_of_themselves_is_named(text: str, asker: str | None, named: set[str]) -> None:
    assert named_speakers(text, [ANN, BOB], asker) == named


@pytest.mark.parametrize(
    ("text", "names", "bare"),
    [
        ("What did Ann paint?", ["Ann"], "What did paint?"),
        ("What did ann say to Bob?", ["Ann", "Bob Stone"], "What did say to ?"),
        ("Is Ann's dog old?", ["Ann"], "Is 's dog old?"),
        ("Ann?", ["Ann"], "Ann?"),  # nothing would be left
        ("Who painted the annex?", ["Ann"], "Who painted the annex?"),
        ("Did Will paint?", ["Will"], "Did paint?"),
        ("What did Mel paint?", ["Melanie Stone"], "What did paint?"),
        ("What did Zoe\u0308 paint?", ["Zoë"], "What did paint?"),
    ],
)
def test_their_names_are_not_searched(text: str, names: list[str], bare: str) -> None:
    assert " ".join(without_names(text, names).split()) == bare
