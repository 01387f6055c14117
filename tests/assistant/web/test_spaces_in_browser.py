"""Shared spaces on the page: made, spoken in, seen by whom each round was said, and left."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import record
from web_page import NARROW, Page, answered, cards, say, serious_findings, tab_to

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]


@pytest.fixture
def ben(http: httpx.Client, ann: str) -> Iterator[str]:
    name = f"ben beside {ann}"
    yield name
    for person in (name, ann):
        http.delete(f"/v1/users/{person}/memories")


def members(http: httpx.Client, person: str, space: str) -> Sequence[tuple[str, str]]:
    reply = http.get(f"/v1/spaces/{space}", params={"user_id": person})
    assert reply.status_code == 200, reply.text
    return [(one["user_id"], one["role"]) for one in reply.json()["members"]]


def spaces(http: httpx.Client, person: str) -> list[Any]:
    found = http.get("/v1/spaces", params={"user_id": person}).json()["data"]
    return [one for one in found if "role" in one]


def begun(http: httpx.Client, owner: str, *more: tuple[str, str]) -> str:
    """A space with members, each of whom said something."""
    made = http.post("/v1/spaces", json={"user_id": owner, "name": "Our household"}).json()
    space = str(made["space"])
    for person, role in more:
        body = {"user_id": owner, "role": role}
        assert http.put(f"/v1/spaces/{space}/members/{person}", json=body).status_code == 200
    for person in (owner, *(person for person, role in more if role != "reader")):
        said = f"The boiler of {person.split()[0]} has the number 77."
        record(http, person, f"of {person}", said, "Noted.", space=space)
    return space


def fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def kept_picture(page: Page, name: str) -> None:
    """For whoever wants to look: the folder is named by the environment."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_a_space_is_begun_shared_handed_on_and_left(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, ben: str
) -> None:
    page = open_page(quoting_url)
    page.get_by_role("link", name="Shared spaces").click()
    expect(page.locator("#space-list")).to_have_text("You are in no shared space yet.")
    page.get_by_label("Name", exact=True).fill("Our household")
    page.keyboard.press("Enter")
    card = page.locator("#space-list .card")
    expect(card.locator("h2")).to_have_text("Our household")
    (made,) = spaces(http, ann)
    space = made["space"]
    card.get_by_label("User").fill(ben)
    card.get_by_label("Role", exact=True).select_option("reader")
    card.get_by_role("button", name="Add").click()
    expect(card.locator(".members li")).to_have_count(2)
    assert members(http, ann, space) == [(ann, "owner"), (ben, "reader")]
    card.get_by_label(f"Role of {ben}").select_option("owner")
    expect(page.locator("#notice")).to_have_text(f"{ben}: owner")
    assert members(http, ann, space) == [(ann, "owner"), (ben, "owner")]
    card.get_by_role("button", name="Leave", exact=True).click()
    expect(page.locator("#confirm")).to_contain_text("What you said stays there")
    page.keyboard.press("Enter")  # the focus is on Cancel
    assert len(members(http, ann, space)) == 2
    card.get_by_role("button", name="Leave", exact=True).click()
    page.locator("#confirm").get_by_role("button", name="Leave").click()
    expect(page.locator("#space-list")).to_have_text("You are in no shared space yet.")
    assert members(http, ben, space) == [(ben, "owner")]


