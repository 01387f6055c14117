"""`assistant memories`, piped, against a served assistant."""

import json
import os
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import record, rounds, sessions
from commands import BIN
from in_process import Finished, Run

from assistant.cli.memory_calls import packed
from assistant.imports.recognised import ACCEPTED
from memory_store.transfer import from_lines, to_line, to_lines


@pytest.fixture
def run(run: Run, quoting_url: str, ann: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A subcommand for `ann`."""

    def of_user(*arguments: object, user: str = ann, typed: str = "") -> Finished:
        monkeypatch.setenv("ASSISTANT_URL", quoting_url)
        monkeypatch.setenv("ASSISTANT_USER", user)
        return run("memories", *arguments, typed=typed)

    return of_user


@pytest.fixture(autouse=True)
def told(http: httpx.Client, ann: str) -> None:
    record(
        http,
        ann,
        "s",
        "I adopted a cat\u2028called \x1b[31mMiso.",
        "Noted.",
        "I like tea.",
        "Noted.",
    )
    record(http, ann, "t", "I moved to Ghent.", "Oh!", timestamp="2023-07-01T08:00:00Z")


def test_list(run: Run) -> None:
    done = run("list")
    assert (done.code, done.err) == (0, "")
    lines = [line.split("\t") for line in done.out.splitlines()]
    assert [line[1:] for line in lines] == [
        ["2023-07-01T08:00:00Z", "I moved to Ghent."],
        ["2023-05-20T10:00:02Z", "I like tea."],
        ["2023-05-20T10:00:00Z", "I adopted a cat called [31mMiso."],
    ]
    assert run("list", "--text", "CAT").out.count("\n") == 1
    assert run("list", "--from", "2023-06-01").out.count("\n") == 1
    page = run("list", "--oldest", "--limit", 1, "--json").json
    assert (page["total"], page["data"][0]["user_text"][:5]) == (3, "I ado")
    after = run("list", "--oldest", "--limit", 1, "--after", page["next"], "--json").json
    assert after["data"][0]["user_text"] == "I like tea."


def test_a_process_of_its_own(quoting_url: str, ann: str) -> None:
    ended = subprocess.run(
        [BIN / "assistant", "memories", "list", "--text", "cat"],
        env=os.environ | {"ASSISTANT_URL": quoting_url, "ASSISTANT_USER": ann},
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("\tI adopted a cat called [31mMiso.\n")


def test_search(run: Run) -> None:
    done = run("search", "Which tea do I like?", "--limit", 2)
    assert done.out.splitlines()[0].endswith("\tI like tea.")
    assert done.out.count("\n") == 1
    assert run("search", "Which tea do I like?", "--limit", 2, "--all").out.count("\n") == 2
    found = run("search", "Where did I move?", "--as-of", "2023-06-01", "--json").json
    assert "I moved to Ghent." not in [one["user_text"] for one in found["data"]]


def test_show(run: Run) -> None:
    listed = run("list", "--json").json["data"]
    id = listed[0]["id"]
    shown = run("show", id[:8])
    assert shown.out.startswith(f"{id}\n1 July 2023, 08:00 UTC · t #0\nyou\n  I moved to Ghent.\n")
    (fact,) = run("show", id, "--json").json["facts"]
    assert [one["text"] for one in fact["history"]] == ["I moved to Ghent."]
    assert (run("show", "00000000").code, run("show", "0").code) == (2, 2)
    assert "no memory has an id" in run("show", "zzzzzzzz").err


def test_in_a_pipe_long_lines_are_shown_whole(run: Run, http: httpx.Client, ann: str) -> None:
    long = f"I walked {'very ' * 60}far."
    record(http, ann, "u", f"{long}\nIt rained.", long, timestamp="2023-08-01T08:00:00Z")
    id = run("list", "--json", "--limit", 1).json["data"][0]["id"]
    lines = run("show", id).out.splitlines()
    assert lines[2:6] == ["you", f"  {long}", "  It rained.", "assistant"]
    assert lines[6:] == [f"  {long}", "facts", f"  · {long}"]


def test_forget(run: Run, http: httpx.Client, ann: str) -> None:
    asked = run("forget", "--all")
    assert (asked.code, asked.out) == (2, "")
    assert f"forget all 3 memories of {ann}?" in asked.err
    assert "--yes" in asked.err
    counted = run("forget", "--session", "s", "--dry-run", "--json").json
    assert counted == {
        "found": {"rounds": 2, "facts": 1, "sessions": 1, "answers": 0},
        "forgotten": 0,
        "dry_run": True,
    }
    dry = run("forget", "--session", "s", "--dry-run").out
    assert dry == "dry run, nothing was forgotten: 2 memories of session s\n"
    assert len(rounds(http, ann, "s")) == 2
    id = run("list", "--json").json["data"][0]["id"]
    assert run("forget", id[:10], "--yes").out == "1 memory forgotten\n"
    assert list(sessions(http, ann)) == ["s"]
    assert run("forget", "--session", "s", "--yes", "--json").json["forgotten"] == 2
    assert run("forget", "--session", "s", "--yes").code == 2
    nothing = run("forget", "--all", "--yes", "--json")
    assert (nothing.code, nothing.json["forgotten"]) == (0, 0)
    assert run("forget", "--all", "--yes").out == "there is nothing to forget\n"
    assert run("forget").code == 2
    assert run("forget", "x", "--all").code == 2


def test_a_receipt_of_what_was_forgotten(run: Run, http: httpx.Client, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    id = run("list", "--json").json["data"][0]["id"]
    assert run("forget", id, "--dry-run", "--receipt", str(file)).code == 0
    assert not file.exists()
    done = run("forget", id, "--yes", "--receipt", str(file))
    assert done.out == f"1 memory forgotten\nthe receipt was written to {file}\n"
    assert run("forget", "--all", "--yes", "--receipt", str(file)).code == 2
    verified = run("verify", str(file))
    assert verified.code == 0
    assert verified.out == "removed 1 memory: holds (0 there, 0 changed, 1 gone, 0 again)\n"
    forged = json.loads(file.read_text("utf-8")) | {"rounds": 2}
    file.write_text(json.dumps(forged), encoding="utf-8")
    assert run("verify", str(file)).code == 2
    file.write_text("{", encoding="utf-8")
    refused = run("verify", str(file))
    assert refused.code == 2
    assert "cannot read the receipt" in refused.err


def test_edit_by_text(run: Run, http: httpx.Client, ann: str) -> None:
    id = run("list", "--json").json["data"][0]["id"]
    assert run("edit", id[:10], "--text", "I moved to Bruges.").out == "I moved to Bruges.\n"
    assert rounds(http, ann, "t") == [("I moved to Bruges.", "Oh!")]
    assert run("edit", id, "--text", "I moved to Bruges.").out == "nothing was changed\n"
    assert run("edit", id, "--text", "I moved to Delft.", "--json").json["corrected_at"]
    refused = run("edit", "zzzzzzzz", "--text", "x")
    assert (refused.code, "no memory has an id" in refused.err) == (2, True)


def test_edit_in_an_editor(
    run: Run, http: httpx.Client, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    id = run("list", "--json").json["data"][0]["id"]
    assert "use --text" in run("edit", id).err
    monkeypatch.setenv("EDITOR", "sed -i s/Ghent/Namur/")
    assert run("edit", id).out == "I moved to Namur.\n"
    assert rounds(http, ann, "t") == [("I moved to Namur.", "Oh!")]
    monkeypatch.setenv("VISUAL", "false")
    assert (run("edit", id).code, rounds(http, ann, "t")[0][0]) == (2, "I moved to Namur.")


def _spoken(id: str, *said: str) -> dict[str, Any]:
    """A conversation of a ChatGPT export, the user and the assistant by turns."""
    nodes: dict[str, Any] = {}
    for number, text in enumerate(said):
        message = {
            "id": f"{id}-{number}",
            "author": {"role": ("user", "assistant")[number % 2]},
            "create_time": 1684576800.0 + number,
            "content": {"content_type": "text", "parts": [text]},
        }
        parent = str(number - 1) if number else None
        nodes[str(number)] = {"message": message, "parent": parent}
    return {"conversation_id": id, "mapping": nodes, "current_node": str(len(said) - 1)}


def test_to_other_products_and_back(run: Run, http: httpx.Client, ann: str, tmp_path: Path) -> None:
    cat = f"cat and {ann}"
    record(http, cat, f"{cat} s", "I fence.", "Touché!", labels={"topic": "sport"})
    lines = http.get(f"/v1/users/{cat}/export").text
    file = tmp_path / "memories.pam.zip"
    done = run("export", file, "--format", "pam", user=cat)
    assert done.out == (f"1 memory written to {file}\nonly this assistant will read: 1 × labels\n")
    assert file.stat().st_mode & 0o777 == 0o600
    http.delete(f"/v1/users/{cat}/memories")
    assert run("import", file, user=cat).out == "1 memory imported\n"
    assert http.get(f"/v1/users/{cat}/export").text == lines
    assert run("export", "-", "--format", "pam", user=cat).code == 2


def test_an_export_of_chatgpt(run: Run, http: httpx.Client, ann: str, tmp_path: Path) -> None:
    file, bob = tmp_path / "conversations.json", f"bob and {ann}"
    export = json.dumps([_spoken("a", "I like rye.", "Noted."), _spoken("b", "I row.", "Well!")])
    file.write_text(export)
    done = run("import", file, user=bob)
    assert (done.out, done.code) == ("2 memories imported\n", 0)
    assert done.err.splitlines()[-1] == "importing: 2 of 2 memories"
    assert sessions(http, bob) == {
        "chatgpt-a": [("I like rye.", "Noted.")],
        "chatgpt-b": [("I row.", "Well!")],
    }
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as packed:
        packed.write(file, "conversations.json")
    again = run("import", tmp_path / "export.zip", "--json", user=bob)
    assert again.json == {
        "imported": 0,
        "known": 2,
        "unreadable": [],
        "left_out": {},
        "formats": ["ChatGPT"],
        "dry_run": False,
    }
    file.write_text(json.dumps([{"title": "Odd"}, *json.loads(export)]))
    partly = run("import", file, user=bob)
    assert (partly.out, partly.code) == ("0 memories imported, 2 were there already\n", 0)
    assert "left out: entry 1 (“Odd”) cannot be read: it is no conversation" in partly.err
    file.write_text("[{}]")
    refused = run("import", file, user=bob)
    assert (refused.code, "entry 1 cannot be read" in refused.err) == (2, True)


EXPORTS = Path(__file__).parents[1] / "imports" / "exports"


@pytest.mark.parametrize(
    ("file", "format", "imported", "left_out", "session"),
    [
        (
            "claude.json",
            "Claude",
            2,
            {
                "messages of abandoned branches (edited or regenerated)": 1,
                "conversations without messages": 1,
            },
            {"claude-c-1": [("I row in Ghent.", "Well rowed!"), ("I start at six.", "")]},
        ),
        (
            "mem0.json",
            "mem0",
            2,
            {},
            {
                "mem0-2025-03-04": [("Lives in Ghent", "")],
                "mem0-2025-03-05": [("Allergic to nuts", "")],
            },
        ),
    ],
)
def test_exports_of_others(
    run: Run,
    http: httpx.Client,
    ann: str,
    file: str,
    format: str,
    imported: int,
    left_out: dict[str, int],
    session: dict[str, list[tuple[str, str]]],
) -> None:
    bob = f"bob and {ann}"
    tried = run("import", EXPORTS / file, "--dry-run", user=bob)
    would = f"{imported} memories would be imported"
    assert tried.out == f"dry run, nothing was stored ({format}): {would}\n"
    assert [line for line in tried.err.splitlines() if line.startswith("left out")] == [
        f"left out: {count} × {reason}" for reason, count in left_out.items()
    ]
    assert sessions(http, bob) == {}
    assert run("import", EXPORTS / file, user=bob).out == f"{imported} memories imported\n"
    assert sessions(http, bob) == session
    again = run("import", EXPORTS / file, "--json", user=bob).json
    assert again.pop("fields_not_read")
    assert again == {
        "imported": 0,
        "known": imported,
        "unreadable": [],
        "left_out": left_out,
        "formats": [format],
        "dry_run": False,
    }
    ours = run("export", "-", user=bob).out
    other = run("import", "-", "--dry-run", user=f"cy and {ann}", typed=ours)
    assert other.out == f"dry run, nothing was stored (records): {would}\n"


def test_out_and_in_again(run: Run, http: httpx.Client, ann: str, tmp_path: Path) -> None:
    file, bob = tmp_path / "m.jsonl", f"bob and {ann}"
    done = run("export", file)
    assert done.out == f"3 memories written to {file}\n"
    assert done.err.splitlines()[-1] == "exporting: 3 of 3 memories"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text() == http.get(f"/v1/users/{ann}/export").text
    assert run("export", "-").out == file.read_text()
    assert "exists already" in run("export", file).err
    assert run("import", file, "--json", user=bob).json == {
        "imported": 3,
        "known": 0,
        "unreadable": [],
        "left_out": {},
        "formats": ["records"],
        "dry_run": False,
    }
    again = run("import", "-", user=bob, typed=file.read_text())
    assert again.out == "0 memories imported, 3 were there already\n"
    assert sessions(http, bob) == sessions(http, ann)
    assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]


def test_what_is_no_export_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    assert "cannot read" in run("import", file).err
    file.write_text("hello\n")
    done = run("import", file)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == f"assistant: cannot import {file}: this is not {ACCEPTED}: it seems to be plain text\n"
    )


def test_a_torn_line_is_named_by_its_place_in_the_file(
    run: Run, http: httpx.Client, ann: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, export = f"bob and {ann}", http.get(f"/v1/users/{ann}/export").text
    head, first, second, third, end = export.strip().split("\n")
    monkeypatch.setattr("assistant.cli.memory_calls._PIECE_BYTES", len(first.encode()) + 1)
    torn = run("import", "-", user=bob, typed=f"{head}\n\n{first}\n{second}\n{third[:50]}\n")
    assert "cannot import standard input: line 5 cannot be read: it is not JSON" in torn.err
    assert sessions(http, bob) == {}
    other = run("import", "-", user=bob, typed=f"{head}\n{first}\n{{}}\n{third}\n{end}")
    assert "line 3 cannot be read: the field 'checksum' is missing" in other.err
    assert sessions(http, bob) == {}


def test_what_was_imported_before_a_refusal_is_said(
    run: Run, http: httpx.Client, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = f"bob and {ann}"
    first, second, third = from_lines(http.get(f"/v1/users/{ann}/export").text.split("\n"))
    unnamed = replace(second, round=replace(second.round, session_id=".."))
    monkeypatch.setattr("assistant.cli.memory_calls._PIECE_BYTES", len(to_line(first).encode()) + 1)
    done = run("import", "-", user=bob, typed="\n".join(to_lines([first, unnamed, third])))
    assert done.code == 2
    assert "session_id must not be '..'" in done.err
    assert "1 memory before it: imported" in done.err
    assert [len(kept) for kept in sessions(http, bob).values()] == [1]


def test_an_export_that_was_cut_at_the_end_of_a_line_is_not_brought_in(
    run: Run, http: httpx.Client, ann: str
) -> None:
    bob, export = f"bob and {ann}", http.get(f"/v1/users/{ann}/export").text
    head, first, second, _, end = export.strip().split("\n")
    for cut, says in (
        ((head, first, second), "truncated after 2 records"),
        ((head, first, second, end), "the closing line says 3 records, but the file has 2"),
    ):
        torn = run("import", "-", user=bob, typed="\n".join(cut))
        assert torn.code == 2
        assert says in torn.err
    assert sessions(http, bob) == {}
    oldest = head.replace('"version":3', '"version":1')
    old = run("import", "-", user=bob, typed="\n".join((oldest, first, second)))
    assert old.out == "2 memories imported\n"


def test_what_is_not_utf_8_is_said(run: Run) -> None:
    done = run("search", "tea \udcff")
    assert (done.code, done.out) == (2, "")
    assert done.err == "assistant: what was given is not UTF-8 text\n"


def test_nothing_found_is_said_beside_the_lines(run: Run) -> None:
    for arguments in (("list", "--text", "zebra"), ("search", "tea", "--to", "2020-01-01")):
        done = run(*arguments)
        assert (done.code, done.out, done.err) == (0, "", "nothing found\n")
        assert run(*arguments, "--json").err == ""


def test_a_large_import_goes_in_pieces() -> None:
    assert list(packed(["ab", "cd", "e" * 9, "f"], 6)) == [["ab", "cd"], ["e" * 9], ["f"]]
    assert list(packed([], 6)) == [[]]


def test_an_export_that_an_editor_saved_is_read_without_its_mark(run: Run, ann: str) -> None:
    marked = f"\ufeff{run('export', '-').out}"
    assert run("import", "-", "--json", typed=marked).json["known"] == 3


@pytest.fixture
def letter(http: httpx.Client, ann: str) -> str:
    """The id of a memory in which Ann has a letter read that contradicts her."""
    record(http, ann, "home", "I live in Ghent.", timestamp="2023-03-02T09:00:00Z")
    pasted = "Please proofread my uncle's letter:\n\nI moved to Oslo last week."
    record(http, ann, "letter", pasted, timestamp="2023-05-02T09:00:00Z")
    (one,) = http.get("/v1/sessions/letter", params={"user_id": ann}).json()["data"]
    return str(one["id"])


def test_conflicts_are_listed_and_shown(run: Run, letter: str) -> None:
    fields = run("conflicts").out.split("\t")
    assert (fields[0], fields[1]) == (letter, "quoted")
    assert fields[-2:] == ["I moved to Oslo last week.", "I live in Ghent.\n"]
    assert run("conflicts", "--json").json["data"][0]["id"] == letter
    shown = run("show", letter).out
    assert "· I moved to Oslo last week. (24 April 2023 to 30 April 2023) [quoted]" in shown
    assert "contradicts: I live in Ghent. (said 2 March 2023)" in shown


@pytest.mark.parametrize(("option", "replaced"), [("--mine", True), ("--leave", False)])
def test_a_conflict_is_decided(
    run: Run, http: httpx.Client, ann: str, letter: str, option: str, replaced: bool
) -> None:
    assert run("conflicts", option, letter[:8]).code == 0
    assert run("conflicts", "--json").json["total"] == 0
    (home,) = http.get("/v1/sessions/home", params={"user_id": ann}).json()["data"]
    assert (home["facts"][0]["superseded_by"] is not None) is replaced
    again = run("conflicts", option, letter[:8])
    assert (again.code, "contradicts nothing" in again.err) == (2, True)


def test_facts_are_checked_and_settled(run: Run, http: httpx.Client, ann: str) -> None:
    record(http, ann, "home", "I live in Ghent.", timestamp="2021-03-02T09:00:00Z")
    finding, id, _, used, text = run("health", "--finding", "stale").out.strip().split("\t")
    assert (finding, used, text) == ("stale", "0", "I live in Ghent.")
    assert run("settle", id[:8], "--until", "2023-12-01", "--ask-on", "2023-11-01").code == 0
    shown = run("show", id).out
    assert "holds: until 1 December 2023" in shown
    assert "asked again on 1 November 2023" in shown
    assert run("settle", id, "--confirm", "--always").code == 0
    assert run("health", "--finding", "stale").err == "nothing found\n"
    assert run("health", "--json").json["counts"]["unused"] == 3
    assert "give --confirm" in run("settle", id).err
    assert "name one fact" in run("settle", id, "--fact", "cat", "--confirm").err


def test_reach(run: Run, http: httpx.Client, ann: str) -> None:
    assert "say which" in run("reach", "this_computer").err
    dry = run("reach", "this_computer", "--text", "tea", "--dry-run")
    assert (dry.code, dry.out) == (0, "1 memory found, 1 would change: this_computer\n")
    assert run("reach", "this_computer", "--text", "tea", "--json").json["changed"] == 1
    listed = http.get("/v1/memories", params={"user_id": ann}).json()["data"]
    reaches = {one["user_text"]: one["reach"] for one in listed}
    assert reaches["I like tea."] == "this_computer"
    assert reaches["I moved to Ghent."] == "anywhere"
    assert run("reach", "anywhere", "--where", "{").code == 2
    (id,) = [one["id"] for one in listed if one["user_text"] == "I like tea."]
    assert run("reach", "anywhere", "--id", id[:8]).out == "1 memory found, 1 changed: anywhere\n"


def test_expire(run: Run, http: httpx.Client, ann: str) -> None:
    assert run("expire", "--yes").out == "there is nothing to forget\n"
    record(http, ann, "u", "My code is 77.", labels={"topic": "codes"}, expires_in=60)
    dry = run("expire", "--dry-run").out
    assert dry == f"dry run, nothing was forgotten: 1 memory of {ann}\n"
    elsewhere = run("expire", "--where", '{"topic": "cats"}', "--older-than", 0, "--yes")
    assert elsewhere.out == "there is nothing to forget\n"
    assert run("expire").code == 2
    assert run("expire", "--where", "codes").code == 2
    assert run("expire", "--yes", "--json").json["rounds"] == 1
    assert rounds(http, ann, "u") == []
    assert run("expire", "--older-than", 1, "--yes").out == "2 memories forgotten\n"
