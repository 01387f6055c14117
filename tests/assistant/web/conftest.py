"""Pages in a Chromium that may talk to their own server only and must not complain."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser import Watched

_MILLISECONDS = 20_000


OpenPage = Callable[..., Any]


@pytest.fixture
def open_page(chromium: Any, ann: str) -> Iterator[OpenPage]:
    """Opens the page of a server as `ann`. `complaints` is a pattern of what the console may say,
    for tests that bring about failures."""
    opened: list[tuple[Watched, str, str | None]] = []

    def open_it(url: str, path: str = "/", *, complaints: str | None = None, **how: Any) -> Any:
        context = chromium.new_context(**how)
        context.set_default_timeout(_MILLISECONDS)
        page = context.new_page()
        opened.append((Watched(page), url, complaints))
        page.add_init_script(
            f"localStorage['aide-memoire.user'] ??= {ann!r}"  # as the settings keep it
        )
        page.goto(f"{url}{path}")
        return page

    yield open_it
    for watched, url, complaints in opened:
        watched.page.context.close()
        _check(watched, url, complaints)


def _check(watched: Watched, url: str, expected: str | None) -> None:
    """Fails where a page complained of anything else than expected, or left its origin."""
    heard = watched.complaints
    assert [one for one in heard if not (expected and re.search(expected, one))] == []
    assert watched.asked
    ours = (f"{url}/", f"blob:{url}/")
    assert [address for address in watched.asked if not address.startswith(ours)] == []
