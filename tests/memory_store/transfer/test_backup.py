"""A memory written to lines, and a memory made of them: the same on either engine."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from memories import Steps, answers, held, made_up, questions, remember
from qdrant_binary import Qdrant

from memory_store import MemoryStore
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import (
    EdgeEngine,
    EdgeOperator,
    OperatorEngine,
    ServerOperator,
)
from memory_store.errors import (
    InvalidRecord,
    StoreMissing,
    StoreNotEmpty,
    StoreUnready,
)
from memory_store.transfer import (
    Restored,
    back_up,
    ending,
    from_lines,
    header,
    restore,
)

# Statements that replace each other, so that there are links to keep.
CITIES = ("Ghent", "Oslo", "Lima")
ROUNDS = [
    replace(told, user_text=f"I live in {CITIES[number // 3 % 3]} now. {told.user_text}")
    for number, told in enumerate(made_up(150))
]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory that is only read."""
    folder = tmp_path_factory.mktemp("written")
    asyncio.run(remember(EdgeEngine(folder), ROUNDS))
    return folder


@pytest.fixture(scope="module")
def lines(written: Path) -> list[str]:
    found: list[str] = []
    asyncio.run(back_up(EdgeOperator(written), found.append, Steps()))
    return found


@pytest.fixture(params=["edge", pytest.param("server", marks=pytest.mark.qdrant_server)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], OperatorEngine]:
    """Makes operators of one empty place."""
    if request.param == "edge":
        return lambda: EdgeOperator(tmp_path / "restored")
    qdrant: Qdrant = request.getfixturevalue("qdrant")
    collection: str = request.getfixturevalue("collection")
    return lambda: ServerOperator(qdrant.url, grpc_port=qdrant.grpc_port, collection=collection)


async def restored(
    memory: OperatorEngine, lines: list[str], steps: Steps | None = None
) -> Restored:
    return await restore(
        memory,
        lambda: Embedder(HashEncoder()),
        iter(lines),
        steps or Steps(),
        rounds=len(lines) - 2,
    )


async def test_a_restored_memory_is_the_one_that_was_backed_up(
    written: Path, lines: list[str], place: Callable[[], OperatorEngine]
) -> None:
    before = await held(EdgeOperator(written))
    assert [line.rstrip("\n") for line in lines] == before
    assert any('"superseded_by"' in line for line in lines)
    steps = Steps()
    done = await restored(place(), lines, steps)
    assert (done.rounds, steps.seen) == (150, [("restoring", 150)])
    assert await held(place()) == before
    again: list[str] = []
    assert (await back_up(place(), again.append, Steps())).checksum == done.checksum
    assert again == lines


async def test_it_finds_what_the_old_one_found(
    tmp_path: Path, written: Path, lines: list[str]
) -> None:
    other = tmp_path / "restored"
    await restored(EdgeOperator(other), lines)
    asked = questions(20)
    assert await answers(EdgeEngine(other), asked) == await answers(EdgeEngine(written), asked)


async def test_a_memory_that_is_not_empty_is_left_alone(
    lines: list[str], place: Callable[[], OperatorEngine]
) -> None:
    await restored(place(), [*lines[:11], ending(10)])
    before = await held(place())
    with pytest.raises(StoreNotEmpty, match="another memory of 10 rounds"):
        await restored(place(), lines)
    assert await held(place()) == before


async def test_a_half_restored_memory_is_not_opened_and_can_be_restored(
    lines: list[str], place: Callable[[], OperatorEngine], written: Path
) -> None:
    with pytest.raises(InvalidRecord, match="line 140 "):
        await restored(place(), [*lines[:139], "{}\n", *lines[140:]])
    store = MemoryStore(place(), Embedder(HashEncoder()))
    with pytest.raises(StoreUnready, match="assistant restore"):
        await store.open()
    await restored(place(), lines)
    assert await held(place()) == await held(EdgeOperator(written))


async def test_a_backup_that_was_cut_at_the_end_of_a_line_is_known(
    lines: list[str], place: Callable[[], OperatorEngine]
) -> None:
    with pytest.raises(InvalidRecord, match="truncated after 139 records"):
        await restored(place(), lines[:140])
    with pytest.raises(InvalidRecord, match="says 150 records, but the file has 139"):
        await restored(place(), [*lines[:140], lines[-1]])
    with pytest.raises(InvalidRecord, match="text after the last line"):
        await restored(place(), [*lines, lines[1]])


async def test_a_backup_of_the_first_version_had_no_end(
    lines: list[str], place: Callable[[], OperatorEngine]
) -> None:
    assert (await restored(place(), [header(1), *lines[1:-1]])).rounds == 150


async def test_nothing_there_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        await back_up(EdgeOperator(tmp_path / "none"), print, Steps())
    assert not (tmp_path / "none").exists()


def test_lines_of_another_format_are_named() -> None:
    for lines in (["{}"], ["no"], [json.dumps({"format": "aide-memoire/records", "version": 9})]):
        with pytest.raises(InvalidRecord, match="line 1"):
            list(from_lines(lines))
    good = json.dumps({"format": "aide-memoire/records", "version": 1})
    with pytest.raises(InvalidRecord, match=r"line 2 .*: the field 'user_id' is missing"):
        list(from_lines([good, "{}"]))
    with pytest.raises(InvalidRecord, match="the file is empty"):
        list(from_lines([]))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"user_text": 5}, "'user_text' must be text, not a number"),
        ({"facts": {}}, "'facts' must be a list, not an object"),
        ({"session_date": "soon"}, "'session_date' must be a time like .*, not 'soon'"),
        ({"round_index": None}, "'round_index' must be a number, not null"),
        ({"facts": [5]}, "something in it is of another kind"),
    ],
)
def test_what_is_wrong_with_a_field_is_said_in_words(changed: dict[str, Any], told: str) -> None:
    record = {
        **{"user_id": "ann", "session_id": "s", "round_index": 0, "turn_ids": [], "facts": []},
        **{"session_date": "2024-03-01T10:00:00Z", "user_text": "x", "assistant_text": ""},
        **{"enrichment": "done"},
        **changed,
    }
    head = json.dumps({"format": "aide-memoire/records", "version": 1})
    with pytest.raises(InvalidRecord, match=f"line 2 cannot be read: {told}"):
        list(from_lines([head, json.dumps(record)]))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[1]", r"expected a JSON object \(.*\), not a list"),
        ('{"a": 1,, }', "it is not JSON: .* at character 9"),
    ],
)
def test_a_line_that_is_no_record_is_said_in_words(line: str, told: str) -> None:
    head = json.dumps({"format": "aide-memoire/records", "version": 1})
    with pytest.raises(InvalidRecord, match=f"line 2 cannot be read: {told}"):
        list(from_lines([head, line]))
