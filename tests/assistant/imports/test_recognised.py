"""What a file that is brought in seems to be."""

import gzip

import httpx
import pytest
from calls import assert_error, sessions

from assistant.errors import InvalidRequest
from assistant.imports.recognised import ACCEPTED, Export, recognised

HEADER = b'{"format": "aide-memoire/records", "version": 1}'


@pytest.mark.parametrize(
    ("content", "export"),
    [
        (HEADER, Export.RECORDS),
        (b"\n " + HEADER + b"\n{}\n", Export.RECORDS),
        (b'{"version":3,"format":"aide-memoire/records"}\n', Export.RECORDS),
        (b"PK\x03\x04 and so on", Export.OTHERS),
        (b" \n[{}]", Export.OTHERS),
        (b"\xef\xbb\xbf[{}]", Export.OTHERS),
        (b"\xef\xbb\xbf" + HEADER, Export.RECORDS),
        (b'{"conversations": []}', Export.OTHERS),
        (b'<div class="outer-cell mdl-cell">', Export.OTHERS),
        (b"## User\nI row.\n## Assistant\nWell!\n", Export.OTHERS),
    ],
)
def test_what_is_known(content: bytes, export: Export) -> None:
    assert recognised(content) is export


@pytest.mark.parametrize(
    ("content", "seems"),
    [
        (b"", "empty"),
        (gzip.compress(HEADER, mtime=0), "packed with gzip"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"SQLite format 3\x00", "a SQLite database"),
        ("words".encode("utf-16"), "UTF-16"),
        (b"<!DOCTYPE html><title>My chats</title>", "a web page"),
        (b"<?xml version='1.0'?>", "XML"),
        (b"\x89PNG\r\x00\x00", "no text"),
        (b"date,text\n2023-05-20,I like tea\n", "a table (CSV)"),
        (b"I like tea, and rye.\nI do.\n", "plain text"),
        (b"hello", "plain text"),
    ],
)
def test_what_is_not_says_what_it_seems_to_be(content: bytes, seems: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        recognised(content)
    assert ACCEPTED in refused.value.message
    assert seems in refused.value.message


@pytest.mark.parametrize(
    ("content", "format", "says"),
    [
        (b"date,text\n2023-05-20,tea\n", "records", "it seems to be a table (CSV)"),
        (b"[]", "records", "format=auto"),
        (b'[{"chat_messages": []}]', "auto", "entry 1 cannot be read: it has no uuid"),
        (b'[{"id": "1", "pages": []}]', "chatgpt", "it has id, pages"),
    ],
)
def test_over_http(http: httpx.Client, ann: str, content: bytes, format: str, says: str) -> None:
    path = f"/v1/users/{ann}/import"
    refused = http.post(path, params={"format": format}, content=content)
    error = assert_error(refused, 400, "invalid_request_error", "invalid_value")
    assert says in error["message"]
    assert sessions(http, ann) == {}
