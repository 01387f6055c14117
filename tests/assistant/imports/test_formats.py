"""Exports of other assistants, one made by hand for each format, read as sessions."""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from calls import sessions

from assistant.errors import InvalidRequest
from assistant.imports.plain import line_of
from assistant.imports.reading import FORMATS, Import, read_export
from assistant.imports.recognised import Export, recognised

EXPORTS = Path(__file__).parent / "exports"
BRANCH = "messages of abandoned branches (edited or regenerated)"
TOOLS = "messages of systems and tools"
THOUGHTS = "thoughts and tool calls"
Said = Sequence[tuple[str, str, str]]


def said(found: Import) -> dict[str, Said]:
    """What was said by whom at which minute (in UTC), by session."""
    return {
        session.session_id: [
            (turn.role.value, turn.text, f"{turn.timestamp:%Y-%m-%d %H:%M}")
            for turn in session.turns
        ]
        for session in found.sessions
    }


# File, its format, its sessions, and what is left out by reason.
READ: list[tuple[str, str, dict[str, Said], dict[str, int]]] = [
    (
        "claude.json",
        "Claude",
        {
            "claude-c-1": [
                ("user", "I row in Ghent.", "2025-03-04 09:00"),
                ("assistant", "Well rowed!", "2025-03-04 09:02"),
                ("user", "I start at six.", "2025-03-04 10:03"),
            ]
        },
        {BRANCH: 1, "conversations without messages": 1},
    ),
    (
        "gemini.json",
        "Gemini",
        {
            "gemini-2025-11-04": [
                ("user", "I like rye.", "2025-11-04 23:10"),
                ("assistant", "Noted.", "2025-11-04 23:10"),
            ],
            "gemini-2025-11-05": [
                ("user", "I moved to Bruges.", "2025-11-05 00:34"),
                ("assistant", "A fine city & old.\n- Canals", "2025-11-05 00:34"),
            ],
        },
        {BRANCH: 1, "activities that are no prompts": 1},
    ),
    (
        "gemini.html",
        "Gemini",
        {
            "gemini-2025-11-04": [
                ("user", "I like rye.", "2025-11-04 23:10"),
                ("assistant", "Noted.", "2025-11-04 23:10"),
            ],
            "gemini-2025-11-05": [
                ("user", "I moved to Bruges.", "2025-11-05 00:34"),
                ("assistant", "A fine city & old.", "2025-11-05 00:34"),
            ],
        },
        {},
    ),
    (
        "openwebui.json",
        "Open WebUI",
        {
            "open-webui-w-1": [
                ("user", "I drink green tea.", "2025-03-04 09:00"),
                ("assistant", "A good tea.", "2025-03-04 09:01"),
                ("user", "At nine.", "2025-03-04 09:02"),
            ]
        },
        {BRANCH: 1},
    ),
    (
        "librechat.json",
        "LibreChat",
        {
            "librechat-l-1": [
                ("user", "I knit a shawl.", "2025-03-04 09:00"),
                ("assistant", "In wool?", "2025-03-04 09:01"),
                ("user", "In silk.", "2025-03-04 09:02"),
            ]
        },
        {BRANCH: 1, "error messages": 1},
    ),
    (
        "librechat-tree.json",
        "LibreChat",
        {
            "librechat-l-2": [
                ("user", "I knit a shawl.", "2025-03-04 09:00"),
                ("assistant", "In wool?", "2025-03-04 09:01"),
            ]
        },
        {BRANCH: 1},
    ),
    (
        "mem0.json",
        "mem0",
        {
            "mem0-2025-03-04": [("user", "Lives in Ghent", "2025-03-04 16:20")],
            "mem0-2025-03-05": [("user", "Allergic to nuts", "2025-03-05 06:30")],
        },
        {},
    ),
    (
        "zep.json",
        "Zep",
        {
            "zep-z-1": [
                ("user", "I paint on Sundays.", "2025-03-04 09:01"),
                ("assistant", "In oil?", "2025-03-04 09:02"),
            ],
            "zep-2025-03-04": [("user", "Ann paints on Sundays.", "2025-03-04 09:03")],
        },
        {TOOLS: 1, "facts that are marked as no longer true": 1},
    ),
    (
        "letta.af",
        "Letta",
        {
            "letta-1555a832ced645fb6768": [
                ("user", "I learn Dutch.", "2025-03-04 09:01"),
                ("assistant", "Goed zo!", "2025-03-04 09:02"),
            ],
            "letta-1555a832ced645fb6768-memory": [
                ("user", "The user learns Dutch.", "2025-03-04 09:02")
            ],
        },
        {TOOLS: 3, "memory blocks about the agent itself (persona)": 1},
    ),
    (
        "letta-v1.af",
        "Letta",
        {
            "letta-7f4a1e5bff2d56e523ee": [
                ("user", "I bake rye.", "2025-03-04 09:01"),
                ("assistant", "Good.", "2025-03-04 09:01"),
            ],
            "letta-7f4a1e5bff2d56e523ee-memory": [("user", "The user bakes.", "2025-03-04 10:00")],
        },
        {},
    ),
    (
        "pam.json",
        "Portable AI Memory",
        {"gemini-2025-03-04": [("user", "Prefers rye bread.", "2025-03-04 09:00")]},
        {"memories that are marked as no longer true": 1},
    ),
    (
        "omp.json",
        "Open Memory Protocol",
        {"cursor-2025-03-04": [("user", "Prefers rye bread.", "2025-03-06 09:00")]},
        {},
    ),
    (
        "messages.jsonl",
        "JSON",
        {
            "s-1": [
                ("user", "My cat is Fern.", "2025-03-04 09:01"),
                ("assistant", "Hello Fern!", "2025-03-04 09:01"),
            ]
        },
        {},
    ),
    (
        "transcript.md",
        "Markdown",
        {
            "transcript-fbba3bdbfcc63c0f3948": [
                ("user", "I skate on the canal.\nUser: that is me.", "2025-03-04 09:00"),
                ("assistant", "**Well!**\n\n## Ice\n\nIt must hold.", "2025-03-04 09:02"),
                ("user", "It holds.", "2025-03-04 09:02"),
            ]
        },
        {},
    ),
]


