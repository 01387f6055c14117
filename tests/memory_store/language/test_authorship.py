"""The parts of the rule that tells whose words a message is."""

import time

import pytest

from benchmarks.authorship.train import NUMBERS, examples, to_json, trained
from memory_store.language.authorship import (
    UNKNOWN,
    Judgement,
    authorship,
    features,
    quotations,
)
from memory_store.language.languages import languages_of
from memory_store.language.sentences import TextUnit, units_of


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("", []),
        ("  \n \n", []),
        ("I moved. I am glad!", [("I moved.", 0), ("I am glad!", 3)]),
        ("He wrote me\nI moved.", [("He wrote me", 1), ("I moved.", 3)]),
        ("Read this\n\n\nI moved.", [("Read this", 2), ("I moved.", 3)]),
        ("Who sings this: I moved", [("Who sings this:", 0), ("I moved", 3)]),
        ("I wake up at 7:30 now.", [("I wake up at 7:30 now.", 3)]),
        ("My dentist is Dr. Peeters.", [("My dentist is Dr. Peeters.", 3)]),
        ("1. I moved.\n2. I left.", [("1. I moved.", 1), ("2. I left.", 3)]),
        ("请翻译。我搬家了", [("请翻译。", 0), ("我搬家了", 3)]),
        (
            "I have lived in this little town on the coast\nsince May.",
            [("I have lived in this little town on the coast since May.", 3)],
        ),
    ],
)
def test_units(text: str, units: list[tuple[str, int]]) -> None:
    assert [(unit.text, unit.breaks) for unit in units_of(text)] == units


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("I don't know", []),
        ('She said "I moved." Nice.', ['"I moved."']),
        ("« J'habite ici » dit-il", ["« J'habite ici »"]),
        ("„Ich wohne hier“, sagte er", ["„Ich wohne hier“"]),
        ("他说「我搬家了」", ["「我搬家了」"]),
        ("‘I moved,’ he said", ["‘I moved,’"]),
        ("> I moved\nreally?", ["> I moved"]),
        ("```\nmine\n``` and mine", ["```\nmine\n```"]),
        ('open "never closed\nnext line\n\nmine', ['"never closed\nnext line\n\n']),
    ],
)
def test_quotations(text: str, quoted: list[str]) -> None:
    assert [text[first:last] for first, last in quotations(text)] == quoted


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("What is the best way to store them?", {"en"}),
        ("Kannst du mir das bitte übersetzen?", {"de"}),
        ("Peux-tu résumer cet e-mail s'il te plaît ?", {"fr"}),
        ("¿Me puedes ayudar con esto?", {"es"}),
        ("这句话是什么意思？", {"CJK"}),
        ("Исправь ошибки.", {"CYRILLIC"}),
        ("帮我翻译一下 I moved to Beijing last week.", {"CJK", "en"}),
        ("我在 Google 工作。", {"CJK"}),
        ("Bruges!", set()),
    ],
)
def test_the_languages_of_a_sentence(text: str, languages: set[str]) -> None:
    assert languages_of(text) == languages


def test_unknown_words_are_all_alike() -> None:
    known = {"i", "moved", "to"}
    to_bruges = set(features(TextUnit("I moved to Bruges."), known))
    assert to_bruges == set(features(TextUnit("I moved to Xyzzyx."), known))
    assert f"b to {UNKNOWN}" in to_bruges


def test_a_word_said_often_counts_once() -> None:
    judgement = Judgement(frozenset({"very"}), {"w very": 1.0}, 0.0)
    once, often = (TextUnit(f"{'very ' * count}far.") for count in (1, 90))
    assert judgement.foreignness(once) == judgement.foreignness(often)


def test_a_text_that_is_very_long_is_never_surely_ones_own() -> None:
    said = "I live in Ghent. I have two cats. "
    assert authorship(said * 5).is_sure
    assert not authorship(said * 200).is_sure


_HOSTILE = {
    "a cue again and again": "said ",
    "stops without space": ".",
    "colons": "a: ",
    "quotation marks": "\"'“",
    "quotes that open": "'a 'b ",
    "lines": "a\n",
    "blank lines": "\n \n",
    "spaces": " ",
    "dots and spaces": ". ",
    "brackets": ".)",
    "Chinese stops": "。",
    "fences": "`",
    "long words": "_",
}


@pytest.mark.slow
@pytest.mark.parametrize("piece", _HOSTILE.values(), ids=_HOSTILE)
def test_twice_the_text_takes_at_most_twice_the_time(piece: str) -> None:
    def seconds(length: int) -> float:
        text = f"I live in Ghent.\na{piece * (length // len(piece))}"
        times = []
        for _ in range(7):
            begun = time.process_time()
            authorship(text)
            times.append(time.process_time() - begun)
        return min(times)

    once, twice = seconds(160_000), seconds(320_000)
    assert once < 2
    assert twice <= 2.2 * once + 0.02


@pytest.mark.slow
def test_the_numbers_follow_from_the_labelled_examples() -> None:
    assert to_json(trained(list(examples()))) == NUMBERS.read_text("utf-8")
