"""`assistant spaces`, and the other commands in a space."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from calls import record
from in_process import Finished, Run

Say = Callable[..., Finished]


@pytest.fixture
def ben(http: httpx.Client, ann: str) -> Iterator[str]:
    name = f"ben of {ann}"
    yield name
    for person in (name, ann):
        http.delete(f"/v1/users/{person}/memories")


@pytest.fixture
def by(run: Run, quoting_url: str, monkeypatch: pytest.MonkeyPatch) -> Say:
    """A command by somebody."""
    monkeypatch.setenv("ASSISTANT_URL", quoting_url)

    def command(person: str, *arguments: object, typed: str = "") -> Finished:
        monkeypatch.setenv("ASSISTANT_USER", person)
        return run(*arguments, typed=typed)

    return command


@pytest.fixture
def space(by: Say, http: httpx.Client, ann: str, ben: str) -> str:
    """A space of Ann, who owns it, and Ben, who said something there."""
    begun = by(ann, "spaces", "begin", "Our  household")
    assert begun.code == 0, begun.err
    space = begun.out.strip()
    assert by(ann, "spaces", "admit", space, ben).code == 0
    record(http, ben, "his", "The boiler has the number 77.", "Noted.", space=space)
    return space


def test_a_space_from_its_beginning_to_its_end(by: Say, ann: str, ben: str, space: str) -> None:
    assert by(ann, "spaces", "list").out == f"{space}\towner\t1\tOur household\n"
    admitted = by(ann, "spaces", "admit", "Our household", ben, "--role", "owner")
    lines = [line.split("\t")[:2] for line in admitted.out.splitlines()]
    assert lines == [[ann, "owner"], [ben, "owner"]]
    shown = by(ben, "spaces", "show", "Our household", "--json").json
    assert [one["user_id"] for one in shown["members"]] == [ann, ben]
    asked = by(ann, "spaces", "leave", "Our household")
    assert (asked.code, asked.out) == (2, "")
    assert "use 'assistant spaces' with --yes" in asked.err
    assert by(ann, "spaces", "leave", space, "--yes").out == f"you left {space}\n"
    assert by(ann, "spaces", "list").out == "you have no spaces\n"
    nowhere = by(ann, "spaces", "show", "Our household")
    assert (nowhere.code, "no space of yours is called" in nowhere.err) == (2, True)
    ended = by(ben, "spaces", "end", "Our household", "--yes")
    assert ended.out == "Our household is gone; 1 memory forgotten\n"


def test_who_is_removed_reads_nothing_and_may_leave_nothing(
    by: Say, ann: str, ben: str, space: str
) -> None:
    refused = by(ben, "spaces", "remove", space, ann, "--yes")
    assert (refused.code, "needs the role owner" in refused.err) == (2, True)
    removed = by(ann, "spaces", "remove", space, ben, "--forget", "--yes")
    assert removed.out == f"{ben} is no member of {space}; 1 memory forgotten\n"
    listed = by(ben, "memories", "list", "--space", space)
    assert (listed.code, "no such space" in listed.err) == (2, True)


def test_other_commands_are_about_the_space(by: Say, ann: str, ben: str, space: str) -> None:
    listed = by(ann, "memories", "list", "--space", "Our household")
    assert listed.out.endswith(f"\t{ben}: The boiler has the number 77.\n")
    assert by(ann, "memories", "list").out == ""
    shown = by(ben, "memories", "show", listed.out[:8], "--space", space)
    assert f"\n{ben}\n  The boiler" in shown.out
    asked = by(ann, "ask", "What number has the boiler?", "--space", "Our household")
    assert f"{ben} said" in asked.out


@pytest.mark.parametrize("role", ["member", "reader"])
def test_one_chats_in_it_and_leaves_it_again(
    by: Say, ann: str, ben: str, space: str, role: str
) -> None:
    assert by(ann, "spaces", "admit", space, ben, "--role", role).code == 0
    typed = "/space\nMy aunt is Gerda.\n/space own\nWhat number has the boiler?\n"
    done = by(ben, "chat", "--space", "Our household", typed=typed)
    assert done.code == 0, done.err
    assert f"space: {space}" in done.out
    assert "space: none, your own memory" in done.out
    assert "number 77" not in done.out
    kept = by(ann, "memories", "list", "--space", space).out
    assert ("Gerda" in kept) == (role == "member")