@pytest.mark.parametrize(("file", "format", "expected", "left_out"), READ, ids=[r[0] for r in READ])
def test_what_is_kept_and_what_is_left_out(
    file: str, format: str, expected: dict[str, Said], left_out: dict[str, int]
) -> None:
    content = (EXPORTS / file).read_bytes()
    assert recognised(content) is Export.OTHERS
    found = read_export(content)
    assert (list(found.formats), found.unreadable) == ([format], [])
    assert said(found) == expected
    assert found.left_out == left_out


@pytest.mark.parametrize("file", [row[0] for row in READ])
def test_twice_over_http_and_first_as_a_dry_run(http: httpx.Client, ann: str, file: str) -> None:
    content = (EXPORTS / file).read_bytes()

    def send(content: bytes, **asked: str) -> tuple[int, int]:
        path = f"/v1/users/{ann}/import"
        reply = http.post(path, params={"format": "auto"} | asked, content=content)
        done = reply.raise_for_status().json()
        return done["imported"], done["known"]

    rounds = read_export(content).count_rounds()
    assert send(content, dry_run="true") == (rounds, 0)
    assert sessions(http, ann) == {}
    assert send(content) == (rounds, 0)
    assert send(content, dry_run="true") == (0, rounds)
    assert send(content) == (0, rounds)
    # As the command sends it.
    lines = "\n".join(map(line_of, read_export(content).sessions))
    assert send(lines.encode()) == (0, rounds)


def test_every_format_has_an_export() -> None:
    assert {format.name for format in FORMATS} - {row[1] for row in READ} == {"ChatGPT"}


def test_lines_that_cannot_be_read_are_named() -> None:
    found = read_export((EXPORTS / "sessions.jsonl").read_bytes())
    assert said(found) == {
        "s-1": [
            ("user", "My cat is Fern.", "2025-03-04 09:01"),
            ("assistant", "Hello Fern!", "2025-03-04 09:01"),
        ]
    }
    assert found.left_out == {TOOLS: 1}
    second, third = found.unreadable
    assert second == "line 2 cannot be read: it has no date"
    assert third.startswith("line 3 cannot be read: it is not JSON: Expecting value")


