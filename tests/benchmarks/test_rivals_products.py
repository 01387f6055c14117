"""Each product's adapter: how rounds become its own records and back, without its library; and the
product itself where its environment was made (`python -m benchmarks.rivals`).
"""

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from benchmarks.processes import folder_of
from benchmarks.rivals import chroma, langgraph, mem0
from benchmarks.rivals.measuring import RIVALS, Place, Running, started
from benchmarks.rivals.rounds import RecalledRound, Round

REQUIREMENTS = Path(chroma.__file__).parent / "requirements"
AT = "2024-01-01T10:00:00Z"
ROUND = Round("s1", 2, AT, (("user", "I adopted Miso."), ("assistant", "Lovely!")))
WHOLE = RecalledRound("s1", 2, AT, "user: I adopted Miso.\nassistant: Lovely!")


def test_chroma_gives_back_what_it_was_given() -> None:
    given = chroma.documents([ROUND])
    assert given["ids"] == ["s1-2-user"]
    reply = {name: [given[name]] for name in ("documents", "metadatas")}
    assert chroma.found(reply) == [WHOLE]


@pytest.mark.parametrize("user", ["a", "ann@example.org", "ü" * 400])
def test_chroma_takes_the_name_of_any_user(user: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,61}[a-zA-Z0-9]", chroma.name_of(user))
    assert chroma.name_of(user) != chroma.name_of(f"{user} ")


def test_langgraph_gives_back_what_it_was_given() -> None:
    ((key, value),) = langgraph.values([ROUND])
    assert key == "s1-2-user"
    assert langgraph.found([SimpleNamespace(value=value)]) == [WHOLE]


def test_pieces_of_a_round_do_not_replace_each_other() -> None:
    pieces = [Round("s1", 2, AT, (turn,)) for turn in ROUND.turns]
    assert len({key for key, _ in langgraph.values(pieces)}) == 2
    assert len(set(chroma.documents(pieces)["ids"])) == 2


def test_mem0_gives_back_each_message_by_itself() -> None:
    results = [
        {"memory": said["content"], "role": said["role"], "metadata": mem0.metadata(ROUND)}
        for said in mem0.messages(ROUND)
    ]
    texts = [found.text for found in mem0.found({"results": results})]
    assert texts == ["user: I adopted Miso.", "assistant: Lovely!"]
    assert {(found.session, found.index) for found in mem0.found({"results": results})} == {
        ("s1", 2)
    }


def test_mem0_is_told_of_this_machine_only(tmp_path: Path) -> None:
    configured = mem0.configuration(tmp_path, "http://127.0.0.1:1/v1")
    assert configured["embedder"]["config"]["openai_base_url"] == "http://127.0.0.1:1/v1"
    assert configured["vector_store"]["config"]["path"].startswith(str(tmp_path))
    assert configured["history_db_path"].startswith(str(tmp_path))


class Counting:
    """A store that is told how many are in it at once."""

    size = 7

    def __init__(self) -> None:
        self.inside = self.most = 0

    def insert(self) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(0.01)
        self.inside -= 1


def test_a_store_of_mem0_is_in_one_thread_at_a_time() -> None:
    counting = Counting()
    store = mem0.OneAtATime(counting)
    threads = [threading.Thread(target=store.insert) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counting.most, store.size) == (1, 7)


def test_every_product_is_pinned() -> None:
    lines = [line for file in REQUIREMENTS.glob("*.txt") for line in file.read_text().splitlines()]
    assert len(lines) >= 3
    assert all(re.fullmatch(r"[\w-]+==[\w.]+", line) for line in lines)
    assert {file.stem for file in REQUIREMENTS.glob("*.txt")} <= set(RIVALS.values())


def test_a_server_around_a_product_is_short() -> None:
    folder = REQUIREMENTS.parent
    shared = (folder / "serving.py").read_text().count("\n")
    for name in RIVALS.values():
        own = (folder / f"{name}.py").read_text().count("\n")
        assert max(shared, own) <= 150, name


def tell(running: Running, user: str, session: str, *said: str) -> None:
    turns = [{"role": "user", "content": text, "timestamp": AT} for text in said]
    body = {"user": user, "turns": turns}
    httpx.post(f"{running.url}/v1/sessions/{session}", json=body, timeout=60).raise_for_status()


def ask(running: Running, user: str, question: str) -> list[dict[str, Any]]:
    asked = {"role": "user", "content": question}
    body = {"user": user, "session": "q", "when": AT, "store": False, "messages": [asked]}
    reply = httpx.post(f"{running.url}/v1/chat/completions", json=body, timeout=60)
    memories: list[dict[str, Any]] = reply.raise_for_status().json()["memories"]
    return memories


Starting = Callable[[], Any]


@pytest.fixture(params=["chroma", "langgraph", "mem0"])
def starting(request: pytest.FixtureRequest, tmp_path: Path) -> Starting:
    """Starts the product on one folder, however often."""
    name: str = request.param
    wanted = REQUIREMENTS / f"{name}.txt"
    if not (folder_of(wanted) / "complete").exists():
        pytest.skip(f"no environment of {name}: python -m benchmarks.rivals {name}")
    place = Place(tmp_path, folder_of(wanted).parent)
    (tmp_path / "data").mkdir()
    return lambda: started(name, place, tmp_path / "data")


@pytest.mark.weights
def test_a_product_finds_keeps_apart_outlives_a_restart_and_forgets(starting: Starting) -> None:
    with starting() as running:
        tell(running, "ann", "s1", "I adopted a cat called Miso.", "My bicycle is green.")
        tell(running, "bob", "s1", "I adopted a dog called Rex.")
        assert ask(running, "eve", "Which pet do I have?") == []
    with starting() as running:
        found = ask(running, "ann", "What is the name of my cat?")
        assert found[0] == {
            "session": "s1",
            "round": 0,
            "text": "user: I adopted a cat called Miso.",
        }
        assert len(found) == 2
        httpx.delete(f"{running.url}/v1/users/ann", timeout=60).raise_for_status()
        assert ask(running, "ann", "What is the name of my cat?") == []
        assert [one["round"] for one in ask(running, "bob", "Which pet do I have?")] == [0]
