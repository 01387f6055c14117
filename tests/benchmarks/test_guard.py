"""What the guard of speed says of ratios; nothing is timed."""

from pathlib import Path

import pytest

from benchmarks.guard import FILE, RatioRecord, middle, read, record, verdicts
from benchmarks.ratios import Ratio

_WHERE = RatioRecord("abc", "2026-11-28", "2 x some processor", {})


def _ratios(**values: float) -> list[Ratio]:
    return [Ratio(what, value, value, value) for what, value in values.items()]


@pytest.mark.parametrize(
    ("now", "verdict"), [(2.0, "held"), (9.0, "held"), (1.71, "held"), (1.69, "worse")]
)
def test_a_ratio_may_fall_by_fifteen_percent(now: float, verdict: str) -> None:
    assert verdicts({"search": 2.0}, _ratios(search=now)) == {"search": verdict}


def test_what_is_missing_on_either_side_did_not_hold() -> None:
    found = verdicts({"search": 2.0, "chat": 1.0}, _ratios(chat=1.0, writing=3.0))
    assert found == {"search": "not measured", "chat": "held", "writing": "not recorded"}


def test_of_several_runs_the_middle_one_counts() -> None:
    runs = [_ratios(search=value, chat=1.0) for value in (2.0, 9.0, 3.0)]
    assert middle(runs) == [Ratio("search", 3.0, 2.0, 9.0), Ratio("chat", 1.0, 1.0, 1.0)]
    assert middle([*runs, _ratios(chat=2.0)]) == [Ratio("chat", 1.0, 1.0, 2.0)]


def test_what_is_recorded_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "ratios.json"
    assert read(file).ratios == {}
    record(file, read(file), _ratios(search=2.0, chat=1.23456), _WHERE)
    kept = read(file)
    assert (kept.commit, kept.ratios) == ("abc", {"search": 2.0, "chat": 1.235})


def test_ratios_that_could_not_be_measured_stay_as_they_were_recorded(tmp_path: Path) -> None:
    file = tmp_path / "ratios.json"
    record(file, read(file), _ratios(search=2.0, chat=1.0), _WHERE)
    with pytest.raises(ValueError, match="not measured: search"):
        record(file, read(file), _ratios(chat=1.0), _WHERE)
    assert read(file).ratios == {"search": 2.0, "chat": 1.0}


def test_the_ratios_in_the_repository_tell_where_they_come_from() -> None:
    kept = read(FILE)
    assert all((kept.commit, kept.day, kept.machine))
    assert all(value > 0 for value in kept.ratios.values())
