"""A chat in a browser: the answer streams in, is kept, can be stopped, and explains itself."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from calls import sessions
from scripted_model import ScriptedModel
from web_page import NASTY, Page, answered, cards, say, tell

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
ANSWER = "chain_of_note"


def test_an_answer_streams_in_and_is_remembered(
    answering_url: str, model: ScriptedModel, open_page: OpenPage
) -> None:
    page = open_page(answering_url)
    pieces = ["NOTES: none\n", "ANSWER: Hello", " **there**", ".\n\n- one\n- two `x`"]
    model.on(ANSWER).reply(*pieces, delay=0.3)
    page.evaluate(
        """() => { window.seen = new Set();
        new MutationObserver(() => seen.add(document.getElementById("log").textContent))
          .observe(document.getElementById("log"), {childList: true, subtree: true}) }"""
    )
    say(page, "Hi!")
    expect(answered(page)).to_have_text("Hello there.onetwo x")
    assert page.evaluate("[...seen].some((text) => text.endsWith('Hello'))")
    assert page.locator(".message strong").inner_text() == "there"
    assert page.locator(".message li code").inner_text() == "x"
    expect(page.locator("#announcer")).to_have_text("Hello **there**.\n\n- one\n- two `x`")
    expect(page.locator("#sessions a[aria-current]")).to_have_text("Hi!")
    page.get_by_role("link", name="Memory").click()
    expect(cards(page)).to_contain_text("Hello **there**.")
    page.go_back()
    expect(answered(page)).to_have_text("Hello there.onetwo x")
    page.reload()
    expect(page.locator(".message.user .text")).to_have_text("Hi!")
    expect(answered(page)).to_have_text("Hello there.onetwo x")


def test_the_last_line_of_the_notes_is_shown_until_the_answer_begins(
    answering_url: str, model: ScriptedModel, open_page: OpenPage
) -> None:
    page = open_page(answering_url)
    model.on(ANSWER).reply("NOTES: met Ann\n", "- on the ", "Lys\n", "ANSWER: There", delay=0.7)
    say(page, "Where do I row?")
    noted = page.locator(".message.coming .text")
    expect(noted).to_have_attribute("data-thought", "met Ann")
    expect(noted).to_have_attribute("data-thought", "- on the Lys")
    assert noted.inner_text() == ""
    expect(answered(page)).to_have_text("There")
    assert "Lys" not in page.locator("#log").inner_text()


def test_an_answer_can_be_stopped_and_is_not_remembered(
    answering_url: str, model: ScriptedModel, open_page: OpenPage, ann: str
) -> None:
    page = open_page(answering_url)
    model.on(ANSWER).reply("ANSWER: One", *[" more"] * 100, delay=0.2)
    say(page, "Tell me a long story.")
    expect(page.locator(".message.assistant .text")).to_contain_text("One")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped, and not remembered.")).to_be_visible()
    assert model.left.wait(10)
    with httpx.Client(base_url=answering_url) as http:
        assert sessions(http, ann) == {}


def test_what_was_said_is_text_and_nothing_else(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories")
    expect(page.get_by_text(NASTY)).to_be_visible()
    page.goto(f"{quoting_url}/#/chat/s2")
    expect(answered(page)).to_have_text(NASTY)
    assert page.locator("main img, main b > b").count() == 0


def test_why_this_answer(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, locale="en-GB")  # weeks begin on Monday
    say(page, "Where did I live last week?")
    expect(answered(page)).to_contain_text("Oslo")
    page.get_by_role("button", name="Why this answer?").click()
    why = page.get_by_role("complementary", name="Why this answer")
    expect(why.locator(".story")).to_contain_text("3 memories came to mind.")
    expect(why.locator("dl")).to_contain_text("29 May 2023 to Sunday 4 June 2023 (“last week”)")
    expect(why.locator(".group").first).to_contain_text("I live in Oslo now.")
    expect(why.locator(".reasons").first).to_contain_text("Means something alike")
    shown = float(why.locator(".similarity b").first.inner_text())
    parts = why.locator(".reasons").first.locator(".number").all_inner_texts()
    assert sum(float(part.replace("−", "-")) for part in parts) == pytest.approx(shown, abs=0.05)
    expect(why).to_contain_text("Found, and not used")
    page.keyboard.press("Escape")
    expect(why).to_be_hidden()
    expect(page.get_by_role("button", name="Why this answer?")).to_be_focused()


def test_the_notes_of_a_model_are_shown(
    answering_url: str, model: ScriptedModel, open_page: OpenPage, ann: str
) -> None:
    with httpx.Client(base_url=answering_url) as http:
        tell(http, ann)
    page = open_page(answering_url)
    model.on(ANSWER).reply("NOTES:\n1. The user moved.\nANSWER: In Oslo.")
    say(page, "Where do I live?")
    expect(answered(page)).to_have_text("In Oslo.")
    page.get_by_role("button", name="Why this answer?").click()
    expect(page.locator("#why pre")).to_contain_text("1. The user moved.")
    expect(page.locator("#models")).to_have_text("Answers by openai/fake")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Settings").click()
    expect(page.locator("#about")).to_contain_text("openai/fake")
    expect(page.locator("#usage")).to_contain_text("tokens")


def _understood(page: Page) -> Any:
    return page.locator(".message").last.locator(".understood")


def test_what_was_understood_is_said_and_can_be_undone(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url)
    say(page, "I moved to Bruges on 4 March 2026.")
    line = "Kept · about 4 Mar 2026 · replaces “I live in Oslo now” (1 Jun)"
    expect(_understood(page)).to_have_text(f"{line} · Undo")
    expect(page.locator("#announcer")).to_contain_text(line)
    (id,) = [id for id in sessions(http, ann) if id.startswith("web-")]
    page.get_by_role("button", name="Undo").click()
    expect(_understood(page)).to_have_text("Removed")
    expect(page.locator("#announcer")).to_have_text("Removed.")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    expect(page.locator("#log")).not_to_contain_text("Bruges")
    expect(page.locator("#chat-head")).to_be_hidden()
    expect(page.locator(f"#sessions [data-id={id}]")).to_have_count(0)
    assert id not in sessions(http, ann)
    say(page, "I live in Rome now.")
    expect(_understood(page)).to_contain_text("replaces “I live in Oslo now”")
    expect(page.locator("#sessions a[aria-current]")).to_have_text("I live in Rome now.")


def test_what_replaced_something_forgotten_says_no_more_what(
    quoting_url: str, open_page: OpenPage
) -> None:
    page = open_page(quoting_url)
    say(page, "I live in Ghent.")
    expect(_understood(page)).to_have_text("Kept · Undo")
    say(page, "I live in Bruges now.")
    expect(_understood(page)).to_contain_text("replaces “I live in Ghent”")
    page.get_by_role("button", name="Undo").first.click()
    expect(page.get_by_text("Removed", exact=True)).to_be_visible()
    expect(_understood(page)).to_have_text("Kept · Undo")


def test_what_tells_nothing_is_only_answered(quoting_url: str, open_page: OpenPage) -> None:
    page = open_page(quoting_url)
    for text in ("Hello!", "Where do I live?"):
        say(page, text)
        expect(answered(page)).not_to_be_empty()
        expect(page.locator(".under")).to_have_count(1 if text == "Hello!" else 2)
    expect(page.locator(".understood")).to_have_count(0)
    say(page, "Don't remember this: I like beer.")
    expect(_understood(page)).to_have_text("Not kept")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def test_what_was_undone_is_not_sent_along(
    answering_url: str, model: ScriptedModel, open_page: OpenPage
) -> None:
    page = open_page(answering_url)
    model.on(ANSWER).reply("ANSWER: Nice.").reply("ANSWER: Hm.").reply("ANSWER: Hm again.")
    say(page, "I live in Ghent.")
    expect(_understood(page)).to_have_text("Kept · Undo")
    say(page, "What is the weather like?")
    expect(answered(page)).to_have_text("Hm.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Removed", exact=True)).to_be_visible()
    page.get_by_role("button", name="Regenerate").click()
    expect(answered(page)).to_have_text("Hm again.")
    assert "Ghent" in str(model.sent[1])
    assert "Ghent" not in str(model.sent[2])
