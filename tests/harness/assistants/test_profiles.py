"""Profiles: what they may say, what becomes of it in a request, and what is refused."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.assistants.client import unready
from harness.assistants.profile import BUILT_IN, load_profile, parse_profile
from harness.assistants.template import Occasion, filled, filled_path, merged
from harness.errors import UsageError

WHEN = Occasion("u/1", "s1", datetime(2023, 5, 20, 2, 21, tzinfo=UTC), [{"role": "user"}])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("$user at $time", "u/1 at 2023-05-20T02:21:00Z"),
        ("$weekday, $date", "Saturday, 2023-05-20"),
        ("$unix", 1684549260),
        ("at $unix", "at 1684549260"),
        ("$turns", [{"role": "user"}]),
        ({"a": ["$session", 3, True]}, {"a": ["s1", 3, True]}),
        ("costs $$5", "costs $5"),
    ],
)
def test_templates(value: object, expected: object) -> None:
    assert filled(value, WHEN) == expected


def test_paths_are_quoted() -> None:
    assert filled_path("/v1/$user/$date", WHEN) == "/v1/u%2F1/2023-05-20"


def test_objects_are_merged_inside() -> None:
    body = merged({"a": {"b": 1, "c": 2}, "d": 1}, {"a": {"c": 3}}, {"d": {"e": 4}})
    assert body == {"a": {"b": 1, "c": 3}, "d": {"e": 4}}


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_profiles_are_read(name: str) -> None:
    assert load_profile(name).name == name


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("path = ", "not TOML"),
        ("pth = '/x'", "unknown setting pth"),
        ("path = 3", "path must be str, not 3"),
        ("[body]\nuser = '$usr'", "body has unknown names usr"),
        ("[body]\nuser = '5 $'", "body has unknown names 5 \\$"),
        ("[question]\nleaves_no_trace = 'yes'", "leaves_no_trace must be bool"),
        ("[question.text]\nsufix = 'x'", "\\[question\\], \\[text\\]: unknown setting sufix"),
        ("[record]\npath = '/x'", "\\[record\\]: body is missing"),
        ("[record]\npath = '/x'\nbody = {}\nper = 'day'", "session or turn, not 'day'"),
        ("[barrier]\npath = '/x'", "path and ready belong together"),
        ("[price]\nprompt = 1", "\\[price\\]: completion is missing"),
    ],
)
def test_mistakes_in_a_profile_are_named(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_profile(text, name="x", source="x.toml")


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither built in .* nor a readable file"):
        load_profile(str(tmp_path / "none.toml"))


def test_a_profile_has_the_name_of_its_file_and_the_hash_of_what_is_noticed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "acme.toml"
    path.write_text("path = '/chat'\n")
    first = load_profile(str(path))
    path.write_text("# a remark\npath = '/chat'\n[price]\nprompt = 1\ncompletion = 2.5\n")
    second = load_profile(str(path))
    assert (first.name, first.hash) == ("acme", second.hash)
    path.write_text("path = '/talk'\n")
    assert load_profile(str(path)).hash != first.hash


@pytest.mark.parametrize(
    ("reply", "ready", "waiting"),
    [
        ({"state": "done"}, {"state": "done"}, None),
        ({"state": "busy"}, {"state": "done"}, "state is 'busy', not 'done'"),
        ({}, {"state": "done"}, "state is None, not 'done'"),
        ({"a": [{"n": 0}, {"n": 2}]}, {"a.*.n": 0}, "a.*.n is 2, not 0"),
        ({"a": []}, {"a.*.n": 0}, None),
    ],
)
def test_barriers(reply: object, ready: dict[str, object], waiting: str | None) -> None:
    assert unready(reply, ready) == waiting
