"""The one reading of hosts: plain forms, and nothing else."""

from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.access.doorkeeper import Host, origin_host, parse_host, requested_host


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("localhost", Host("localhost")),
        ("LocalHost:8080", Host("localhost", 8080)),
        ("127.0.0.1:1", Host("127.0.0.1", 1)),
        ("[::1]", Host("::1")),
        ("[0:0::0:1]:65535", Host("::1", 65535)),
        ("my_service.internal:80", Host("my_service.internal", 80)),
        ("xn--bcher-kva.example", Host("xn--bcher-kva.example")),
    ],
)
def test_plain_hosts(text: str, host: Host) -> None:
    assert parse_host(text) == host


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        " localhost",
        "localhost ",
        "localhost\n",
        "localhost.",
        ".localhost",
        "a..b",
        "localhost:",
        "localhost:80:90",
        "localhost:-1",
        "localhost:+1",
        "localhost:65536",
        "localhost:808080",
        "localhost:８０",
        "ｌocalhost",
        "a@127.0.0.1",
        "127.0.0.1@evil.example",
        "127.0.0.1,evil.example",
        "127.0.0.1/evil",
        "127.0.0.1?evil",
        "127.0.0.1#evil",
        "127.0.0.1\\evil",
        "127.0.0.1%2eevil",
        "127.0.0.1\0",
        "::1",
        "[::1",
        "::1]",
        "[[::1]]",
        "[127.0.0.1]",
        "[localhost]",
        "[::1%25lo]",
        "[1:2]",
        "x" * 254,
    ],
)
def test_what_names_nobody(text: str) -> None:
    assert parse_host(text) is None


@settings(deadline=None, derandomize=True)
@given(st.text(st.sampled_from("localhst127.0:[]@%/1 ,"), max_size=24) | st.text(max_size=24))
def test_only_this_machine_is_this_machine(text: str) -> None:
    host = parse_host(text)
    if host is not None and host.is_loopback:
        assert host.name == "localhost" or ip_address(host.name).is_loopback
        assert text.lower().strip("[]").startswith((host.name, "127.", "0", ":"))


@pytest.mark.parametrize(
    ("headers", "host"),
    [
        ([(b"host", b"localhost:8")], Host("localhost", 8)),
        ([(b"Host", b"localhost")], Host("localhost")),
        ([], None),
        ([(b"host", b"")], None),
        ([(b"host", b"localhost"), (b"host", b"localhost")], None),
        ([(b"host", b"localhost"), (b"HOST", b"evil.example")], None),
        ([(b"host", b"localh\xf6st")], None),
    ],
)
def test_the_host_of_a_request(headers: list[tuple[bytes, bytes]], host: Host | None) -> None:
    assert requested_host(headers) == host


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8080", Host("localhost", 8080)),
        ("https://[::1]", Host("::1")),
        ("null", None),
        ("", None),
        ("localhost", None),
        ("file://", None),
        ("ftp://localhost", None),
        ("http://localhost/", None),
        ("http://a@localhost", None),
    ],
)
def test_the_host_of_an_origin(origin: str, host: Host | None) -> None:
    assert origin_host(origin) == host
