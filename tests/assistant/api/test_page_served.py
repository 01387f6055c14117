"""The web page as it is served: whole, from the package, and bound to its own origin."""

import re

import httpx
import pytest
from calls import assert_error

from assistant.api.browsers import FILES

NAMES = sorted(str(path.relative_to(FILES)) for path in FILES.rglob("*.*"))


def test_the_page(http: httpx.Client) -> None:
    reply = http.get("/")
    assert reply.headers["content-type"].startswith("text/html")
    assert "<title>Aide-mémoire</title>" in reply.text
    named = re.findall(r'(?:src|href)="(/[^"]+)"', reply.text)
    assert named
    for path in named:
        assert http.get(path).status_code == 200, path


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_served_under_the_policy(http: httpx.Client, name: str) -> None:
    reply = http.get(f"/web/{name}")
    assert reply.content == (FILES / name).read_bytes()
    assert reply.headers["content-security-policy"].startswith("default-src 'self'")
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_named_that_lies_elsewhere(name: str) -> None:
    text = (FILES / name).read_text()
    # Names of XML are no addresses to fetch.
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}
    assert "innerHTML" not in text


@pytest.mark.parametrize("path", ["/web/nothing.js", "/web/../settings.py", "/web/%2e%2e/app.py"])
def test_nothing_else_is_served(http: httpx.Client, path: str) -> None:
    assert_error(http.get(path), 404, "not_found_error", "route_not_found")
