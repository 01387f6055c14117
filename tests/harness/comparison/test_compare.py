"""Runs side by side: what is joined, what is refused, and the figures of a real computation."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from made_runs import made_run
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from harness.comparison.build import build_comparison
from harness.comparison.runs import load_runs, short_names
from harness.comparison.tables import comparison_tables, remarks
from harness.errors import RunMismatch, UsageError

Harness = Callable[..., Finished]
YES_NO = {"a": "yes", "b": "yes", "c": "no", "d": "yes", "e": "no"}


def compared(*paths: Path, anyway: bool = False) -> dict[str, Any]:
    return build_comparison(load_runs(paths), anyway=anyway)


def test_verdicts_are_crossed_and_flips_listed(tmp_path: Path) -> None:
    first = made_run(tmp_path / "a", YES_NO)
    second = made_run(tmp_path / "b", YES_NO | {"a": "no", "b": "no", "e": "yes"})
    accuracy = compared(first, second)["comparisons"][0]["accuracy"]
    assert accuracy["pairs"] == {"both": 1, "only_first": 2, "only_second": 1, "neither": 1}
    assert accuracy["p"] == mcnemar([[1, 2], [1, 1]], exact=True).pvalue
    assert (accuracy["lost"], accuracy["gained"]) == (["a", "b"], ["e"])
    assert accuracy["difference"]["value"] == pytest.approx(-0.2)
    assert accuracy["difference"]["low"] < -0.2 < accuracy["difference"]["high"]


def test_missing_is_wrong_and_unscored_is_left_out(tmp_path: Path) -> None:
    first = made_run(tmp_path / "a", YES_NO)
    said = {"a": "yes", "b": None, "c": "no", "d": "yes"}
    second = made_run(tmp_path / "b", said, selected="abcde")
    comparison = compared(first, second)
    accuracy = comparison["comparisons"][0]["accuracy"]
    assert (accuracy["n"], accuracy["unscored"], accuracy["missing"]) == (4, ["b"], [0, 1])
    assert accuracy["second"]["value"] == 0.5
    assert "b: 1 questions were neither answered nor failed" in comparison["cautions"][0]


def test_only_common_questions_count_and_the_others_are_told(tmp_path: Path) -> None:
    first = made_run(tmp_path / "a", YES_NO)
    second = made_run(tmp_path / "b", {"b": "no", "c": "no", "x": "yes"})
    comparison = compared(first, second)
    assert comparison["questions"]["common"] == 2
    assert comparison["questions"]["left_out"] == {"a": 3, "b": 1}
    assert "left out, because another run did not select them: 3 of a, 1 of b" in str(
        remarks(comparison)
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dataset": {"sha256": "cd" * 32}}, "another data"),
        ({"dataset": {"gold": {"file": "g"}}}, "another data"),
        ({"judge": {"id": "lexical-3", "hash": "0123456789ab"}}, "another judge"),
        ({"judge": {"id": "lexical-2", "hash": "ba9876543210"}}, "another judge"),
    ],
)
def test_other_data_or_another_judge_is_refused(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    paths = made_run(tmp_path / "a", YES_NO), made_run(tmp_path / "b", YES_NO, **change)
    with pytest.raises(RunMismatch, match=said):
        compared(*paths)
    comparison = compared(*paths, anyway=True)
    assert remarks(comparison)[0].startswith("NOT COMPARABLE: another")


def test_several_runs_and_types_are_several_tests(tmp_path: Path) -> None:
    names = [f"q{i}" for i in range(16)]
    kinds = {
        name: "multi-session" if i < 8 else "temporal-reasoning" for i, name in enumerate(names)
    }
    right, wrong = dict.fromkeys(names, "yes"), dict.fromkeys(names, "no")
    runs = [
        made_run(tmp_path / "a", wrong, kinds=kinds),
        made_run(tmp_path / "b", wrong | dict.fromkeys(names[:7], "yes"), kinds=kinds),
        made_run(tmp_path / "c", right, kinds=kinds),
    ]
    first, second = (item["accuracy"] for item in compared(*runs)["comparisons"])
    expected = multipletests([first["p"], second["p"]], method="holm")[1]
    assert [first["p_holm"], second["p_holm"]] == pytest.approx(list(expected))
    assert first["p_holm"] == first["p"] == 2 / 2**7  # the larger of two is not raised
    by_type = first["by_type"]
    assert by_type["multi-session"]["p_holm"] == 2 * by_type["multi-session"]["p"]
    assert by_type["temporal-reasoning"]["p"] == 1


def test_retrieval_is_paired_too(tmp_path: Path) -> None:
    first = made_run(tmp_path / "a", YES_NO, ranks={"a": 7, "b": 12})
    second = made_run(tmp_path / "b", YES_NO)
    figures = compared(first, second)["comparisons"][0]["figures"]
    five, ten = figures["recall_all@5"], figures["recall_all@10"]
    assert (five["first"], five["second"], five["n"]) == (0.6, 1.0, 5)
    assert five["p"] == mcnemar([[3, 0], [2, 0]], exact=True).pvalue
    assert ten["difference"]["value"] == pytest.approx(0.2)
    assert figures["evidence_in_context@7000"]["first"] == pytest.approx(0.8)
    assert figures["ndcg@10[standard]"]["p"] is None


def test_recall_at_unequal_depth_is_told(tmp_path: Path) -> None:
    shallow = made_run(tmp_path / "shallow", YES_NO, rounds=1)
    deep = made_run(tmp_path / "deep", YES_NO, rounds=50)
    eleven = made_run(tmp_path / "eleven", YES_NO, rounds=11)
    assert [one for one in compared(deep, shallow)["cautions"] if "depth" in one] == [
        f"recall is compared at unequal depth: {level} ranked for a question (median): 50 in deep, "
        "1 in shallow. What a run does not rank counts as not found"
        for level in ("sessions", "rounds")
    ]
    assert compared(deep, eleven)["cautions"] == []


def test_retrieval_is_compared_by_type(tmp_path: Path) -> None:
    kinds = dict.fromkeys("ab", "temporal-reasoning")
    first = made_run(tmp_path / "a", YES_NO, kinds=kinds, ranks={"a": 12, "b": 12, "c": 12})
    second = made_run(tmp_path / "b", YES_NO, kinds=kinds)
    comparison = compared(first, second)
    ten = comparison["comparisons"][0]["figures_by_type"]["recall_all@10"]
    multi, temporal = ten["multi-session"], ten["temporal-reasoning"]
    assert (multi["n"], multi["first"], multi["second"]) == (3, pytest.approx(2 / 3), 1)
    assert (temporal["n"], temporal["first"], temporal["second"]) == (2, 0, 1)
    assert temporal["p"] == mcnemar([[0, 0], [2, 0]], exact=True).pvalue
    assert temporal["p_holm"] == 2 * temporal["p"]
    title = "Retrieval by type, b against a, % and points"
    (table,) = (one for one in comparison_tables(comparison) if one.title == title)
    assert ("recall_all@10", "temporal-reasoning", "0.0", "100.0") in [r[:4] for r in table.rows]


def test_ndcg_and_fractions_of_sessions_and_rounds_are_paired(tmp_path: Path) -> None:
    first = made_run(tmp_path / "a", YES_NO, ranks={"a": 3, "b": 7})
    second = made_run(tmp_path / "b", YES_NO)
    figures = compared(first, second)["comparisons"][0]["figures"]
    for level in ("", "round."):
        five, ten = figures[f"{level}ndcg@5[standard]"], figures[f"{level}ndcg@10[standard]"]
        assert (five["first"], five["n"]) == (pytest.approx((3 + 1 / 2) / 5), 5)  # 1 / log2(3 + 1)
        assert ten["first"] == pytest.approx((3 + 1 / 2 + 1 / 3) / 5)
        found = [figures[f"{level}recall_fraction@{k}"]["first"] for k in (5, 10)]
        assert found == [pytest.approx(0.8), 1.0]


def test_runs_that_do_not_differ_show_no_interval(tmp_path: Path) -> None:
    paths = made_run(tmp_path / "a", YES_NO), made_run(tmp_path / "b", YES_NO)
    accuracy = compared(*paths)["comparisons"][0]["accuracy"]
    assert (accuracy["p"], accuracy["difference"]["value"]) == (1, 0)
    assert (accuracy["difference"]["low"], accuracy["power"]["smallest_difference"]) == (None, None)


def test_a_single_question_is_compared_without_a_fuss(tmp_path: Path) -> None:
    paths = made_run(tmp_path / "a", {"a": "yes"}), made_run(tmp_path / "b", {"a": "no"})
    accuracy = compared(*paths)["comparisons"][0]["accuracy"]
    assert (accuracy["n"], accuracy["p"], accuracy["difference"]["low"]) == (1, 1, None)


def test_runs_without_a_common_question_have_nothing_to_say(tmp_path: Path) -> None:
    paths = made_run(tmp_path / "a", {"a": "yes"}), made_run(tmp_path / "b", {"b": "no"})
    comparison = compared(*paths)
    assert comparison["comparisons"][0]["accuracy"]["n"] == 0
    assert next(table.title for table in comparison_tables(comparison)) == "Runs, %"


def test_questions_of_few_conversations_come_with_a_warning(tmp_path: Path) -> None:
    histories = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "y"}
    paths = [
        made_run(tmp_path / "a", YES_NO, histories=histories),
        made_run(tmp_path / "b", YES_NO | {"a": "no"}, histories=histories),
    ]
    comparison = compared(*paths)
    difference = comparison["comparisons"][0]["accuracy"]["difference"]
    assert (difference["low"], difference["high"], difference["clusters"]) == (-0.5, 0, 2)
    assert "share 2 conversations" in remarks(comparison)[-1]
    assert "too narrow" in remarks(comparison)[-1]


def test_runs_of_one_set_up_are_repeats(tmp_path: Path) -> None:
    runs = [
        made_run(tmp_path / "a", YES_NO, version={"settings": {"port": 1}}),
        made_run(tmp_path / "b", YES_NO | {"a": "no"}, version={"settings": {"port": 2}}),
        made_run(tmp_path / "c", YES_NO, version={"version": "2"}),
    ]
    comparison = compared(*runs)
    (group,) = comparison["repeats"]
    assert (group["names"], group["flipped"]["value"]) == (["a", "b"], 0.2)
    assert comparison["set_up_differences"] == {"assistant.version.version": ["1", "1", "2"]}


def test_two_assistants_of_one_name_are_no_repeats(tmp_path: Path) -> None:
    def there(url: str) -> dict[str, Any]:
        return {"assistant": {"url": url, "model": "memory", "version": None}}

    runs = [
        made_run(tmp_path / "a", YES_NO, **there("http://a")),
        made_run(tmp_path / "b", YES_NO, **there("http://b")),
        made_run(tmp_path / "c", YES_NO, **there("http://b")),
    ]
    comparison = compared(*runs)
    assert [group["names"] for group in comparison["repeats"]] == [["b", "c"]]
    assert comparison["set_up_differences"] == {
        "assistant.url": ["http://a", "http://b", "http://b"]
    }


def test_searches_of_the_model_itself_stand_beside_the_costs(tmp_path: Path) -> None:
    looking = made_run(tmp_path / "looking", {"q1": "yes", "q2": "no"}, looks=[3, 0])
    silent = made_run(tmp_path / "silent", {"q1": "yes", "q2": "no"})
    comparison = compared(silent, looking)
    assert [run["looking"] and run["looking"]["calls"] for run in comparison["runs"]] == [None, 3]
    (effort,) = (one for one in comparison_tables(comparison) if one.title == "Cost and speed")
    cells = [dict(zip(effort.header, row, strict=True)) for row in effort.rows]
    shown = [(one["searches"], one["search tokens"], one["searching, ms"]) for one in cells]
    assert shown == [("–", "–", "–"), ("1.5", "15.0", "30.0")]


def test_runs_are_named_by_what_tells_them_apart(tmp_path: Path) -> None:
    assert short_names([tmp_path / "a", tmp_path / "b"]) == ["a", "b"]
    assert short_names([tmp_path / "x" / "run", tmp_path / "y" / "run"]) == ["x/run", "y/run"]


def test_a_run_is_not_compared_with_itself(tmp_path: Path) -> None:
    path = made_run(tmp_path / "a", YES_NO)
    with pytest.raises(UsageError, match="itself"):
        load_runs([path, tmp_path / "b" / ".." / "a"])


def test_the_command_prints_and_writes_three_files(harness: Harness, tmp_path: Path) -> None:
    runs = [
        made_run(tmp_path / "a", YES_NO),
        made_run(tmp_path / "b", YES_NO | {"a": "no"}, ranks={"b": 7}),
    ]
    out = tmp_path / "out"
    ended = harness("compare", *runs, "--out", out)
    assert ended.code == 0
    assert "Accuracy, paired" in ended.out
    assert "ndcg@10[standard]" in ended.out
    comparison = json.loads((out / "compare.json").read_text())
    assert comparison["comparisons"][0]["accuracy"]["lost"] == ["a"]
    assert "| lost | a |" in (out / "compare.md").read_text()
    page = (out / "compare.html").read_text()
    for text in ("gold a", "said of a", "What of a?"):
        assert text in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nowhere", "nothing"], "is not a run directory"), (["nowhere"], "two run directories")],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    harness: Harness, arguments: list[str], said: str
) -> None:
    ended = harness("compare", *arguments)
    assert ended.code == 2
    assert said in ended.err
