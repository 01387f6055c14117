"""The MCP server as the package's own client uses it: as a process over stdio, and in this one."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from calls import record, rounds, sessions
from nursery import NURSERY

from assistant.cli.connection import ServerConnection

mcp = pytest.importorskip("mcp", reason="needs the extra: pip install 'aide-memoire[mcp]'")
mcp_server = pytest.importorskip("assistant.cli.mcp_server")

PROGRAM = "from assistant.cli import main; main()"


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}


@pytest.fixture
def client(quoting_url: str, ann: str) -> Iterator[Any]:
    """A client of a server in this process that serves `ann`, not connected yet."""
    with ServerConnection(quoting_url, ann) as connection:
        memory = mcp_server.ConnectedMemory(connection)
        yield mcp.Client(mcp_server.memory_server(lambda _: memory))


@pytest.fixture
def stdio_client(quoting_url: str, ann: str) -> Any:
    """A client of a server in a process of its own that serves `ann`, not connected yet."""
    command, *more = NURSERY.command("assistant", "mcp", "--assistant", quoting_url, "--user", ann)
    asked = mcp.StdioServerParameters(command=command, args=more, env=dict(os.environ))
    return mcp.Client(mcp.stdio_client(asked))


def test_it_ends_with_its_input_and_writes_nothing_else(quoting_url: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, "mcp", "--assistant", quoting_url],
        input=json.dumps(INITIALIZE) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    (line,) = ended.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "aide-memoire"


async def test_the_tools_say_what_they_do(client: Any) -> None:
    async with client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    reading = {"recall", "facts", "list", "health", "verify"}
    assert set(tools) == reading | {"remember", "settle", "pin", "forget"}
    assert all(tool.title and tool.description for tool in tools.values())
    assert tools["forget"].annotations.destructive_hint
    assert tools["recall"].annotations.read_only_hint
    assert not any("user" in tool.input_schema["properties"] for tool in tools.values())


async def test_remember_recall_list_forget(stdio_client: Any, http: httpx.Client, ann: str) -> None:
    record(http, f"eve and {ann}", "s", "My safe opens with 4711.")
    async with stdio_client as client:
        told = await client.call_tool(
            "remember", {"text": "I adopted a cat called Miso.", "said_at": "2023-03-01T10:00:00Z"}
        )
        (id,) = told.structured_content["ids"]
        again = await client.call_tool("remember", {"text": "My safe is green."})
        assert again.structured_content["recorded"] == 1
        found = await client.call_tool("recall", {"query": "What is my cat called?", "limit": 1})
        (memory,) = found.structured_content["memories"]
        assert (memory["id"], memory["session_date"]) == (id, "2023-03-01T10:00:00Z")
        listed = await client.call_tool("list", {"text": "safe"})
        texts = [one["user_text"] for one in listed.structured_content["memories"]]
        assert texts == ["My safe is green."]
        counted = await client.call_tool("forget", {"id": id})
        assert counted.structured_content["forgotten"] is False
        confirm = counted.structured_content["confirm"]
        gone = await client.call_tool("forget", {"id": id, "confirm": confirm})
        assert gone.structured_content["forgotten"] is True
        assert gone.structured_content["rounds"] == 1
        unknown = await client.call_tool("forget", {"id": id})
        assert unknown.is_error
        assert "has no memory" in unknown.content[0].text
    (session_id,) = sessions(http, ann)
    assert rounds(http, ann, session_id) == [("My safe is green.", "")]


async def test_what_was_just_said_is_known_and_nothing_is_not_remembered(
    client: Any, http: httpx.Client, ann: str
) -> None:
    async with client:
        for recorded, known in ((1, 0), (0, 1)):
            told = await client.call_tool("remember", {"text": "My cat is Miso."})
            assert told.structured_content["recorded"] == recorded
            assert told.structured_content["known"] == known
        for tool, wrong in (
            ("remember", {"text": " \n"}),
            ("recall", {"query": "cat", "limit": 0}),
            ("list", {"limit": 201}),
        ):
            refused = await client.call_tool(tool, wrong)
            assert refused.is_error
            assert ("text" if tool == "remember" else "limit") in refused.content[0].text
    (session_id,) = sessions(http, ann)
    assert rounds(http, ann, session_id) == [("My cat is Miso.", "")]
