"""The judge without a model: its rules by table, its agreement with a model judge."""

from dataclasses import replace
from pathlib import Path

import pytest
from histories import instance

from benchmarks.lexical_judge import CONTROL, Row, cells, cross_validated, fit, read_rows
from harness.datasets.longmemeval import parse_instances
from harness.datasets.questions import digest_of
from harness.judges.lexical import LexicalJudge, decide, is_refusal
from harness.judges.lexical.judge import code_outline, conclusion, shipped_weights
from harness.judges.lexical.references import accepted_answers, references
from harness.judges.lexical.words import Day, content_words, days, quantities, tokens
from harness.records.digest import QuestionDigest

SHARED = Path(__file__).parents[4] / "shared" / "data"


def question(
    text: str, answer: str | int, kind: str = "multi-session", name: str = "q1"
) -> QuestionDigest:
    record = instance(name, question=text, answer=answer, question_type=kind)
    return digest_of(parse_instances([record], source="f")[0])


WALK = "How many days did the walk take?"
FIRST = "Which did I buy first, the green lamp or the oak table?"
ORDER = "What is the order of my three visits?"
LONG = "I looked at everything that you told me about the walk, one thing after the other. " * 3


@pytest.mark.parametrize(
    ("text", "answer", "kind", "hypothesis", "expected"),
    [
        ("Where do I live?", "Lund", "single-session-user", "You live in LUND now.", True),
        ("Where do I live?", "Lund", "single-session-user", "You live in Malmö.", False),
        ("Where do I live?", "Lund", "single-session-user", "", False),
        ("Where was it?", "Café Ångström", "single-session-user", "At cafe angstrom", True),
        (
            "Which shoes?",
            "red running shoes",
            "single-session-user",
            "Shoes for running, in red",
            True,
        ),
        ("How many bikes do I own?", 3, "multi-session", "You own three bikes.", True),
        ("How many bikes do I own?", "three", "multi-session", "3", True),
        ("How many bikes do I own?", 3, "multi-session", "You own four bikes.", False),
        ("How much was it?", "$1,300", "multi-session", "It was 1300 dollars.", True),
        ("How many?", "twenty-one", "multi-session", "21", True),
        (WALK, "18 days", "temporal-reasoning", "It took 19 days.", True),
        (WALK, "18 days", "temporal-reasoning", "It took 20 days.", False),
        (WALK, "18 days", "multi-session", "It took 19 days.", False),
        (WALK, "2 weeks", "temporal-reasoning", "It took 14 days.", True),
        (
            WALK,
            "7 days. 8 days (with the last) is also acceptable.",
            "temporal-reasoning",
            "8",
            True,
        ),
        (
            WALK,
            "7 days. 8 days (with the last) is also acceptable.",
            "temporal-reasoning",
            "6",
            False,
        ),
        (FIRST, "the oak table", "temporal-reasoning", "The oak table came first.", True),
        (FIRST, "the oak table", "temporal-reasoning", "You bought the green lamp first.", False),
        (
            ORDER,
            "First Rome, then Oslo, then Bern.",
            "temporal-reasoning",
            "Rome, Oslo, Bern",
            True,
        ),
        (
            ORDER,
            "First Rome, then Oslo, then Bern.",
            "temporal-reasoning",
            "Oslo, Rome, Bern",
            False,
        ),
        (ORDER, "First Rome, then Oslo, then Bern.", "temporal-reasoning", "Rome and Oslo", False),
        ("When was it?", "June 3rd", "temporal-reasoning", "On 2023-06-03.", True),
        ("When was it?", "June 3rd", "temporal-reasoning", "On June 4.", False),
        ("Did I finish?", "Yes", "knowledge-update", "Yes, you did.", True),
        (
            "What did you suggest for my cough?",
            "honey",
            "single-session-assistant",
            "From what we talked about:\n- On 2024-03-01 (Fri) I said: “A little honey.”",
            True,
        ),
        ("Did I finish?", "Yes", "knowledge-update", "There is no sign of it; not yet.", False),
        ("Did I finish?", "No", "knowledge-update", "You have not.", True),
        ("What is my rank?", "captain", "knowledge-update", "Captain; before, lieutenant.", True),
        (WALK, "5 days", "multi-session", f"{LONG} Day 3 was wet.\nFinal answer: 5 days.", True),
        (WALK, "3 days", "multi-session", f"{LONG} Day 3 was wet.\n{LONG} Final answer: 5", False),
    ],
)
def test_rules(text: str, answer: str | int, kind: str, hypothesis: str, expected: bool) -> None:
    decided = decide(question(text, answer, kind), hypothesis)
    assert decided.passed is expected, decided.reason


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("I don't know.", True),
        ("You did not mention a tent.", True),
        ("There is no information about that.", True),
        ("The information provided is not enough.", True),
        ("I couldn't find this in our conversations.", True),
        ("Your history does not say.", True),
        ("I don't know: I found nothing about that in what we talked about.", True),
        ("I don't have any information on that in our past conversations, sorry.", True),
        ("It is green.", False),
        ("You know Anna from school.", False),
        ("", False),
    ],
)
def test_abstention(hypothesis: str, expected: bool) -> None:
    asked = question("What colour is my tent?", "Not mentioned.", "multi-session", "q1_abs")
    assert decide(asked, hypothesis).passed is expected
    assert is_refusal(hypothesis) is expected


