"""Published files: fetched, continued, checked, and what is said when that is not possible."""

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harness.datasets.benchmark import KnownFile
from harness.datasets.download import download, files_of, find_known
from harness.datasets.registry import KNOWN_FILES, KNOWN_FOLDERS, edition_of
from harness.errors import DownloadFailed, NotPublished, UsageError

CONTENT = b"[" + b"0123456789" * 1000 + b"]"
HASH = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Hub:
    """A file server that can break off, honours ranges and may announce a hash."""

    url: str = ""
    content: bytes = CONTENT
    announced: str | None = None
    status: int = 200
    break_after: int | None = None
    lacks: str = "nothing"
    asked: list[str | None] = field(default_factory=list)


@pytest.fixture
def hub() -> Iterator[Hub]:
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._head(state.status, len(state.content))

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.asked.append(asked)
            if self.path.endswith(state.lacks):
                self._head(404, 0)
                return
            begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            if begin >= len(state.content):
                self._head(416, 0)
                return
            body = state.content[begin:]
            self._head(206 if begin else state.status, len(body))
            self.wfile.write(body[: state.break_after])

        def _head(self, status: int, length: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            if state.announced:
                self.send_header("X-Linked-Etag", f'"{state.announced}"')
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    server.server_close()


def known(sha256: str | None = HASH) -> KnownFile:
    return KnownFile("x", "locomo", "test", "x.json", "https://example.org/a/x", "MIT", sha256)


def silent(_here: int, _total: int | None) -> None:
    """Nobody watches."""


def fetch(hub: Hub, folder: Path, sha256: str | None = HASH) -> Any:
    return download(known(sha256), folder, mirror=hub.url, progress=silent)


def test_a_file_is_fetched_checked_and_then_only_checked(hub: Hub, tmp_path: Path) -> None:
    done = fetch(hub, tmp_path / "new")
    assert (done.sha256, done.is_verified) == (HASH, True)
    assert done.path.read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["x.json"]
    fetch(hub, tmp_path / "new")
    assert len(hub.asked) == 1


def test_what_broke_off_is_continued(hub: Hub, tmp_path: Path) -> None:
    hub.break_after = 4000
    with pytest.raises(DownloadFailed, match="run this again"):
        fetch(hub, tmp_path)
    hub.break_after = None
    assert fetch(hub, tmp_path).path.read_bytes() == CONTENT
    assert hub.asked == [None, "bytes=4000-"]


def test_a_partial_file_that_is_whole_needs_no_more(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / ".x.json.partial").write_bytes(CONTENT)
    assert fetch(hub, tmp_path).is_verified


def test_other_bytes_are_refused_and_not_kept(hub: Hub, tmp_path: Path) -> None:
    hub.content = b"[1]"
    with pytest.raises(DownloadFailed, match=r"what arrived has SHA-256 .* published file has"):
        fetch(hub, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_and_another_one_is_kept_and_named(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"[2]")
    with pytest.raises(DownloadFailed, match=r"x\.json has SHA-256"):
        fetch(hub, tmp_path)
    assert (tmp_path / "x.json").read_bytes() == b"[2]"


def test_without_a_known_hash_the_announced_one_counts(hub: Hub, tmp_path: Path) -> None:
    assert not fetch(hub, tmp_path / "a", None).is_verified
    hub.announced = HASH
    assert fetch(hub, tmp_path / "b", None).is_verified
    hub.announced = "0" * 64
    with pytest.raises(DownloadFailed):
        fetch(hub, tmp_path / "c", None)


def test_no_network_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match=r"cannot be reached .* save it as .*x\.json"):
        download(known(), tmp_path, mirror="http://127.0.0.1:9", progress=silent)


def test_a_refusal_is_told_with_its_status(hub: Hub, tmp_path: Path) -> None:
    hub.status = 403
    with pytest.raises(DownloadFailed, match="answers 403: fetch"):
        fetch(hub, tmp_path)


def test_names_are_checked_and_hashes_tell_editions() -> None:
    with pytest.raises(UsageError, match="expected one of longmemeval-oracle"):
        find_known("longmemeval")
    keys = [item.key for item in KNOWN_FILES]
    assert len(set(keys)) == len(keys)
    cleaned, original = find_known("longmemeval-s"), find_known("longmemeval-s-original")
    assert edition_of(cleaned.sha256 or "") == "S, cleaned"
    assert edition_of(original.sha256 or "") == "S, original"
    assert edition_of("0" * 64) is None
    assert all(len(item.sha256) == 64 for item in KNOWN_FILES if item.sha256)


def test_a_folder_is_all_of_its_files() -> None:
    assert files_of("locomo") == [find_known("locomo")]
    assert {folder.key: len(folder.files) for folder in KNOWN_FOLDERS} == {
        "beam-100k": 60,
        "beam-500k": 105,
        "beam-1m": 105,
        "beam-10m": 30,
    }
    with pytest.raises(UsageError, match="beam-10m"):
        files_of("beam")


def test_a_folder_is_fetched_without_what_need_not_be_there(
    harness: Any, hub: Hub, tmp_path: Path
) -> None:
    hub.lacks = "chat_trunecated.json"
    ended = harness("download", "beam-10m", "--out", tmp_path, "--mirror", hub.url)
    assert ended.code == 0, ended.err
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json"))
    assert len(found) == len(ended.out.splitlines()) == 20
    assert found[:2] == [
        "beam/10M/1/chat.json",
        "beam/10M/1/probing_questions/probing_questions.json",
    ]
    hub.lacks = "2/chat.json"
    with pytest.raises(NotPublished, match="answers 404"):
        download(files_of("beam-100k")[3], tmp_path, mirror=hub.url, progress=silent)
    assert harness("download", "beam-100k", "--out", tmp_path, "--mirror", hub.url).code == 2


def test_the_command_lists_and_fetches(harness: Any, hub: Hub, tmp_path: Path) -> None:
    listed = harness("download")
    assert (listed.code, "locomo10.json" in listed.out) == (0, True)
    ended = harness("download", "locomo", "--out", tmp_path, "--mirror", hub.url)
    assert ended.code == 2
    assert "not for commercial use" in ended.err
    assert "what arrived has SHA-256" in ended.err
    assert harness("download", "nonsense").code == 2
    assert harness("download", "locomo", "--mirror", "ftp://x", "--out", tmp_path).code == 2
