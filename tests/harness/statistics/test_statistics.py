"""Intervals, tests and power, by hand, by tables and beside statsmodels."""

import math

import pytest
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from harness.statistics.intervals import (
    bootstrap_mean,
    proportion,
    repeats_table,
    wilson_interval,
)
from harness.statistics.paired_tests import (
    Pairs,
    agreement_of,
    exact_mcnemar,
    holm,
    kappa,
    mcnemar_worse,
    questions_needed,
    smallest_difference,
    unpaired_worse,
)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(400, 500, 76.3, 83.3), (24, 30, 62.7, 90.5), (30, 30, 88.6, 100), (0, 30, 0, 11.4)],
)
def test_wilson_v10(right: int, n: int, low: float, high: float) -> None:
    interval = wilson_interval(right, n)
    assert (100 * interval.low, 100 * interval.high) == pytest.approx((low, high), abs=0.05)
    theirs = proportion_confint(right, n, alpha=0.05, method="wilson")
    assert interval == pytest.approx(theirs, abs=1e-12)


def test_all_and_none_have_a_bound_that_is_exact() -> None:
    for n in range(1, 60):
        assert wilson_interval(n, n).high == 1
        assert wilson_interval(0, n).low == 0


def test_nothing_known_is_anything_possible() -> None:
    assert wilson_interval(0, 0) == (0, 1)
    assert proportion(0, 0) == {"value": None, "low": 0, "high": 1, "n": 0}


def test_pairs_are_counted_crosswise() -> None:
    pairs = Pairs.of([True, True, True, False], [True, False, False, True])
    assert pairs == Pairs(both=1, only_first=2, only_second=1, neither=0)
    assert (pairs.n, pairs.discordant, pairs.difference) == (4, 3, -0.25)


@pytest.mark.parametrize(
    ("pairs", "p"),
    [
        (Pairs(50, 0, 0, 50), 1.0),
        (Pairs(1, 0, 0, 0), 1.0),
        (Pairs(0, 1, 0, 0), 1.0),
        (Pairs(0, 0, 0, 0), 1.0),
        (Pairs(80, 0, 6, 14), 2 / 2**6),
        (Pairs(80, 2, 10, 8), 2 * (1 + 12 + 66) / 2**12),
        (Pairs(70, 10, 10, 10), 1.0),
    ],
)
def test_mcnemar_is_exact(pairs: Pairs, p: float) -> None:
    table = [[pairs.both, pairs.only_first], [pairs.only_second, pairs.neither]]
    assert exact_mcnemar(pairs) == pytest.approx(p)
    assert exact_mcnemar(pairs) == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-12)


@pytest.mark.parametrize(
    ("gained", "lost", "p"), [(33, 17, 0.033), (32, 18, 0.065), (15, 5, 0.041)]
)
def test_mcnemar_v11(gained: int, lost: int, p: float) -> None:
    """Of 50 pairs that differ, 33 to 17 is the first split below 0.05."""
    assert exact_mcnemar(Pairs(100, lost, gained, 100)) == pytest.approx(p, abs=5e-4)
    assert exact_mcnemar(Pairs(100, gained, lost, 100)) == pytest.approx(p, abs=5e-4)


@pytest.mark.parametrize(
    ("pairs", "p"),
    [
        (Pairs(50, 0, 0, 50), 1.0),
        (Pairs(80, 5, 0, 15), 1 / 2**5),
        (Pairs(80, 0, 5, 15), 1.0),
        (Pairs(80, 3, 1, 16), 5 / 16),
    ],
)
def test_only_getting_worse_counts_against_the_second(pairs: Pairs, p: float) -> None:
    assert mcnemar_worse(pairs) == pytest.approx(p)


def test_an_unpaired_test_sees_less_than_a_paired_one() -> None:
    paired, unpaired = mcnemar_worse(Pairs(80, 8, 0, 12)), unpaired_worse((88, 100), (80, 100))
    assert paired == pytest.approx(1 / 2**8)
    assert paired < 0.05 < unpaired < 0.2


def test_questions_of_one_history_are_drawn_together() -> None:
    values = [1.0] * 10 + [0.0] * 10
    alone = bootstrap_mean(values)
    together = bootstrap_mean(values, ["x"] * 10 + ["y"] * 10)
    assert alone is not None
    assert 0.2 < alone.low < alone.high < 0.8
    assert together == (0, 1)


