"""Narrow, dark, without a mouse, with a screen reader: the page is for everybody."""

import re
from collections.abc import Callable

import httpx
import pytest
from calls import record
from web_page import NARROW, Page, answered, cards, say, serious_findings, tab_to, tell

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]


def test_a_narrow_screen(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    record(http, ann, "s4", "x" * 400, timestamp="2023-06-02T10:00:00Z")
    page = open_page(quoting_url, viewport=NARROW)
    expect(page.locator("#side")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    page.locator("#sessions a").first.click()
    expect(page.locator("#side")).to_be_hidden()
    expect(page.locator(".message.user")).to_have_count(1)
    say(page, "Where do I live?")
    answered(page)
    fits(page)
    page.get_by_role("button", name="Why this answer?").click()
    fits(page)
    page.keyboard.press("Escape")
    page.goto(f"{quoting_url}/#/memories")
    expect(cards(page)).to_have_count(4)  # the question is none
    page.get_by_role("button", name="History").first.click()
    fits(page)


def fits(page: Page) -> None:
    for what in ("document.documentElement", "document.querySelector('#main')"):
        assert page.evaluate(f"{what}.scrollWidth") <= NARROW["width"]


def test_dark_and_light(quoting_url: str, open_page: OpenPage) -> None:
    def ground(page: Page) -> int:
        colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    dark = open_page(quoting_url, color_scheme="dark")
    assert ground(dark) < 150
    light = open_page(quoting_url, color_scheme="light")
    assert ground(light) > 600
    light.get_by_role("button", name="Settings").click()
    light.get_by_label("Appearance").select_option("dark")
    light.get_by_role("button", name="Save").click()
    light.reload()
    assert ground(light) < 150


def test_nothing_moves_for_those_who_ask_for_that(quoting_url: str, open_page: OpenPage) -> None:
    page = open_page(quoting_url, viewport=NARROW, reduced_motion="reduce")
    moving = """() => [...document.querySelectorAll("*")].filter((one) => {
      const style = getComputedStyle(one);
      return style.animationName !== "none" || style.transitionProperty !== "none"; }).length"""
    page.get_by_role("button", name="Menu").click()
    assert page.evaluate(moving) == 0


def test_with_the_keyboard_alone(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url)
    expect(page.locator("#sessions a")).to_have_count(3)
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.keyboard.type("Where do I live?")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Now.")
    page.keyboard.press("Enter")
    answered(page)
    expect(page.locator(".message.user .text")).to_have_text("Where do I live?\nNow.")
    tab_to(page, "Why this answer?", back=True)
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#why")).to_be_visible()
    page.keyboard.press("Escape")
    tab_to(page, "Memory", back=True)
    page.keyboard.press("Enter")
    expect(cards(page)).to_have_count(4)
    tab_to(page, "Forget")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(cards(page)).to_have_count(3)


def test_shortcuts(quoting_url: str, open_page: OpenPage) -> None:
    page = open_page(quoting_url)
    say(page, "Where do I live?")
    answered(page)
    page.keyboard.press("Alt+w")
    expect(page.locator("#why")).to_be_visible()
    page.keyboard.press("Alt+m")
    expect(page.locator("#memories")).to_be_visible()
    page.keyboard.press("Alt+n")
    expect(page.get_by_text("What shall I remember?")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.get_by_role("button", name="Keyboard").click()
    expect(page.locator("#shortcuts")).to_contain_text("new chat")


def show_chat(page: Page) -> None:
    page.get_by_label("Do not remember this").check()
    say(page, "Where did I live last week?")
    answered(page)


def show_kept(page: Page) -> None:
    say(page, "I moved to Bruges on 4 March 2023.")
    page.get_by_role("button", name="Undo").wait_for()
    say(page, "I moved to Lyon on 5 March 2023.")
    answered(page)
    page.get_by_role("button", name="Undo").first.click()
    page.get_by_text("Removed", exact=True).wait_for()


def show_why(page: Page) -> None:
    show_chat(page)
    page.get_by_role("button", name="Why this answer?").click()
    page.locator("#why summary").last.click()


def show_memory(page: Page) -> None:
    page.get_by_role("link", name="Memory").click()
    cards(page).first.get_by_role("button", name="History").click()
    page.locator(".history").wait_for()


def show_correction(page: Page) -> None:
    show_memory(page)
    cards(page).first.get_by_role("button", name="Correct").click()


def show_forgetting(page: Page) -> None:
    show_memory(page)
    cards(page).first.get_by_role("button", name="Forget").click()
    page.locator("#confirm[open]").wait_for()


def show_settings(page: Page) -> None:
    page.get_by_role("button", name="Settings").click()


def show_sign_in(page: Page) -> None:
    page.evaluate("document.getElementById('sign-in').showModal()")


VIEWS: list[Callable[[Page], None]] = [
    show_chat,
    show_why,
    show_memory,
    show_correction,
    show_forgetting,
    show_settings,
    show_sign_in,
    show_kept,
]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_view_has_a_serious_finding(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, colours: str
) -> None:
    tell(http, ann)
    for show in VIEWS:
        page = open_page(quoting_url, color_scheme=colours)
        expect(page.locator("#sessions a")).to_have_count(3)
        show(page)
        assert serious_findings(page) == [], show.__name__


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_neither_has_a_narrow_one_nor_what_was_just_done(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, colours: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories", color_scheme=colours, viewport=NARROW)
    expect(cards(page)).to_have_count(3)
    fits(page)
    for finding in ("stale", "contradictory", "replaced", "duplicate", "unused", "used"):
        page.get_by_label("Health").select_option(finding)
        page.wait_for_load_state("networkidle")
        if finding == "unused":
            cards(page).first.get_by_text("Until when?").click()
        fits(page)
        assert serious_findings(page) == [], finding
    page.get_by_label("Health").select_option("")
    cards(page).last.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Forget 1 memory").click()
    page.get_by_role("button", name="Save the receipt").wait_for()
    assert serious_findings(page) == []
