"""The adapters that add memory to another model: told in one session, known in the next."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from calls import sessions
from commands import Server
from scripted_model import PLAIN, Reply, ScriptedModel, Sent, scripted_model

PAGE = Path(__file__).parents[2] / "docs" / "use-it-with" / "memory-for-other-models.md"
ADAPTERS = PAGE.parent / "adapters"
TOLD, ASKED = "I adopted a cat called Miso.", "What is my cat called?"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = Server(tmp_path_factory.mktemp("memory"))
    server.start()
    yield server.url
    server.end()


@pytest.fixture
def other_model() -> Iterator[ScriptedModel]:
    """A model that has no memory, and knows what it is shown."""

    def answer(sent: Sent) -> Reply:
        knows = "Miso" in str(sent.body["messages"])
        return Reply(["It is called Miso." if knows else "I don't know."])

    with scripted_model() as model:
        model.on(PLAIN).always(answer)
        yield model


def load(name: str) -> ModuleType:
    sys.path.insert(0, str(ADAPTERS))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(ADAPTERS))


def blocks(heading: str) -> str:
    """The Python under a heading of the page."""
    _, _, rest = PAGE.read_text().partition(f"## {heading}\n")
    found = re.search(r"```python\n(.*?)```", rest.split("\n## ")[0], re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("heading", "needs", "user"),
    [("LangGraph", "langgraph", "ann-l"), ("OpenAI Agents SDK", "agents", "ann-a")],
)
def test_the_blocks_of_the_page(
    memory: str, other_model: ScriptedModel, heading: str, needs: str, user: str
) -> None:
    if find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed: run `make test_clients`")
    code = blocks(heading).replace("http://127.0.0.1:8080", memory).replace('"ann"', f'"{user}"')
    own = {
        "OPENAI_BASE_URL": other_model.url,
        "OPENAI_API_KEY": "k",
        "PYTHONPATH": str(ADAPTERS),
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip() == "It is called Miso.", done.stdout + done.stderr
    asked = [sent for sent in other_model.sent if ASKED in sent.last]
    assert TOLD in asked[-1].system
    with httpx.Client(base_url=memory) as client:
        assert sessions(client, user) == {
            "monday": [(TOLD, "It is called Miso.")],
            "tuesday": [(ASKED, "It is called Miso.")],
        }


def test_the_filter_of_open_webui(memory: str) -> None:
    async def chat(chat_id: str, text: str, answer: str) -> list[Any]:
        filter = load("open_webui_filter").Filter()
        filter.valves = filter.Valves(url=memory)
        user = {"id": "ann-w"}
        body = {"messages": [{"role": "user", "content": text}], "chat_id": chat_id}
        shown = (await filter.inlet(body, user))["messages"]
        said = [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        for _ in range(2):
            await filter.outlet({"messages": said, "chat_id": chat_id}, user)
        return list(shown)

    asyncio.run(chat("a/1", TOLD, "Nice."))
    first, last = asyncio.run(chat("b", ASKED, "Miso."))
    assert first["role"] == "system"
    assert TOLD in first["content"]
    assert last == {"role": "user", "content": ASKED}
    with httpx.Client(base_url=memory) as client:
        kept = sessions(client, "ann-w")
    assert kept == {"a/1": [(TOLD, "Nice.")], "b": [(ASKED, "Miso.")]}


def test_the_hook_of_the_litellm_proxy(memory: str, other_model: ScriptedModel) -> None:
    import litellm

    hook = load("litellm_hook")
    hook.URL = memory

    async def chat(text: str) -> str:
        data: dict[str, Any] = {"messages": [{"role": "user", "content": text}], "user": "ann-p"}
        data = await hook.memory.async_pre_call_hook(None, None, data, "acompletion")
        reply = await litellm.acompletion(
            model="openai/other", api_base=other_model.url, api_key="k", **data
        )
        await hook.memory.async_log_success_event(data, reply, None, None)
        return str(reply.choices[0].message.content)

    asyncio.run(chat(TOLD))
    assert asyncio.run(chat(ASKED)) == "It is called Miso."
    with httpx.Client(base_url=memory) as client:
        (kept,) = sessions(client, "ann-p").values()
    assert kept == [(TOLD, "It is called Miso."), (ASKED, "It is called Miso.")]


def test_adapters_are_short() -> None:
    lengths = {file.name: len(file.read_text().splitlines()) for file in ADAPTERS.glob("*.py")}
    assert len(lengths) == 4
    assert max(lengths.values()) <= 100, lengths
