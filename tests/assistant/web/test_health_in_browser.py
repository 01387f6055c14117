"""The health of memory in a browser: what may be wrong, and one click to put it right."""

from collections.abc import Callable

import httpx
import pytest
from calls import record
from web_page import NARROW, Page, cards

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
HOME = "I work from home until 20 June 2023."


@pytest.fixture
def told(http: httpx.Client, ann: str) -> str:
    for session, text, day in (
        ("ghent", "I live in Ghent.", "2021-03-02"),
        ("acme", "I work at Acme.", "2021-03-03"),
        ("tea", "I drink green tea in the morning.", "2022-03-02"),
        ("again", "I drink green tea in the morning!", "2022-03-05"),
        ("home", HOME, "2023-06-01"),
    ):
        record(http, ann, session, text, "Noted.", timestamp=f"{day}T10:00:00Z")
    return ann


def test_an_old_fact_is_confirmed_and_another_one_gets_a_condition(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, told: str
) -> None:
    page = open_page(quoting_url, "/#/memories")
    page.get_by_label("Health").select_option("stale")
    expect(cards(page)).to_have_count(2)
    expect(page.locator("#total")).to_have_text("2 facts")
    ghent = cards(page).filter(has_text="Ghent")
    ghent.get_by_role("button", name="Still true").click()
    expect(cards(page)).to_have_count(1)
    expect(page.locator("#notice")).to_contain_text("Confirmed")
    acme = cards(page).first
    acme.get_by_text("Until when?").click()
    acme.get_by_label("Or while").fill("I live in Ghent")
    acme.get_by_label("Ask me again on").fill("2024-01-02")
    acme.get_by_role("button", name="Set").click()
    expect(page.locator("#notice")).to_contain_text("Kept up to when it holds")
    params = {"user_id": told, "session_id": "acme"}
    (memory,) = http.get("/v1/memories", params=params).json()["data"]
    (fact,) = memory["facts"]
    assert (fact["condition"]["text"], fact["ask_on"]) == ("while I live in Ghent", "2024-01-02")
    page.get_by_label("Health").select_option("expiring")
    expect(cards(page)).to_have_count(2)
    expect(cards(page).filter(has_text="Acme")).to_contain_text("Asked again on")


def test_each_finding_leads_to_what_puts_it_right(
    quoting_url: str, open_page: OpenPage, told: str
) -> None:
    page = open_page(quoting_url, "/#/memories")
    page.get_by_label("Health").select_option("duplicate")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("You said this again later")
    cards(page).get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Forget 1 memory").click()
    expect(page.locator("#list")).to_contain_text("Nothing of that kind")
    page.get_by_label("Health").select_option("expiring")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("Holds until 20 June 2023")
    cards(page).get_by_role("button", name="Correct").click()
    page.get_by_label("You said").fill("I work from home.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#list")).to_contain_text("Nothing of that kind")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_it_fits_a_phone(quoting_url: str, open_page: OpenPage, told: str, colours: str) -> None:
    page = open_page(quoting_url, "/#/memories", viewport=NARROW, color_scheme=colours)
    page.get_by_label("Health").select_option("stale")
    expect(cards(page)).to_have_count(2)
    cards(page).first.get_by_text("Until when?").click()
    wide = page.evaluate("document.querySelector('#memories').scrollWidth")
    assert wide <= NARROW["width"]