def test_a_preference_needs_the_rubrics_own_words() -> None:
    rubric = "The user would prefer gear for Leica cameras. They may not prefer phone lenses."
    asked = question("What gear should I buy?", rubric, "single-session-preference")
    assert decide(asked, "Since you use a Leica camera, a strap for it.").passed
    assert not decide(asked, "Phone lenses are nice.").passed


def test_words() -> None:
    assert content_words("I've bought the **Red** boxes!") == content_words("bought red box")
    assert tokens("3rd of Sept") == tokens("3 of September")
    assert accepted_answers("7 days. 8 days is also acceptable.") == ["7 days.", "8 days "]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two and a half hours, 1,300 and 9:30", [(2.5, "hour"), (1300, None)]),
        ("half an hour", [(0.5, "hour")]),
        ("a week", [(1, "week")]),
        ("3 weeks and 2 days", [(3 + 2 / 7, "week")]),
        ("3 weeks, then 2 days", [(3, "week"), (2, "day")]),
        ("2 thousand", [(2000, None)]),
        ("in session 3, on May 4 and 2023-05-06", []),
    ],
)
def test_quantities(text: str, expected: list[tuple[float, str | None]]) -> None:
    assert [(q.value, q.unit) for q in quantities(text)] == [
        (pytest.approx(value), unit) for value, unit in expected
    ]


@pytest.mark.parametrize(
    ("wanted", "said", "slack", "agrees"),
    [
        ("2 weeks", "14 days", 0, True),
        ("9 months", "9 months and 2 days", 0, True),
        ("9 months", "10 months", 0, False),
        ("9 months", "10 months", 1, True),
        ("1 year", "12 months", 0, True),
        ("1 year", "11 months", 1, False),
    ],
)
def test_agreement_of_durations(wanted: str, said: str, slack: float, agrees: bool) -> None:
    assert quantities(wanted)[0].agrees(quantities(said)[0], slack=slack) is agrees


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 May 2023", Day(5, 7, 2023)),
        ("May 7th, 2023", Day(5, 7, 2023)),
        ("2023/05/07", Day(5, 7, 2023)),
        ("on the 7th of May", Day(5, 7, None)),
        ("in May 2023", Day(5, None, 2023)),
    ],
)
def test_days(text: str, expected: Day) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "answer", "kind"),
    [
        ("How many bikes do I own?", "three", "quantity"),
        ("When did I go?", "June 3rd", "day"),
        ("Did I go?", "Yes. (Twice.)", "polarity"),
        (FIRST, "the oak table", "choice"),
        (ORDER, "First Rome, then Oslo.", "order"),
        ("Where do I live?", "Lund", "words"),
        ("Where do I keep it, at home or elsewhere?", "in the car", "words"),
    ],
)
def test_kinds_of_references(text: str, answer: str, kind: str) -> None:
    assert [item.kind for item in references(text, answer, tolerant=False)] == [kind]