def test_a_list_of_letta_messages_tells_thoughts_from_tools() -> None:
    kinds = ("user", "reasoning", "tool_call", "tool_return", "system", "assistant")
    messages = [
        {
            "message_type": f"{kind}_message",
            "content": f"By {kind}.",
            "date": f"2025-03-04T10:0{number}:00Z",
            "id": f"m-{number}",
        }
        for number, kind in enumerate(kinds)
    ]
    found = read_export(json.dumps(messages).encode())
    (turns,) = said(found).values()
    assert [text for _, text, _ in turns] == ["By user.", "By assistant."]
    assert found.left_out == {THOUGHTS: 2, TOOLS: 2}


def test_out_of_a_zip_file_whatever_the_names() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a/one.json", (EXPORTS / "claude.json").read_bytes())
        archive.writestr("users.json", b'[{"uuid": "a-1", "full_name": "Ann"}]')
        archive.writestr("b/page.html", (EXPORTS / "gemini.html").read_bytes())
    found = read_export(packed.getvalue())
    assert list(said(found)) == ["claude-c-1"]
    assert found.left_out["files of the archive that hold no conversations"] == 1


def test_memories_of_two_users_are_not_mixed() -> None:
    two = [{"id": n, "memory": "x", "user_id": n, "created_at": 0} for n in ("ann", "bob")]
    with pytest.raises(InvalidRequest, match=r"several users \(ann, bob\)"):
        read_export(json.dumps(two).encode())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"results": [', "it is not JSON"),
        (b'["x", "User: hi"]', "entry 1 cannot be read: it is no conversation"),
        (b'{"a": 1}', "the export cannot be read: it is no conversation of a known form: it has a"),
        (b'[{"memory": "x"}]', "entry 1 cannot be read: it has no date"),
        (b'[{"memory": "x", "created_at": "noon"}]', "the date 'noon' cannot be read"),
        (b'[{"memory": "x", "created_at": 1e300}]', "the date '1e+300' cannot be read"),
        (b'[{"memory": "x", "created_at": true}]', "the date 'True' cannot be read"),
        (b'[{"id": "1", "chat": {"history": {"messages": 5}, "messages": 5}}]', ""),
        (b'[{"id": "1", "chat": {"history": 5}}]', ""),
        (b'{"agents": [5, {"messages": 5}], "blocks": 5}', ""),
        (b'{"agents": [{"block_ids": 5}], "blocks": []}', "of another kind"),
        (b'[{"chat_messages": [5, {}], "uuid": "c"}]', ""),
        (b'{"session_id": "z", "facts": [5]}', "it has no date"),
        (b'{"session_id": "z", "facts": 5, "messages": []}', ""),
        (b'{"conversationId": "l", "messages": [[], {"parentMessageId": "x"}]}', ""),
        (b'{"conversationId": "l\\n", "messages": [{}]}', "its id must not hold control"),
        (b'<div class="outer-cell"><div class="content-cell">x<br>yesterday', "of a known form"),
        (
            b'<div class="outer-cell"><p class="mdl-typography--title">Gemini</p>'
            b'<div class="content-cell">x<br>Nov 5, 2025, 1:34 AM IST<br>',
            "the date 'Nov 5, 2025, 1:34 AM IST' cannot be read",
        ),
        (b'<div class="outer-cell">' + b"<![<!--<?" * 50_000, "of a known form"),
        (b"User: hi\nAssistant: hello", "it has no date: write a line"),
        (b"User: hi\nAssistant: hello \xff", "line 2 cannot be read: it is not text in UTF-8"),
    ],
)
def test_hostile_exports_are_refused_in_words(content: bytes, says: str) -> None:
    assert says in _refusal(content)


def _refusal(content: bytes) -> str:
    """Why nothing of it can be read; empty where there only was nothing to keep."""
    try:
        found = read_export(content)
    except InvalidRequest as refused:
        return refused.message
    assert list(found.sessions) == []
    return ""
