"""Turns to rounds: by role and never by parity; retries; repeated rounds of chat."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from assistant.chat.turns import Role, Turn, add_turn, new_turns, same_round
from memory_store import Round
from memory_store._types import CORRECTED

MINUTES_OF_A_RETRY, MINUTES_OF_A_REGENERATION = 10, 60
NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)
ROLES = {"u": Role.USER, "a": Role.ASSISTANT}


def turn(said: str, *, minutes: float = 0, timed: bool = True, **more: Any) -> Turn:
    """`u:hello` is the user's turn, `a:hello` the assistant's."""
    role, text = said.split(":", 1)
    return Turn(ROLES[role], text, NOON + timedelta(minutes=minutes), timed, **more)


def rounds_of(said: Sequence[str], *, timed: bool = True) -> list[Round]:
    """Rounds of turns that were said a minute apart."""
    turns = [turn(one, minutes=minute, timed=timed) for minute, one in enumerate(said)]
    return with_turns([], turns)


def with_turns(rounds: list[Round], turns: Sequence[Turn]) -> list[Round]:
    for one in turns:
        round = add_turn(rounds, one, user_id="ann", session_id="s")
        rounds = [*(r for r in rounds if r.round_index != round.round_index), round]
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
    new = new_turns(rounds_of(["u:one", "a:two", "u:three"]), [repeated])
    assert new == ([] if known else [repeated])


def test_a_turn_with_an_id_is_known_by_it_alone() -> None:
    rounds = with_turns([], [turn("u:one", caller_id="m1")])
    assert not new_turns(rounds, [turn("a:other", minutes=9, timed=False, caller_id="m1")])
    assert new_turns(rounds, [turn("u:one", caller_id="m2")])


@pytest.mark.parametrize(
    ("stored", "sent", "new"),
    [
        ("", "u:yes", 1),
        ("u:yes", "u:yes", 0),
        ("u:yes a:fine", "a:fine", 0),
        ("u:yes a:fine", "u:yes a:fine", 0),
        ("u:hi a:hello u:yes a:fine", "u:yes a:fine", 0),
        # A client that sends its whole conversation each time goes on from what is there.
        ("u:yes a:fine", "u:yes a:fine u:more a:done", 2),
        ("u:yes", "u:yes a:fine", 1),
        # A list of which only the first rounds were written is finished.
        ("u:1 a:1 u:2 a:2", "u:1 a:1 u:2 a:2 u:3 a:3", 2),
        # The same words again, after something else.
        ("u:yes a:fine", "u:yes", 1),
        ("u:hi a:hello u:yes a:fine", "u:hi a:hello", 2),
        ("u:hi a:hello u:yes a:fine", "a:fine u:hi", 1),
        # Said twice in one list.
        ("", "u:knock u:knock", 2),
        ("u:knock", "u:knock u:knock", 1),
    ],
)
def test_untimed_turns_are_known_where_they_repeat_the_end_of_the_session(
    stored: str, sent: str, new: int
) -> None:
    rounds = rounds_of(stored.split(), timed=False)
    turns = [turn(one, minutes=5, timed=False) for one in sent.split()]
    assert new_turns(rounds, turns) == turns[len(turns) - new :]


@pytest.mark.parametrize(
    ("minutes", "retried", "known"),
    [
        (MINUTES_OF_A_RETRY, False, True),
        (MINUTES_OF_A_RETRY + 1, False, False),
        (MINUTES_OF_A_RETRY + 1, True, True),
        # The clock was set back: how long ago the words were said is not known, so they are kept.
        (-1, False, False),
        (-MINUTES_OF_A_RETRY, False, False),
        (-24 * 60, False, False),
        (-1, True, True),
        # Two assistants' clocks are never quite the same.
        (-1 / 60, False, True),
    ],
)
def test_the_same_words_later_are_said_again_unless_the_client_says_it_retries(
    minutes: float, retried: bool, known: bool
) -> None:
    rounds = with_turns([], [turn("u:good night", timed=False)])
    again = turn("u:good night", minutes=minutes, timed=False, retried=retried)
    assert new_turns(rounds, [again]) == ([] if known else [again])


@pytest.mark.parametrize(
    ("minutes", "timed", "dated"),
    [
        (1, False, 1),
        # Set back by a minute, or by hours: it was said after what arrived before it.
        (-1, False, 0),
        (-60 * 5, False, 0),
        # What lies farther ahead, a caller dated so; and who gives a time is believed.
        (-60 * 25, False, -60 * 25),
        (-1, True, -1),
    ],
)
def test_what_arrives_later_was_said_later_though_the_clock_was_set_back(
    minutes: float, timed: bool, dated: float
) -> None:
    rounds = with_turns([], [turn("u:I live in Ghent.", timed=False)])
    said = turn("u:I live in Bruges.", minutes=minutes, timed=timed)
    [_, newest] = with_turns(rounds, [said])
    assert newest.session_date == NOON + timedelta(minutes=dated)


def test_a_callers_id_cannot_pass_for_a_digest() -> None:
    plain = turn("u:one")
    assert turn("u:one", caller_id=plain.id).id != plain.id


TALK = ["u:first", "a:1", "u:second", "a:2", "u:third", "a:3"]


@pytest.mark.parametrize(
    ("said", "minutes", "timed", "before", "index"),
    [
        ("u:second", 2, True, "first 1", 1),
        ("u:second", 2, True, "1", 1),
        ("u:second", 2, True, "other 1", None),
        ("u:second", 2, True, "first other", None),
        ("u:second", 2, True, "", None),
        ("u:third", 4, True, "", 2),
        ("u:third", 5, True, "", None),
        ("u:third", 5, False, "", 2),
        ("u:third", 3, False, "", None),
        ("u:third", 3, False, "second 2", None),
        ("u:third", 3, True, "", None),
        ("u:third", 4 + MINUTES_OF_A_RETRY, False, "", 2),
        ("u:third", 5 + MINUTES_OF_A_RETRY, False, "", None),
        ("u:third", 4 + MINUTES_OF_A_REGENERATION, False, "second 2", 2),
        ("u:third", 5 + MINUTES_OF_A_REGENERATION, False, "second 2", None),
        ("u:third", 5, False, "older first 1 second 2", 2),
        ("u:other", 4, True, "second 2", None),
        ("u:first", 0, True, "", None),
    ],
)
def test_a_repeated_round(
    said: str, minutes: float, timed: bool, before: str, index: int | None
) -> None:
    """The stored rounds were said at minutes 0, 2 and 4."""
    found = same_round(rounds_of(TALK), turn(said, minutes=minutes, timed=timed), before.split())
    assert (found.round_index if found else None) == index


def test_the_same_words_again_and_again_are_new_rounds_each_time() -> None:
    rounds = rounds_of(["u:tell", "a:1", "u:more", "a:2", "u:more", "a:3"], timed=False)
    again = turn("u:more", minutes=6, timed=False)
    assert same_round(rounds, again, ["tell", "1", "more", "2", "more", "3"]) is None
    assert same_round(rounds, again, ["more", "3"]) is None
    assert same_round(rounds, again, ["tell", "1", "more", " 2\n"]) is rounds[2]
    assert same_round(rounds, again, ["tell", "1"]) is rounds[1]


def test_exchanges_that_are_quite_the_same_are_told_apart_by_their_number() -> None:
    rounds = rounds_of(["u:more", "a:no", "u:more", "a:no"], timed=False)
    again = turn("u:more", minutes=4, timed=False)
    assert same_round(rounds, again, ["more", "no"] * 2) is None
    assert same_round(rounds, again, ["more", "no"]) is rounds[1]


def test_a_round_after_messages_that_were_not_stored_can_be_repeated() -> None:
    rounds = rounds_of(["u:hi", "a:1"], timed=False)
    again = turn("u:hi", minutes=1, timed=False)
    assert same_round(rounds, again, ["unheard", "of"]) is rounds[0]
    assert same_round(rounds, again, ["unheard", "of", "hi", "1"]) is None


def corrected(rounds: Sequence[Round], index: int, *, reply_too: bool) -> list[Round]:
    """The rounds with what the user said in one, or all of it, put right."""
    reply = "fine" if reply_too else rounds[index].assistant_text
    right = replace(rounds[index], user_text="right", assistant_text=reply, corrected_at=NOON)
    right = replace(right, turn_ids=(*right.turn_ids, f"{CORRECTED}mark"))
    return [*rounds[:index], right, *rounds[index + 1 :]]


DAY = 24 * 60


@pytest.mark.parametrize(
    ("wrong", "said", "minutes", "before", "index"),
    [
        # The corrected round itself, however late.
        (1, "second", DAY, "first 1", 1),
        (1, "second", DAY, "1", 1),
        (2, "third", DAY, "first 1 second 2", 2),
        (0, "first", DAY, "", 0),
        (2, "third", DAY, "", 2),
        # One after it: what is sent along is what was said before the correction.
        (0, "second", 2, "first 1", 1),
        (0, "third", 4, "first 1 second 2", 2),
        (1, "third", 4, "second 2", 2),
        (0, "third", 2 * DAY, "first 1 second 2", None),
        # Something else, or after something else.
        (1, "second", DAY, "first other", None),
        (1, "second", DAY, "first 1 second 2 third 3", None),
        (0, "second", 2, "other 1", None),
        (1, "first", DAY, "", None),
        # The words as they stand now are ordinary words.
        (1, "right", DAY, "first 1", None),
        (1, "right", 3, "first 1", 1),
    ],
)
@pytest.mark.parametrize("reply_too", [False, True])
def test_a_corrected_round_is_known_by_what_it_said_before(
    reply_too: bool, wrong: int, said: str, minutes: float, before: str, index: int | None
) -> None:
    rounds = corrected(rounds_of(TALK, timed=False), wrong, reply_too=reply_too)
    found = same_round(rounds, turn(f"u:{said}", minutes=minutes, timed=False), before.split())
    assert (found.round_index if found else None) == index


def test_a_timed_round_that_was_corrected_is_known_in_what_is_sent_along() -> None:
    rounds = corrected(rounds_of(["u:first", "u:second"]), 0, reply_too=False)
    assert same_round(rounds, turn("u:second", minutes=1), ["first"]) is rounds[1]


def test_a_retry_that_the_client_names_is_one_however_late() -> None:
    late = turn("u:third", minutes=600, timed=False, retried=True)
    assert same_round(rounds_of(TALK), late, []) is not None


def test_a_round_with_an_id_is_repeated_by_it_alone() -> None:
    rounds = with_turns([], [turn("u:hi", timed=False, caller_id="k1"), turn("a:hello")])
    assert same_round(rounds, turn("u:hi", timed=False, caller_id="k1"), []) is rounds[0]
    assert same_round(rounds, turn("u:hi", timed=False, caller_id="k2"), []) is None


def test_the_only_round_is_repeated_by_a_client_that_sends_it_alone() -> None:
    rounds = rounds_of(["u:first", "a:1"])
    assert same_round(rounds, turn("u:first"), []) is rounds[0]
    assert same_round([], turn("u:first"), []) is None
