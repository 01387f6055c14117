"""A Chromium, and pages in it that may talk to their own server only and must not complain."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Watched, a_chromium


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    """The browser that all tests of this folder use."""
    with a_chromium() as browser:
        yield browser


OpenPage = Callable[..., Any]


@pytest.fixture
def open_page(chromium: Any, ann: str, tmp_path: Path) -> Iterator[OpenPage]:
    """Opens the page of a server as `ann`. `complains` is for tests that bring about failures."""
    opened: list[tuple[Watched, str, bool]] = []

    def open_it(url: str, path: str = "/", *, complains: bool = False, **how: Any) -> Any:
        context = chromium.new_context(**how)
        context.set_default_timeout(20_000)
        page = context.new_page()
        opened.append((Watched(page), url, complains))
        page.add_init_script(
            f"localStorage['aide-memoire.user'] ??= {ann!r}"  # as the settings keep it
        )
        page.goto(f"{url}{path}")
        return page

    yield open_it
    for watched, url, complains in opened:
        watched.page.context.close()
        assert complains or not watched.complaints
        assert watched.asked
        ours = (f"{url}/", f"blob:{url}/")
        assert [address for address in watched.asked if not address.startswith(ours)] == []