def test_one_sees_where_one_speaks_and_who_said_what(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, ben: str
) -> None:
    space = begun(http, ann, (ben, "member"))
    page = open_page(quoting_url)
    place = page.get_by_role("combobox", name="Which memory")
    expect(place).to_have_value("")
    say(page, "My own safe is green.")
    answered(page)
    place.select_option("Our household")
    expect(page.locator("#space-note")).to_contain_text("In “Our household”")
    expect(page.locator("#sessions a")).to_have_count(2)
    say(page, "What is the number of the boiler?")
    expect(answered(page)).to_contain_text(f"{ben} said")
    expect(answered(page)).not_to_contain_text("safe")
    # Another's conversation is read, and gone on with by who began it.
    page.locator("#sessions a", has_text="boiler of ben").click()
    expect(page.locator(".message.user > b")).to_have_text(ben)
    expect(page.locator("#others-note")).to_contain_text(f"{ben} began this conversation")
    expect(page.get_by_label("Message", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Correct").wait_for(state="detached")
    page.get_by_role("link", name="Memory").click()
    expect(page.locator("h1", has_text="Memory")).to_contain_text("Our household")
    expect(cards(page)).to_have_count(2)
    theirs = cards(page).filter(has_text="boiler of ben")
    expect(theirs.locator("b").first).to_have_text(ben)
    expect(theirs.get_by_role("button", name="Correct")).to_have_count(0)
    expect(theirs.get_by_role("button", name="Forget")).to_have_count(1)
    expect(page.get_by_role("button", name="Import")).to_be_hidden()
    page.reload()
    expect(cards(page)).to_have_count(2)
    place.select_option("My own memory")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("My own safe is green.")
    assert http.get(f"/v1/spaces/{space}", params={"user_id": ann}).json()["rounds"] == 3


def test_who_only_reads_keeps_nothing(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, ben: str
) -> None:
    space = begun(http, ben, (ann, "reader"))
    page = open_page(quoting_url)
    page.get_by_role("combobox", name="Which memory").select_option("Our household")
    expect(page.locator("#space-note")).to_contain_text("what you ask is not remembered")
    say(page, "What number does the boiler have?")
    expect(answered(page)).to_contain_text(f"{ben} said")
    page.get_by_role("link", name="Memory").click()
    expect(cards(page)).to_have_count(1)
    expect(cards(page).get_by_role("button", name="Forget")).to_have_count(0)
    page.get_by_role("link", name="Shared spaces").click()
    expect(page.locator("#space-list .card .tag")).to_have_text(["reader", "owner"])
    expect(page.locator("#space-list").get_by_role("button", name="Remove")).to_have_count(0)
    assert http.get(f"/v1/spaces/{space}", params={"user_id": ben}).json()["rounds"] == 1


def test_who_was_removed_is_in_their_own_memory(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, ben: str
) -> None:
    space = begun(http, ben, (ann, "member"))
    page = open_page(quoting_url, complaints="404")
    place = page.get_by_role("combobox", name="Which memory")
    place.select_option("Our household")
    gone = http.delete(f"/v1/spaces/{space}/members/{ann}", params={"user_id": ben})
    assert gone.status_code == 200
    page.get_by_role("link", name="Memory").click()
    expect(page.locator("#notice")).to_contain_text("You are not in this space, or no longer.")
    expect(place).to_be_hidden()
    expect(page.locator("h1", has_text="Memory")).not_to_contain_text("household")


def test_with_the_keyboard_alone(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, ben: str
) -> None:
    space = begun(http, ann, (ben, "member"))
    page = open_page(quoting_url, "/#/spaces")
    expect(page.locator("#space-list .card")).to_have_count(1)
    tab_to(page, "Remove")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_have_text(f"{ben} is no longer a member.")
    assert members(http, ann, space) == [(ann, "owner")]
    tab_to(page, "End this space")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("The space is gone")
    assert spaces(http, ann) == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_it_is_for_everybody(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, ben: str, colours: str
) -> None:
    begun(http, ann, (ben, "member"))
    for width in (NARROW, {"width": 1200, "height": 800}):
        name = f"{colours}-{width['width']}"
        page = open_page(quoting_url, "/#/spaces", color_scheme=colours, viewport=width)
        expect(page.locator(".members li")).to_have_count(2)
        fits(page)
        assert serious_findings(page) == []
        kept_picture(page, f"spaces-{name}")
        page.get_by_role("button", name="Speak here").click()
        expect(page.locator("#space-note")).not_to_be_empty()
        say(page, "What is the number of the boiler?")
        answered(page)
        fits(page)
        assert serious_findings(page) == []
        kept_picture(page, f"chat-{name}")
        page.goto(re.sub("#.*", "", page.url) + "#/memories")
        expect(cards(page)).to_have_count(2)
        fits(page)
        assert serious_findings(page) == []
        kept_picture(page, f"memory-{name}")
        page.evaluate("document.querySelector('#menu').click()")
        page.locator("#sessions a", has_text="boiler of ben").click()
        expect(page.locator("#others-note")).not_to_be_empty()
        fits(page)
        assert serious_findings(page) == []
        kept_picture(page, f"theirs-{name}")