@pytest.mark.parametrize(
    ("hypothesis", "first"),
    [
        ("You own 3.", "You own 3."),
        (f"{LONG} Final answer: 5 days. Bye.", "5 days."),
        (f"You own 3. {LONG}", "You own 3."),
        (f"To answer this, I look at all of it. {LONG} Therefore, it is 4.", "it is 4."),
    ],
)
def test_conclusions(hypothesis: str, first: str) -> None:
    assert conclusion(hypothesis)[0] == first


@pytest.mark.parametrize("hypothesis", ["You own three bikes.", "3", "Three: two old, one new."])
def test_sureness_is_at_least_a_coins(hypothesis: str) -> None:
    decided = decide(question("How many bikes do I own?", 3), hypothesis)
    assert decided.passed
    assert 0.5 <= decided.certainty <= 1


def test_an_answer_to_something_else_fails_though_its_number_fits() -> None:
    asked = question("How many bikes do I own?", 3)
    assert not decide(asked, "You watched three festival films with your sister in Oslo.").passed


def test_any_alternative_answer_suffices() -> None:
    asked = replace(question("Where do I live?", "Lund"), alternatives=("Malmö",))
    assert decide(asked, "In Malmö.").passed
    assert decide(asked, "In Lund.").passed
    assert not decide(asked, "In Oslo.").passed


async def test_verdicts_carry_their_reason_and_certainty() -> None:
    judge = LexicalJudge()
    verdict = await judge.judge(question("Where?", "Lund"), "Malmö")
    assert verdict.verdict == "no"
    assert verdict.raw.startswith("fact: 0.")
    assert verdict.certainty is not None
    assert verdict.certainty > 0.9
    assert judge.hash == LexicalJudge().hash
    assert len(judge.hash) == 12


@pytest.fixture(scope="module")
def judged() -> list[Row]:
    answers = SHARED / "judged_longmemeval_dev.jsonl"
    if not answers.exists():
        pytest.skip("the development data is not there")
    return read_rows(SHARED / "longmemeval_oracle_dev100.json.xz", answers)


@pytest.mark.real_data
def test_agreement_with_model_judges_on_questions_it_was_not_fitted_on(judged: list[Row]) -> None:
    table = cells(judged, cross_validated(judged))
    assert table["all"]["n"] == 862
    assert table["all"]["agreement"] >= 0.87
    by_judge = {name.split(" ")[0]: cell for name, cell in table.items()}
    assert by_judge["gpt-4o-2024-08-06"]["agreement"] >= 0.94
    assert by_judge["gemini-2.5-pro"]["agreement"] >= 0.92
    controls = {name: cell for name, cell in table.items() if name.startswith(CONTROL)}
    assert len(controls) == 5
    for name, cell in controls.items():
        assert cell["passes_wrong"] / cell["n"] <= 0.02, name
    assert table[f"{CONTROL}empty"]["passes_wrong"] == 0


@pytest.mark.real_data
def test_the_shipped_coefficients_are_those_of_the_fit(judged: list[Row]) -> None:
    fitted, shipped = fit(judged), shipped_weights()
    assert shipped.veto_off_topic == fitted.veto_off_topic
    for family, weights in fitted.families.items():
        assert shipped.families[family] == pytest.approx(weights, abs=0.01)


REFORMATTED = (
    'def f(x):\n    return "a" + x\n',
    "def f( x ) :\n    '''Says what it does.'''\n    return ('a'\n        + x)  # why\n",
)


def test_the_hash_is_of_rules_not_of_how_they_are_written() -> None:
    first, second = map(code_outline, REFORMATTED)
    assert first == second
    for other in ('"b" + x', '"a" - x', '"a" + x + x'):
        assert code_outline(f"def f(x):\n    return {other}\n") != first
    assert code_outline('X = {"a": 1.5, "b": None}') != code_outline('X = {"a": 1.5, "b": 0}')


def test_where_the_harness_keeps_a_name_is_no_rule() -> None:
    moved = ("from harness.old import f\nX = f(1)\n", "from harness.new import f\nX = f(1)\n")
    assert code_outline(moved[0]) == code_outline(moved[1])
    assert code_outline("from a import f\n") != code_outline("from b import f\n")


def test_rules_that_were_only_written_anew_keep_the_hash_of_their_verdicts() -> None:
    """Of changed rules the entry in `rewritten.json` goes, and the judge gets another version."""
    assert LexicalJudge().hash == "6f41dcb3cc2c"
