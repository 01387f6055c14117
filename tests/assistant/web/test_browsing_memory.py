"""The memory browser: search by words, meaning and days, the timeline, and a very large memory."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from calls import record
from served import served
from web_page import Page, cards, tell

from assistant import Settings, create_app

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]


def test_memory_is_searched_by_words_meaning_and_days(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories")
    expect(page.locator("#list h2")).to_have_text(
        ["Thursday 1 June 2023", "Sunday 14 May 2023", "Thursday 2 March 2023"]
    )
    page.get_by_label("Search", exact=True).fill("LIVE")
    page.keyboard.press("Enter")
    expect(cards(page)).to_have_count(2)
    expect(cards(page).last.locator(".facts")).to_contain_text(
        "Since Thursday 1 June 2023: I live in Oslo now."
    )
    page.get_by_label("To", exact=True).fill("2023-05-31")
    expect(cards(page)).to_have_count(1)
    page.get_by_label("Search", exact=True).fill("nothing of the kind")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(cards(page)).to_have_count(3)
    page.get_by_label("Search", exact=True).fill("What is my cat called?")
    page.locator("#by").select_option("meaning")
    page.get_by_role("button", name="Search").click()
    expect(cards(page).first).to_contain_text("My cat is Tom.")


def test_days_are_those_of_the_browser(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    record(http, ann, "s", "I live in Ghent.", timestamp="2023-05-20T20:00:00Z")
    told = {"timestamp": "2023-05-21T20:00:00Z", "timezone": "America/Los_Angeles"}
    record(http, ann, "t", "My cat is Tom.", **told)
    page = open_page(quoting_url, "/#/memories", timezone_id="Pacific/Auckland")
    # Both were said on a Sunday: one by the clocks of who looks, one by those where it was said.
    expect(page.locator("#list h2")).to_have_text(["Sunday 21 May 2023"])
    expect(cards(page).last).to_contain_text("08:00")
    expect(cards(page).first).to_contain_text("13:00")


def test_the_timeline_leads_to_a_month_and_to_a_day(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories")
    expect(page.get_by_role("button", name="April 2023: 0 messages")).to_be_disabled()
    page.get_by_role("button", name="June 2023: 1 message").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="March 2023: 1 message")).to_be_focused()
    page.keyboard.press("Enter")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("I live in Ghent.")
    page.get_by_role("button", name="Thursday 2 March 2023: 1 message").click()
    expect(page.get_by_label("From")).to_have_value("2023-03-02")
    expect(page.get_by_label("To", exact=True)).to_have_value("2023-03-02")
    expect(page.locator("#total")).to_have_text("1 memory")
    page.get_by_role("button", name="All months").click()
    expect(cards(page)).to_have_count(3)


def test_the_timeline_counts_a_conversation_on_each_of_its_days(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    for day, said in (("2023-03-30", "I live in Ghent."), ("2023-04-02", "I moved to Bruges.")):
        record(http, ann, "long", said, timestamp=f"{day}T10:00:00Z")
    page = open_page(quoting_url, "/#/memories")
    expect(page.get_by_role("button", name="March 2023: 1 message")).to_be_visible()
    page.get_by_role("button", name="April 2023: 1 message").click()
    page.get_by_role("button", name="Sunday 2 April 2023: 1 message").click()
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("I moved to Bruges.")


def test_another_user_sees_their_own_memory(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url)
    expect(page.locator("#sessions a")).to_have_count(3)
    page.get_by_role("button", name="Settings").click()
    expect(page.locator("#about")).to_contain_text("quotes what you said")
    page.get_by_label("User", exact=True).fill(f"eve and {ann}")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#sessions a")).to_have_count(0)
    page.reload()
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_label("User", exact=True)).to_have_value(f"eve and {ann}")


PAGES = 12


def test_ten_thousand_rounds_scroll_and_stay_few_in_the_page(
    open_page: OpenPage, tmp_path: Path, ann: str
) -> None:
    with (
        served(create_app(Settings(embedder="hash", data_dir=tmp_path))) as url,
        httpx.Client(base_url=url, timeout=120) as http,
    ):
        fill(http, ann, users_rounds=10_000)
        page = open_page(url, "/#/memories")
        expect(page.locator("#total")).to_have_text("10,000 memories", timeout=60_000)
        first = cards(page).first.get_attribute("data-id")
        seen: set[str] = set()
        most = 0
        for number in range(1, PAGES + 1):
            place = page.locator("#list .page").nth(number)
            place.evaluate("(it) => it.scrollIntoView()")
            expect(place.locator(".card")).to_have_count(50)
            ids = cards(page).evaluate_all("(all) => all.map((one) => one.dataset.id)")
            assert len(set(ids)) == len(ids)
            most = max(most, len(ids))
            seen |= set(ids)
        assert len(seen) >= PAGES * 50
        assert most <= 400
        page.locator("#memories").evaluate("(it) => it.scrollTo(0, 0)")
        expect(cards(page).first).to_have_attribute("data-id", str(first))
        page.get_by_label("Search", exact=True).fill("number 4711")
        page.keyboard.press("Enter")
        expect(cards(page)).to_have_count(1)


def fill(http: httpx.Client, user_id: str, *, users_rounds: int) -> None:
    """Rounds of a user, by import, a hundred a session."""
    header = '{"format":"aide-memoire/records","version":1}'
    for session in range(users_rounds // 100):
        month, day = divmod(session, 25)
        lines = [header]
        for index in range(100):
            at = f"20{20 + month // 12}-{month % 12 + 1:02d}-{day + 1:02d}T10:{index % 60:02d}:00Z"
            said = {
                "user_text": f"I painted the fence, number {session * 100 + index}.",
                "assistant_text": "Noted.",
                "session_id": f"s{session}",
                "round_index": index,
                "session_date": at,
            }
            rest = {"user_id": user_id, "turn_ids": [], "facts": [], "enrichment": "done"}
            lines.append(json.dumps(said | rest))
        http.post(f"/v1/users/{user_id}/import", content="\n".join(lines)).raise_for_status()


def test_a_memory_is_pinned_and_let_go(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories")
    cat = cards(page).filter(has_text="My cat is Tom.")
    cat.get_by_role("button", name="Pin", exact=True).click()
    expect(cat.locator(".tag")).to_have_text("pinned")
    (pinned,) = http.get("/v1/memories", params={"user_id": ann, "pinned": True}).json()["data"]
    assert pinned["user_text"] == "My cat is Tom."
    cat.get_by_role("button", name="Unpin").click()
    expect(cat.get_by_role("button", name="Pin", exact=True)).to_be_visible()
    expect(cat.locator(".tag")).to_have_count(0)
