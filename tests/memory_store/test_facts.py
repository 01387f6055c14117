"""Rule facts: the user's own statements, and nothing else."""

from datetime import UTC, datetime

import pytest

from memory_store._facts import only_asks, rule_facts
from memory_store._types import Record, Round, Speaker
from memory_store.language.sentences import sentences


def said(text: str) -> Round:
    return Round("ann", "s", 0, datetime(2023, 5, 20, tzinfo=UTC), text, "I am the assistant.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("A list:\n- milk\n- eggs", ["A list:", "- milk", "- eggs"]),
        ('She said "stop." Then left.', ['She said "stop.', "Then left."]),
        ("It costs 3.50 today.", ["It costs 3.50 today."]),
        (
            "I see Dr. Maes at St. Luke's. Is she good?",
            ["I see Dr. Maes at St. Luke's.", "Is she good?"],
        ),
        ("Fruit, e.g. pears. Cats vs. dogs.", ["Fruit, e.g. pears.", "Cats vs. dogs."]),
        ("I had a pest. It left.", ["I had a pest.", "It left."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("started running last thursday", ["started running last thursday"]),
        ("Adopted a dog 2 weeks ago!", ["Adopted a dog 2 weeks ago!"]),
        ("quit google and started at spotify", ["quit google and started at spotify"]),
        ("rent is now 950", ["rent is now 950"]),
        ("write a poem about cats", []),
        ("That sounds like a great plan.", []),
        ("thanks for all the help", []),
        ("Cats are lovely animals.", []),
        ("what did the dentist say", []),
        ("我住在哪里？我的猫叫什么名字？", []),  # full-width marks
    ],
)
def test_a_statement_may_leave_out_its_subject(text: str, facts: list[str]) -> None:
    assert [fact.text for fact in rule_facts(said(text))] == facts


LINE = "There was so much to see, but I bought only"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (f"{LINE}\na red bicycle.", True),
        (f"{LINE},\nafter all, a bicycle.", True),
        (f"{LINE} 2\nred bicycles.", True),
        (f"{LINE}:\na red bicycle", False),
        (f"{LINE}\n\na red bicycle", False),
        (f"{LINE}\n- a red bicycle", False),
        (f"{LINE}\n    return bicycle", False),
        (f"{LINE}\nA red bicycle stood there.", False),
        (f"{LINE}\ni still like it", False),
        ("i have a cat\nmy dog is called Rex", False),
        ("milk\neggs\nbread", False),
    ],
)
def test_a_wrapped_line_ends_no_sentence(text: str, is_one: bool) -> None:
    assert (sentences(text) == [text]) is is_one


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I adopted a cat last week. Any names?", ["I adopted a cat last week."]),
        ("By the way, I've moved to Ghent.", ["By the way, I've moved to Ghent."]),
        ("By the way, I’ve moved to Ghent.", ["By the way, I’ve moved to Ghent."]),
        ("Our dog is called Rex!", ["Our dog is called Rex!"]),
        ("Can you help me with my homework?", []),
        ("what is my dentist's name", []),
        ("What's new: I moved to Ghent", ["What's new: I moved to Ghent"]),
        ("where was I, I live in Ghent now", ["where was I, I live in Ghent now"]),
        ("where did i put my keys\ni have two cats", ["i have two cats"]),
        ("What I like is my garden", ["What I like is my garden"]),
        ("When I was in Rome I lost my bag", ["When I was in Rome I lost my bag"]),
        ("What is dear to me is my garden.", ["What is dear to me is my garden."]),
        ("Cats are nice animals to have.", []),
        ("I do.", []),
        ("I like tea in bed. I like tea in bed.", ["I like tea in bed."]),
        ("Iguanas need warmth at night.", []),
        ("I moved to Ghent, where can one swim?", ["I moved to Ghent"]),
        ("My rent is 950 now - is that much?", ["My rent is 950 now"]),
        ("hey i just got a puppy so can you suggest names?", ["hey i just got a puppy"]),
        ("I don't live in Ghent, do I?", []),
        ("I live in Ghent now, is that right?", []),
        ("My old flat in Ghent, how big was it?", []),
        ("If I move to Ghent, can I keep my car?", []),
        ("Of all the books I read, which was the longest?", []),
        ("Before I moved to Ghent, where did I live?", []),
        ("I've been meaning to ask, do you like tea?", []),
        (
            "On my way home through the park I bought a\nred bicycle. It squeaks.",
            ["On my way home through the park I bought a\nred bicycle."],
        ),
    ],
)
def test_rule_facts_are_first_person_statements(text: str, facts: list[str]) -> None:
    assert [fact.text for fact in rule_facts(said(text))] == facts


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        (
            "My name is Sofia and I live in Lyon.",
            {
                "My name is Sofia and I live in Lyon.": None,
                "My name is Sofia": "name",
                "I live in Lyon.": "live in",
            },
        ),
        ("I live in Lyon and I like it.", {"I live in Lyon and I like it.": "live in"}),
        ("I sing and I have a cat.", {"I sing and I have a cat.": None}),
    ],
)
def test_a_sentence_about_two_things_is_a_fact_of_each(
    text: str, slots: dict[str, str | None]
) -> None:
    assert {fact.text: fact.slot for fact in rule_facts(said(text))} == slots


def test_facts_carry_their_speaker_and_source() -> None:
    (fact,) = rule_facts(said("I play the cello."))
    assert (fact.speaker, fact.source) == (Speaker.USER, "rule")


def test_a_pasted_document_makes_a_bounded_number_of_facts() -> None:
    diary = " ".join(f"I walked {miles} miles today." for miles in range(500))
    assert len(rule_facts(said(diary))) == 32


def test_no_bound_parts_a_sentence_from_what_it_is_made_of() -> None:
    diary = " ".join(f"I walked {miles} miles today." for miles in range(30))
    both = "My name is Sofia and I live in Lyon."
    found = [fact.text for fact in rule_facts(said(f"{diary} {both}"))]
    assert (len(found), both in found) == (30, False)
    found = [fact.text for fact in rule_facts(said(f"{both} {diary}"))]
    assert (len(found), found[:3]) == (32, [both, "My name is Sofia", "I live in Lyon."])


def test_what_a_question_begins_with_is_told_unless_it_asks_as_well() -> None:
    def asks(text: str) -> bool:
        return only_asks(Record(said(text), rule_facts(said(text))))

    assert asks("What is the capital of Portugal?")
    assert not asks("I moved to Ghent last week, can you recommend a bakery?")


def test_spaces_before_a_question_take_no_time() -> None:
    """Nearly a minute, where each space was tried as the beginning of the question."""
    text = "".join(f"I moved{' ' * 20_000}to town {n}, where can I swim?\n\n" for n in range(9))
    assert rule_facts(said(text)) == ()  # far longer than a fact
