"""The pages of docs/use-it-with and the quickstart, run as they are against a served assistant.

Each page tells the assistant something; the assistant is stopped and started again; each page asks
for it, and then makes a mistake that its client has to tell.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from commands import BIN, Server
from scripted_model import Reply, ScriptedModel, Sent, scripted_model

DOCS = Path(__file__).parents[2] / "docs"
PAGES = DOCS / "use-it-with"
_BLOCK = re.compile(r"```(python|sh|js)\n(.*?)```", re.DOTALL)
# What the last block of a page prints, which is a mistake.
MISTAKES = {
    "curl": "404",
    "openai-sdk": "model_not_found",
    "llm": "no model 'no-such-model'",
    "litellm": "no model 'gpt-4'",
    "langchain": "model_not_found",
    "openai-agents": "model_not_found",
    "langgraph": "model_not_found",
    "pydantic-ai": "model_not_found",
    "llamaindex": "model_not_found",
    "vercel-ai-sdk": "model_not_found",
}
# Their agents call three tools, one after the other, the first with what is remembered.
AGENTS = ("openai-agents", "langgraph", "pydantic-ai", "llamaindex", "vercel-ai-sdk")
LOOP = (
    ("find_vet", {"pet": "Miso"}),
    ("opening_hours", {"vet": "Dr. Peeters"}),
    ("book", {"vet": "Dr. Peeters", "time": "Monday 9:00"}),
)
# Clients take long to be imported where much else runs.
BLOCK_SECONDS = 300
NEEDS = {
    "openai-sdk": "openai",
    "llm": "llm",
    "litellm": "litellm",
    "langchain": "langchain_openai",
    "openai-agents": "agents",
    "langgraph": "langchain",
    "pydantic-ai": "pydantic_ai",
    "llamaindex": "llama_index",
}
NODE_PACKAGES = ("ai", "@ai-sdk/openai-compatible", "zod")


def _answer(sent: Sent) -> Reply:
    """What a model would say that has read the prompt."""
    knows = "Miso" in str(sent.body["messages"])
    return Reply(["NOTES: none\nANSWER: ", "It is called Miso." if knows else "I don't know."])


def _work(sent: Sent) -> Reply:
    """What a model would do that has tools: hand over, or book with what it remembers."""
    tools = {tool["function"]["name"] for tool in sent.body.get("tools") or ()}
    asked = [n for n, m in enumerate(sent.body["messages"]) if m["role"] == "user"][-1]
    results = sum(m["role"] == "tool" for m in sent.body["messages"][asked:])
    if "transfer_to_pets" in tools and not results:
        return _calling("transfer_to_pets", {})
    if LOOP[0][0] not in tools or "Miso" not in sent.system:
        return _answer(sent)
    if results < len(LOOP):
        return _calling(*LOOP[results])
    return Reply(["Miso has an appointment."])


def _calling(name: str, arguments: Mapping[str, str]) -> Reply:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{name}", "type": "function", "function": function}
    delta = {"role": "assistant", "content": None, "tool_calls": [call]}
    called = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return Reply(chunks=(called, end))


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        running.on("chain_of_note").always(_answer)
        running.on("memory_beside").always(_work)
        yield running


class Assistant:
    """A served assistant, and blocks of pages run against it, each page in its own folder."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self._folder, self._settings = folder, settings
        self._server = Server(folder / "data")

    def start(self) -> None:
        self._server.start(**self._settings)

    def end(self) -> None:
        if self._server.running:
            self._server.end()

    def run(self, page: str, block: tuple[str, str]) -> str:
        """What a block prints, on both of its streams. The user `ann` is another one on each page,
        so that no page is told what another one said."""
        language, code = block
        code = code.replace("http://127.0.0.1:8080", self._server.url)
        code = code.replace("assistant ask", f"assistant ask --assistant {self._server.url}")
        code = re.sub(r"\bann\b", f"ann-of-{page}", code)
        program = {
            "python": [sys.executable, "-c"],
            "sh": ["bash", "-c"],
            "js": ["node", "--input-type=module", "-e"],
        }[language]
        folder = self._folder / page
        folder.mkdir(exist_ok=True)
        if language == "js" and not (folder / "node_modules").exists():
            subprocess.run(["npm", "install", "--silent", *NODE_PACKAGES], cwd=folder, check=True)
        own = {"PATH": f"{BIN}:{os.environ['PATH']}", "LLM_USER_PATH": str(folder)}
        done = subprocess.run(
            [*program, code],
            env=os.environ | own,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=BLOCK_SECONDS,
        )
        return done.stdout + done.stderr


