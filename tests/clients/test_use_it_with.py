"""The pages of docs/use-it-with and the quickstart, run as they are against a served assistant.

Each page tells the assistant something; the assistant is stopped and started again; the page asks
for it, and then makes a mistake that its client has to tell.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from commands import BIN, Server
from scripted_model import Reply, ScriptedModel, Sent, scripted_model

DOCS = Path(__file__).parents[2] / "docs"
PAGES = DOCS / "use-it-with"
_BLOCK = re.compile(r"```(python|sh)\n(.*?)```", re.DOTALL)
# What the last block of a page prints, which is a mistake.
MISTAKES = {
    "curl": "404",
    "openai-sdk": "model_not_found",
    "llm": "no model 'no-such-model'",
    "litellm": "no model 'gpt-4'",
    "langchain": "model_not_found",
}
NEEDS = {
    "openai-sdk": "openai",
    "llm": "llm",
    "litellm": "litellm",
    "langchain": "langchain_openai",
}


def _answer(sent: Sent) -> Reply:
    """What a model would say that has read the prompt."""
    knows = "Miso" in str(sent.body["messages"])
    return Reply(["NOTES: none\nANSWER: ", "It is called Miso." if knows else "I don't know."])


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        running.on("chain_of_note").always(_answer)
        yield running


class Assistant:
    """A served assistant, and the blocks of a page run against it."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self._folder, self._settings = folder, settings
        self._server = Server(folder / "data")

    def start(self) -> None:
        self._server.start(**self._settings)

    def end(self) -> None:
        self._server.end()

    def run(self, block: tuple[str, str]) -> str:
        """What a block prints, on both of its streams."""
        language, code = block
        code = code.replace("http://127.0.0.1:8080", self._server.url)
        code = code.replace("assistant ask", f"assistant ask --assistant {self._server.url}")
        program = [sys.executable, "-c"] if language == "python" else ["bash", "-c"]
        own = {"PATH": f"{BIN}:{os.environ['PATH']}", "LLM_USER_PATH": str(self._folder)}
        done = subprocess.run(
            [*program, code],
            env=os.environ | own,
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stdout + done.stderr


def blocks(page: Path) -> list[tuple[str, str]]:
    return _BLOCK.findall(page.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("page", MISTAKES)
def test_a_page(page: str, model: ScriptedModel, tmp_path: Path) -> None:
    needed = NEEDS.get(page)
    if needed and find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed: run `make test_clients`")
    if page == "curl" and shutil.which("curl") is None:
        pytest.skip("there is no curl")
    settings = {
        "ASSISTANT_CHAT_MODEL": "openai/fake",
        "ASSISTANT_CHAT_MODEL_BASE_URL": model.url,
        "ASSISTANT_CHAT_MODEL_API_KEY": "k",
    }
    assistant = Assistant(tmp_path, settings)
    tell, *ask, mistake = blocks(PAGES / f"{page}.md")
    assert ask
    assistant.start()
    try:
        assert "Miso" in assistant.run(tell)
        assistant.end()
        assistant.start()
        for question in ask:
            said = assistant.run(question)
            assert "Miso" in said, said
        said = assistant.run(mistake)
        assert MISTAKES[page] in said, said
    finally:
        assistant.end()


@pytest.mark.slow
def test_the_quickstart(tmp_path: Path) -> None:
    assistant = Assistant(tmp_path, {})
    tell, ask, see, forget = blocks(DOCS / "quickstart.md")
    assistant.start()
    try:
        assert "Noted." in assistant.run(tell)
        assert "you said: “I adopted a cat called Miso.”" in assistant.run(ask)
        assert '"total":1' in assistant.run(see)
        said = assistant.run(forget)
        assert said.count('"rounds":1') == 2
        assert '"total":0' in assistant.run(see)
    finally:
        assistant.end()


def test_every_page_is_run_or_is_configuration() -> None:
    configuration = {"open-webui", "librechat"}
    assert {page.stem for page in PAGES.iterdir()} == {*MISTAKES, *configuration}
    for page in configuration:
        assert not blocks(PAGES / f"{page}.md")
    (text,) = re.findall(r"```yaml\n(.*?)```", (PAGES / "librechat.md").read_text(), re.DOTALL)
    (endpoint,) = yaml.safe_load(text)["endpoints"]["custom"]
    assert endpoint["models"]["default"] == ["aide-memoire", "aide-memoire-nomem"]