def test_the_same_seed_gives_the_same_bounds() -> None:
    values, clusters = [1.0, 0, 1, 1, 0, 1], list("aabbcc")
    assert bootstrap_mean(values, clusters, seed=3) == bootstrap_mean(values, clusters, seed=3)


@pytest.mark.parametrize(
    ("values", "clusters"),
    [([], []), ([1.0], ["a"]), ([1.0, 0.0], ["a", "a"]), ([0.0] * 5, list("abcde"))],
)
def test_resampling_what_is_alike_tells_nothing(values: list[float], clusters: list[str]) -> None:
    assert bootstrap_mean(values, clusters) is None


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


def test_power_is_that_of_the_mean_of_paired_differences() -> None:
    """By the textbook: n = ((z_alpha + z_beta) * standard deviation / difference)²."""
    difference, discordance = 0.02, 0.1
    z = norm.ppf(0.975) + norm.ppf(0.8)
    variance = discordance - difference**2
    expected = math.ceil(z**2 * variance / difference**2)
    assert questions_needed(difference, discordance) == expected
    shown = smallest_difference(expected, discordance)
    assert shown == pytest.approx(difference, rel=1e-3)


@pytest.mark.parametrize("discordance", [0.0, 0.01, 0.02])
def test_a_difference_larger_than_the_discordance_cannot_be(discordance: float) -> None:
    assert questions_needed(0.02, discordance) is None


@pytest.mark.parametrize(("n", "discordance"), [(0, 0.1), (1, 0.1), (100, 0.0), (2, 0.5)])
def test_too_little_is_known_to_say_what_can_be_shown(n: int, discordance: float) -> None:
    assert smallest_difference(n, discordance) is None


def test_repeats_flip_and_wander() -> None:
    table = repeats_table([[True, True, False, False], [True, False, False, True], [True] * 4])
    assert table["accuracies"] == [0.5, 0.5, 1.0]
    assert (table["lowest"], table["highest"]) == (0.5, 1.0)
    assert table["mean"] == pytest.approx(2 / 3)
    assert table["standard_deviation"] == pytest.approx(math.sqrt(1 / 12))
    assert (table["flipped"]["value"], table["flipped"]["n"]) == (0.75, 4)


RATINGS = [(True, True)] * 40 + [(True, False)] * 12 + [(False, True)] * 5 + [(False, False)] * 43


def test_kappa_and_its_bounds_are_near_those_of_theory() -> None:
    first, second = ([pair[side] for pair in RATINGS] for side in (0, 1))
    found = agreement_of(first, second, range(len(RATINGS)))
    theirs = cohens_kappa([[40, 12], [5, 43]])
    assert found["kappa"]["value"] == pytest.approx(theirs.kappa)
    bounds = found["kappa"]["low"], found["kappa"]["high"]
    assert bounds == pytest.approx((theirs.kappa_low, theirs.kappa_upp), abs=0.02)
    assert found["agreement"] == {"value": 0.83, **wilson_interval(83, 100)._asdict()}
    assert agreement_of(first, second, range(len(RATINGS))) == found


def test_answers_to_one_question_are_drawn_together() -> None:
    first, second = ([pair[side] for pair in RATINGS for _ in range(9)] for side in (0, 1))
    questions = [number for number in range(len(RATINGS)) for _ in range(9)]
    alone = agreement_of(first, second, range(len(first)))
    together = agreement_of(first, second, questions)
    assert together["questions"] == 100
    assert together["kappa"]["value"] == pytest.approx(alone["kappa"]["value"])
    widths = [cell["kappa"]["high"] - cell["kappa"]["low"] for cell in (alone, together)]  # type: ignore[operator]
    assert widths[1] == pytest.approx(3 * widths[0], rel=0.1)
    low, high = together["agreement"]["low"], together["agreement"]["high"]
    theirs = bootstrap_mean([a == b for a, b in zip(first, second, strict=True)], questions)
    assert (low, high) == theirs


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ([], [], None),
        ([True] * 5, [True] * 5, None),
        ([True] * 4 + [False], [True] * 5, 0.0),
        ([True, False], [False, True], -1.0),
        ([True, False], [True, False], 1.0),
    ],
)
def test_kappa_at_its_edges(first: list[bool], second: list[bool], value: float | None) -> None:
    assert kappa(Pairs.of(first, second)) == value
    found = agreement_of(first, second, range(len(first)))
    assert (found["kappa"]["low"] is None) == (found["kappa"]["high"] is None)
    if value is None:
        assert found["kappa"] == {"value": None, "low": None, "high": None}
