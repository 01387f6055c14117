"""Data files of every kind, and files that are not what they say."""

import gzip
import json
import lzma
from pathlib import Path

import pytest

from harness.datasets.files import read_records, sha256_of
from harness.errors import DatasetError

RECORDS = [{"a": 1}, {"b": "ü, ]"}]
ARRAY = json.dumps(RECORDS).encode()
LINES = "\n".join(json.dumps(record) for record in RECORDS).encode() + b"\n\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.json", ARRAY),
        ("x.json", b"\xef\xbb\xbf" + ARRAY),
        ("x.jsonl", LINES),
        ("x.json", LINES),
        ("x.jsonl", ARRAY),
        ("x.json.gz", gzip.compress(ARRAY, mtime=0)),
        ("x.json.xz", lzma.compress(ARRAY)),
        ("x.jsonl.xz", lzma.compress(LINES)),
    ],
)
def test_every_kind_of_file_gives_the_same_records(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert list(read_records(path)) == RECORDS


def test_a_file_larger_than_one_chunk_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.datasets.files._CHUNK", 7)
    path = tmp_path / "x.json"
    path.write_bytes(ARRAY)
    assert list(read_records(path)) == RECORDS


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("x.json.xz", ARRAY, "by its content not compressed"),
        ("x.json.gz", lzma.compress(ARRAY), "by its content xz-compressed"),
        ("x.json", gzip.compress(ARRAY, mtime=0), "by its content gzip-compressed"),
        ("x.json.xz", lzma.compress(ARRAY)[:-20], "damaged or cut-off"),
        ("x.json.gz", gzip.compress(ARRAY, mtime=0)[:-20], "damaged or cut-off"),
        ("x.csv", b"a,b", "unknown kind of file"),
        ("x.json", b"", "empty"),
        ("x.json", b"question;answer", "not JSON at record 0"),
        ("x.json", ARRAY[:-3], "not JSON at record 1"),
        ("x.json", b"[" * 100_000, "record 0 is nested too deeply"),
        ("x.json", b'[{"a": 1}', "the list is not closed"),
        ("x.json", b"[1, 2]", "record 0 is a int"),
        ("x.json", b'"text"', "record 0 is a str"),
        ("x.json", b'[{"a": "\xff"}]', "not UTF-8"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_named(
    tmp_path: Path, name: str, content: bytes, complaint: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=complaint) as error:
        list(read_records(path))
    assert str(path) in str(error.value)


def test_a_missing_file_is_a_dataset_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="No such file"):
        list(read_records(tmp_path / "x.json"))
    with pytest.raises(DatasetError, match="No such file"):
        sha256_of(tmp_path / "x.json")
