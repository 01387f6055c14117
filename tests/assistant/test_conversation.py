"""Turns to rounds: by role and never by parity; retries; repeated rounds of chat."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from assistant.conversation import Role, Turn, add_turn, is_known, same_round
from memory_store import Round

NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)
ROLES = {"u": Role.USER, "a": Role.ASSISTANT}


def turn(
    said: str, *, minutes: float = 0, timed: bool = True, caller_id: str | None = None
) -> Turn:
    """`u:hello` is the user's turn, `a:hello` the assistant's."""
    role, text = said.split(":", 1)
    at = NOON + timedelta(minutes=minutes)
    return Turn(ROLES[role], text, at, timed, caller_id=caller_id)


def rounds_of(said: Sequence[str]) -> list[Round]:
    rounds: list[Round] = []
    for minute, one in enumerate(said):
        round = add_turn(rounds, turn(one, minutes=minute), user_id="ann", session_id="s")
        rounds = [*rounds[: round.round_index], round]
    return rounds


@pytest.mark.parametrize(
    ("said", "sides"),
    [
        ([], []),
        (["u:hi", "a:hello"], [("hi", "hello")]),
        (["u:hi", "a:hello", "u:bye", "a:so long"], [("hi", "hello"), ("bye", "so long")]),
        (["a:welcome", "u:hi", "a:hello"], [("", "welcome"), ("hi", "hello")]),
        (["u:one", "u:two", "a:both"], [("one", ""), ("two", "both")]),
        (["u:hi", "a:hello", "a:and more"], [("hi", "hello\n\nand more")]),
        (["a:one", "a:two"], [("", "one\n\ntwo")]),
        (["u:hi"], [("hi", "")]),
        (["u:", "a:hello"], [("", "hello")]),
        (["u:hi", "a:", "a:hello"], [("hi", "hello")]),
        (["u:hi", "a:", "u:again"], [("hi", ""), ("again", "")]),
    ],
)
def test_rounds_are_formed_by_role(said: list[str], sides: list[tuple[str, str]]) -> None:
    rounds = rounds_of(said)
    assert [(round.user_text, round.assistant_text) for round in rounds] == sides
    assert [round.round_index for round in rounds] == list(range(len(sides)))


def test_a_round_is_dated_by_its_first_turn_and_names_its_turns() -> None:
    first, second = rounds_of(["u:hi", "a:hello", "u:bye"])
    assert first.session_date == NOON
    assert second.session_date == NOON + timedelta(minutes=2)
    assert first.turn_ids == (turn("u:hi").id, turn("a:hello", minutes=1).id)


def test_names_of_speakers_are_kept_and_not_lost_by_a_nameless_turn() -> None:
    said = Turn(Role.USER, "hi", NOON, name="Ann")
    round = add_turn([], said, user_id="ann", session_id="s")
    round = add_turn([round], Turn(Role.ASSISTANT, "a", NOON, name="Bo"), user_id="", session_id="")
    round = add_turn([round], Turn(Role.ASSISTANT, "b", NOON), user_id="", session_id="")
    assert (round.user_name, round.assistant_name) == ("Ann", "Bo")


def test_a_new_round_follows_the_last_index_even_when_one_was_forgotten() -> None:
    _, second = rounds_of(["u:one", "u:two"])
    assert add_turn([second], turn("u:three"), user_id="ann", session_id="s").round_index == 2


@pytest.mark.parametrize(
    ("repeated", "known"),
    [
        (turn("u:one"), True),
        (turn("a:two", minutes=1), True),
        (turn("a:one"), False),
        (turn("u:one", minutes=0.5), False),
        (turn("u:One"), False),
        (turn("u:one", timed=False), False),
        (turn("u:one", caller_id="m1"), False),
    ],
)
def test_a_timed_turn_is_known_anywhere_by_role_text_and_time(repeated: Turn, known: bool) -> None:
    assert is_known(rounds_of(["u:one", "a:two", "u:three"]), repeated) is known


def test_a_turn_with_an_id_is_known_by_it_alone() -> None:
    first = turn("u:one", caller_id="m1")
    rounds = [add_turn([], first, user_id="ann", session_id="s")]
    assert is_known(rounds, turn("a:other", minutes=9, timed=False, caller_id="m1"))
    assert not is_known(rounds, turn("u:one", caller_id="m2"))


def test_an_untimed_turn_is_known_as_the_last_one_only() -> None:
    first, second = turn("u:yes", timed=False), turn("a:fine", timed=False)
    opened = add_turn([], first, user_id="ann", session_id="s")
    assert is_known([opened], first)
    answered = add_turn([opened], second, user_id="ann", session_id="s")
    assert is_known([answered], second)
    assert not is_known([answered], first)
    assert not is_known([], first)


def test_a_callers_id_cannot_pass_for_a_digest() -> None:
    plain = turn("u:one")
    assert turn("u:one", caller_id=plain.id).id != plain.id


@pytest.mark.parametrize(
    ("said", "minutes", "timed", "previous", "index"),
    [
        ("u:second", 2, True, "first", 1),
        ("u:second", 2, True, "other", None),
        ("u:second", 2, True, None, None),
        ("u:third", 4, True, None, 2),
        ("u:third", 5, True, None, None),
        ("u:third", 5, False, None, 2),
        ("u:third", 63, False, "second", 2),
        ("u:third", 65, False, "second", None),
        ("u:other", 4, True, "second", None),
        ("u:first", 0, True, None, None),
        ("u:first", 0, True, "", None),
    ],
)
def test_a_repeated_round(
    said: str, minutes: float, timed: bool, previous: str | None, index: int | None
) -> None:
    """The stored rounds were said at minutes 0, 2 and 4."""
    rounds = rounds_of(["u:first", "a:1", "u:second", "a:2", "u:third", "a:3"])
    found = same_round(rounds, turn(said, minutes=minutes, timed=timed), previous)
    assert (found.round_index if found else None) == index


def test_the_only_round_is_repeated_by_a_client_that_sends_it_alone() -> None:
    rounds = rounds_of(["u:first", "a:1"])
    assert same_round(rounds, turn("u:first"), None) is rounds[0]
    assert same_round([], turn("u:first"), None) is None
