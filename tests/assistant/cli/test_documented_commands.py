"""The commands in docs/terminal.md and docs/operations.md, each run as it stands there."""

import asyncio
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import httpx
import pytest
from calls import record, rounds
from commands import BIN
from in_process import Finished, Run
from memories import made_up, remember

from memory_store.engines import EdgeEngine

DOCS = Path(__file__).parents[3] / "docs"
_BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
CAT = "I adopted a cat called Miso."


def lines_of(page: str) -> list[str]:
    """The lines of a page's shell blocks."""
    blocks = _BLOCK.findall((DOCS / page).read_text())
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def carried_out(run: Run, line: str, instead: Mapping[str, str] | None = None) -> Finished:
    """A line run in this process, with other words in place of those that stand for the reader's;
    what is piped, in a shell."""
    for theirs, ours in (instead or {}).items():
        line = line.replace(theirs, ours)
    program, *arguments = shlex.split(line, comments=True)
    if "|" in arguments:
        env = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True)
        return Finished(done.returncode, done.stdout, done.stderr)
    assert program == "assistant", line
    return run(*arguments)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands are run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")
    return tmp_path


@pytest.fixture
def ann_and_bob(
    http: httpx.Client, quoting_url: str, ann: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Mapping[str, str]]:
    """Ann told something on her holidays; what stands for her, for Bob and for a round of hers."""
    bob = f"bob and {ann}"
    monkeypatch.setenv("ASSISTANT_URL", quoting_url)
    monkeypatch.setenv("ASSISTANT_USER", ann)
    done = record(http, ann, "holidays", CAT, "Lovely!", timestamp="2024-03-05T10:00:00Z").json()
    yield {
        "--user ann": f"--user {shlex.quote(ann)}",
        "--user bob": f"--user {shlex.quote(bob)}",
        "5f0c1a2b": done["rounds"][0]["id"][:8],
    }
    for user in (ann, bob):
        http.delete(f"/v1/users/{user}/memories")


# What the commands of docs/terminal.md say, by how they begin; of some it is enough that they work.
SAYS = {
    "printf": "I adopted a cat called Miso.",
    'assistant ask "What is my cat called?"': CAT,
    'assistant ask "What did I buy?"': '"answer"',
    "assistant memories list": CAT,
    'assistant memories search "pets"': CAT,
    "assistant memories show": "facts",
    "assistant memories edit": "I moved to Bruges.",
    "assistant memories forget --session holidays --dry-run": "nothing was forgotten: 1 memory",
    "assistant memories export": "written to memories.jsonl",
    "assistant memories import": "imported",
    "assistant spaces begin": "shared-",
    "assistant spaces admit": "ben\treader",
    "assistant spaces list": "owner\t0\tOur household",
    "assistant spaces remove": "ben is no member of Our household",
    "assistant spaces end": "Our household is gone",
    "assistant config": "embedder",
    "assistant config init": "assistant.toml",
}


def expected(line: str) -> str:
    begins = [how for how in SAYS if line.startswith(how)]
    return SAYS[max(begins, key=len)] if begins else ""


def test_the_terminal(
    run: Run, folder: Path, ann_and_bob: Mapping[str, str], http: httpx.Client, ann: str
) -> None:
    (folder / "their.toml").write_text("port = 8081\n")
    instead = {**ann_and_bob, "/etc/assistant.toml": str(folder / "their.toml")}
    lines = lines_of("terminal.md")
    for line in lines:
        done = carried_out(run, line, instead)
        assert done.code == 0, (line, done.err)
        assert expected(line) in done.out + done.err, (line, done.out)
    assert {how for how in SAYS if not any(line.startswith(how) for line in lines)} == set()
    assert rounds(http, ann, "holidays") == [("I moved to Bruges.", "Lovely!")]
    assert sorted(path.name for path in folder.iterdir()) == [
        "assistant.toml",
        "memories.jsonl",
        "their.toml",
    ]


# What needs a Qdrant server, or a collector, and is tried where there is one.
ON_A_SERVER = ("assistant serve --workers", "assistant migrate", "pip install", "OTEL_")
# What the other commands of docs/operations.md say, in order.
OPERATED: Sequence[tuple[str, str]] = (
    ('assistant keys create "Ann', "am-"),
    ('assistant keys create "Open WebUI"', "am-"),
    ('assistant keys create "harness"', '"scopes"'),
    ("assistant keys list", "Open WebUI"),
    ("assistant keys revoke", "revoked"),
    ("assistant reindex --data-dir data", "nothing to do"),
    ("assistant reindex --cancel", "nothing to cancel"),
    ("assistant backup", "9 memories from"),
    ("assistant restore", "checked: it holds what the file holds"),
    ("assistant check --data-dir data", "memory: ok"),
    ("assistant repair --data-dir data --from", "9 memories that are whole"),
    ("assistant scrub --data-dir data", "was removed from the disk"),
    ("assistant check", "memory: ok"),
    ("assistant config", "embedder"),
)


def test_operations(run: Run, folder: Path) -> None:
    asyncio.run(remember(EdgeEngine(folder / "data"), made_up(9)))
    lines = [line for line in lines_of("operations.md") if not line.startswith(ON_A_SERVER)]
    assert len(lines) == len(OPERATED)
    instead: dict[str, str] = {}
    for line, (begins, says) in zip(lines, OPERATED, strict=True):
        assert line.startswith(begins)
        done = carried_out(run, line, instead)
        assert done.code == 0, (line, done.err)
        assert says in done.out + done.err, (line, done.out)
        if made := re.search(r"\bkey-[0-9a-f]+", done.out + done.err):
            instead = {"key-1a2b3c4d": made[0]}
    assert (folder / "empty" / "edge").is_dir()