@contextmanager
def running(folder: Path, **settings: str) -> Iterator[Assistant]:
    """An assistant that is started, and ended however the test ends."""
    assistant = Assistant(folder, settings)
    try:
        assistant.start()
        yield assistant
    finally:
        assistant.end()


@dataclass(frozen=True)
class Told:
    """An assistant that was told something on every page, and started again since."""

    assistant: Assistant
    replies: Mapping[str, str]


@pytest.fixture(scope="module")
def told(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    settings = {
        "ASSISTANT_CHAT_MODEL": "openai/fake",
        "ASSISTANT_CHAT_MODEL_BASE_URL": model.url,
        "ASSISTANT_CHAT_MODEL_API_KEY": "k",
    }
    with running(tmp_path_factory.mktemp("clients"), **settings) as assistant:
        tellable = [page for page in MISTAKES if not _lacks(page)]
        replies = {page: assistant.run(page, blocks(PAGES / f"{page}.md")[0]) for page in tellable}
        assistant.end()
        assistant.start()
        yield Told(assistant, replies)


def _lacks(page: str) -> str:
    """What the page needs and is not there."""
    needed = NEEDS.get(page)
    if needed and find_spec(needed) is None:
        return f"{needed} is not installed: run `make test_clients`"
    if page == "curl" and shutil.which("curl") is None:
        return "there is no curl"
    if page == "vercel-ai-sdk" and shutil.which("npm") is None:
        return "there is no Node"
    return ""


def blocks(page: Path) -> list[tuple[str, str]]:
    return _BLOCK.findall(page.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("page", MISTAKES)
def test_a_page(page: str, told: Told) -> None:
    if why := _lacks(page):
        pytest.skip(why)
    _, *ask, mistake = blocks(PAGES / f"{page}.md")
    assert ask
    assert "Miso" in told.replies[page], told.replies[page]
    for question in ask:
        said = told.assistant.run(page, question)
        assert "Miso" in said, said
        if page in AGENTS and "find_vet" in question[1]:
            calls = [said.find(name) for name, _ in LOOP]
            assert calls == sorted(calls), said
            assert calls[0] >= 0, said
            assert "Miso has an appointment." in said, said
    said = told.assistant.run(page, mistake)
    assert MISTAKES[page] in said, said


@pytest.mark.slow
def test_what_one_page_was_told_no_other_knows(told: Told) -> None:
    _, ask, _ = blocks(PAGES / "curl.md")
    assert "I don't know." in told.assistant.run("no-page", ask)


def test_the_quickstart(tmp_path: Path) -> None:
    tell, ask, see, *forget = blocks(DOCS / "quickstart.md")
    with running(tmp_path) as assistant:

        def run(block: tuple[str, str]) -> str:
            return assistant.run("quickstart", block)

        assert "Kept: “I adopted a cat called Miso”" in run(tell)
        assert "you said: “I adopted a cat called Miso.”" in run(ask)
        assert '"total":1' in run(see)
        said = "".join(map(run, forget))
        assert said.count('"rounds":1') == 2
        assert '"total":0' in run(see)


def test_every_page_is_run_or_is_configuration() -> None:
    configuration = {"open-webui", "librechat"}
    # Spoken to in test_mcp.py, and run in test_adapters.py.
    elsewhere = {"mcp", "memory-for-other-models"}
    assert {page.stem for page in PAGES.glob("*.md")} == {*MISTAKES, *configuration, *elsewhere}
    for page in configuration:
        assert not blocks(PAGES / f"{page}.md")
    (text,) = re.findall(r"```yaml\n(.*?)```", (PAGES / "librechat.md").read_text(), re.DOTALL)
    (endpoint,) = yaml.safe_load(text)["endpoints"]["custom"]
    assert endpoint["models"]["default"] == ["aide-memoire", "aide-memoire-nomem"]
