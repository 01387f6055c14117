"""What a person does with the web page, and sees of it."""

from typing import Any

import httpx
import pytest
from calls import record

Page = Any

NARROW = {"width": 360, "height": 740}
NASTY = "<img src=x onerror=alert(1)> & <b>bold</b>"


def say(page: Page, text: str) -> None:
    """Send a message."""
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def answered(page: Page) -> Any:
    """The latest answer, once nothing is being answered."""
    page.locator(".coming").wait_for(state="detached")
    return page.locator(".message.assistant .text").last


def asked(page: Page, text: str) -> Any:
    """The answer to a question of a new conversation that is not remembered."""
    page.get_by_role("button", name="New chat").first.click()
    page.get_by_label("Do not remember this").check()
    say(page, text)
    return answered(page)


def serious_findings(page: Page) -> list[tuple[str, Any]]:
    """What axe finds wrong with what is in view, as far as it keeps anybody out."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install -e '.[browser]'"
    ).Axe()
    return [
        (finding["id"], [node["html"] for node in finding["nodes"]])
        for finding in axe.run(page).response["violations"]
        if finding["impact"] in ("serious", "critical")
    ]


def cards(page: Page) -> Any:
    """The rounds that the memory browser shows."""
    return page.locator("#list .card")


def tell(http: httpx.Client, user_id: str) -> None:
    """Three rounds on three days, of which the last replaces something."""
    record(http, user_id, "s1", "I live in Ghent.", "Nice.", timestamp="2023-03-02T10:00:00Z")
    record(http, user_id, "s2", "My cat is Tom.", NASTY, timestamp="2023-05-14T10:00:00Z")
    record(http, user_id, "s3", "I live in Oslo now.", "Oh!", timestamp="2023-06-01T10:00:00Z")


def tab_to(page: Page, name: str, *, back: bool = False) -> None:
    """Press Tab until the control of this name has the focus."""
    for _ in range(80):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            return
    raise AssertionError(f"no Tab leads to {name!r}")
