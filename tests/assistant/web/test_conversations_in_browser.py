"""Conversations in a browser: named, answered again, explained later, followed by another tab."""

import json
from collections.abc import Callable

import httpx
import pytest
from calls import record, rounds, sessions
from scripted_model import ScriptedModel
from web_page import Page, answered, cards, say, tell

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
ANSWER = "chain_of_note"
CLIPBOARD = ["clipboard-read", "clipboard-write"]
TEXT = """Days of **Lisbon**, from 2026-03-05 (Thu):

1. Fly
   - check in
2. Walk

| Day | Price |
|:----|------:|
| Mon | 12 \\| 13 |

```python
print("a | b")
```"""


def test_a_conversation_is_renamed(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/chat/s2")
    expect(page.locator("#chat-title")).to_have_text("My cat is Tom.")
    expect(page.locator("#chat-when")).to_have_text("14 May 2023 · 1 message")
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Title").fill(" Pets ")
    page.keyboard.press("Enter")
    expect(page.locator("#chat-title")).to_have_text("Pets")
    expect(page.locator("#sessions a[aria-current]")).to_have_text("Pets")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_label("Title")).to_have_value("Pets")
    page.get_by_label("Title").fill("")
    page.keyboard.press("Enter")
    expect(page.locator("#sessions a[aria-current]")).to_have_text("My cat is Tom.")


def test_tables_lists_and_code_that_can_be_copied(
    answering_url: str, model: ScriptedModel, open_page: OpenPage
) -> None:
    page = open_page(answering_url, permissions=CLIPBOARD)
    model.on(ANSWER).reply("ANSWER: ", *TEXT.splitlines(keepends=True))
    say(page, "Plan my trip.")
    text = answered(page)
    expect(text.locator("time")).to_have_text("Thursday 5 March 2026")
    expect(text.locator("ol > li > ul > li")).to_have_text("check in")
    expect(text.locator("ol > li")).to_have_count(2)
    expect(text.locator("th")).to_have_text(["Day", "Price"])
    expect(text.locator("td")).to_have_text(["Mon", "12 | 13"])
    expect(text.locator("pre")).to_have_text('print("a | b")')
    text.get_by_role("button", name="Copy").click()
    expect(text.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == 'print("a | b")'
    page.locator(".under").get_by_role("button", name="Copy").click()
    expect(page.locator(".under .copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == TEXT


def test_an_answer_is_made_again_in_its_place(
    answering_url: str, model: ScriptedModel, open_page: OpenPage, ann: str
) -> None:
    page = open_page(answering_url, complaints="status of 50")
    model.on(ANSWER).reply("ANSWER: One.").reply("ANSWER: Two.").reply("ANSWER: Three.")
    say(page, "Hi there, count for me.")
    expect(answered(page)).to_have_text("One.")
    say(page, "Go on.")
    expect(answered(page)).to_have_text("Two.")
    again = page.get_by_role("button", name="Regenerate")
    expect(again).to_have_count(1)
    again.click()
    expect(page.locator(".message.assistant .text")).to_have_text(["One.", "Three."])
    expect(page.locator(".message.user .text")).to_have_text(["Hi there, count for me.", "Go on."])
    # After a reload it is still the same message.
    page.evaluate("sessionStorage.clear()")
    page.reload()
    model.on(ANSWER).reply("ANSWER: Four.").fault(500)
    again.click()
    expect(page.locator(".message.assistant .text")).to_have_text(["One.", "Four."])
    again.click()
    expect(page.get_by_role("alert")).to_contain_text("could not do that")
    expect(page.locator(".message.assistant .text")).to_have_text(["One.", "Four."])
    with httpx.Client(base_url=answering_url) as http:
        (said,) = sessions(http, ann).values()
    assert said == [("Hi there, count for me.", "One."), ("Go on.", "Four.")]


def test_why_outlives_a_reload_and_what_is_forgotten_is_gone_from_it(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url)
    say(page, "Where do I live?")
    answered(page)
    say(page, "What is my cat called?")
    expect(answered(page)).to_contain_text("Tom")
    page.reload()
    expect(page.locator(".why")).to_have_count(2)
    page.locator(".why").first.click()
    why = page.get_by_role("complementary", name="Why this answer")
    expect(why.locator("blockquote")).to_have_text("Where do I live?")
    expect(why.locator(".group").first).to_contain_text("I live in Oslo now.")
    expect(why.locator(".reasons").first).to_contain_text("Means something alike")
    expect(page.locator(".explained .text")).to_contain_text("Oslo")
    page.keyboard.press("Escape")
    expect(page.locator(".explained")).to_have_count(0)
    http.delete("/v1/sessions/s2", params={"user_id": ann}).raise_for_status()
    page.locator(".why").first.click()
    expect(why).to_contain_text("1 memory of them is gone since.")
    expect(why).not_to_contain_text("My cat is Tom.")


def test_a_withdrawn_answer_says_so(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    page = open_page(quoting_url)
    say(page, "My locker has the number 77.")
    answered(page)
    page.get_by_role("button", name="New chat").first.click()
    say(page, "Which number has my locker?")
    expect(answered(page)).to_contain_text("77")
    kept = http.get("/v1/memories", params={"user_id": ann}).json()["data"]
    (told,) = [one for one in kept if one["user_text"].startswith("My locker")]
    http.delete(f"/v1/memories/{told['id']}", params={"user_id": ann}).raise_for_status()
    page.reload()
    expect(page.locator(".message.assistant")).to_contain_text("This answer was withdrawn")
    page.get_by_role("button", name="Regenerate").click()
    expect(answered(page)).not_to_contain_text("withdrawn")
    assert len(sessions(http, ann)) == 1


def test_not_to_be_remembered_holds_for_one_message(
    answering_url: str, model: ScriptedModel, open_page: OpenPage, ann: str
) -> None:
    page = open_page(answering_url, complaints="status of 50")
    unkept = page.get_by_label("Do not remember this")
    model.on(ANSWER).fault(500).reply("ANSWER: Yes.").reply("ANSWER: No.")
    unkept.check()
    say(page, "My locker has the number 77.")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(unkept).to_be_checked()  # as what was written, it is as it was
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".under")).to_contain_text("not remembered")
    expect(unkept).not_to_be_checked()
    say(page, "My bike is red.")
    expect(answered(page)).to_have_text("No.")
    with httpx.Client(base_url=answering_url) as http:
        assert list(sessions(http, ann).values()) == [[("My bike is red.", "No.")]]


def test_another_tab_follows(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    record(http, ann, "s", "I live in Ghent.", "Nice.")
    page = open_page(quoting_url, "/#/chat/s")
    other = page.context.new_page()
    other.goto(f"{quoting_url}/#/chat/s")
    expect(other.locator(".message.user")).to_have_count(1)
    say(page, "My cat is Tom.")
    expect(other.locator(".message.user .text")).to_have_text(
        ["I live in Ghent.", "My cat is Tom."]
    )
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("User", exact=True).fill(f"eve and {ann}")
    page.keyboard.press("Enter")
    expect(other.locator("#sessions a")).to_have_count(0)
    expect(other.locator("#who")).to_have_text(f"eve and {ann}")
    expect(other.locator(".message")).to_have_count(0)
    assert rounds(http, ann, "s")[-1][0] == "My cat is Tom."


def test_only_memories_are_listed_and_only_near_ones_found(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    record(http, ann, "s4", "What is my cat called?", "Tom.", timestamp="2023-06-02T10:00:00Z")
    page = open_page(quoting_url, "/#/memories")
    expect(page.locator("#total")).to_have_text("3 memories")
    page.get_by_label("Questions too").check()
    expect(page.locator("#total")).to_have_text("4 memories")
    page.get_by_label("Questions too").uncheck()
    page.locator("#by").select_option("meaning")
    page.get_by_label("Search", exact=True).fill("my cat")
    page.keyboard.press("Enter")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("My cat is Tom.")
    page.get_by_label("Search", exact=True).fill("quantum chromodynamics")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is near to that")).to_be_visible()
    expect(page.locator("#weak")).to_contain_text("3 weaker hits not shown.")
    page.get_by_role("button", name="Show them").click()
    expect(cards(page)).to_have_count(3)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", "", "The file is empty."),
        ("a.json", '[{"title": "cut', "damaged or was cut off"),
        ("a.txt", "Dear diary", "What can be brought in:"),
        (
            "a.jsonl",
            '{"format": "aide-memoire/records", "version": 3}\n{"user_text": 5}\n{"records": 1}',
            "A part of the file is damaged.",
        ),
        (
            "a.jsonl",
            '{"format": "aide-memoire/records", "version": 9}\n{"records": 0}',
            "newer version of the assistant",
        ),
        ("a.zip", "PK nothing", "The zip file cannot be read"),
        ("a.json", json.dumps([{"id": "c"}]), "no conversation of a known form"),
    ],
)
def test_what_cannot_be_brought_in_is_said_in_words(
    quoting_url: str, open_page: OpenPage, name: str, content: str, said: str
) -> None:
    page = open_page(quoting_url, "/#/memories", complaints="status of 400")
    file = {"name": name, "mimeType": "text/plain", "buffer": content.encode()}
    page.locator("#import-file").set_input_files(file)
    expect(page.get_by_role("alert")).to_contain_text(f"“{name}” was not brought in.")
    expect(page.get_by_role("alert")).to_contain_text(said)


def test_what_is_forgotten_by_a_message_is_neither_seen_nor_sent_again(
    quoting_url: str, open_page: OpenPage, http: httpx.Client, ann: str
) -> None:
    page = open_page(quoting_url)
    say(page, "My bike is red.")
    answered(page)
    say(page, "My locker has the number 77.")
    answered(page)
    say(page, "forget what I said about my locker")
    expect(answered(page)).to_contain_text("Say “yes” to delete")
    say(page, "yes")
    expect(answered(page)).to_contain_text("Deleted")
    expect(page.get_by_text("Forgotten.")).to_have_count(2)
    expect(page.get_by_text("My bike is red.").first).to_be_visible()
    with page.expect_request("**/v1/chat/completions") as sent:
        say(page, "My cat is Tom.")
    said = [one["content"] for one in sent.value.post_data_json["messages"]]
    assert (said[0], len(said), said[-1]) == ("My bike is red.", 3, "My cat is Tom.")
    answered(page)
    assert len(sessions(http, ann)) == 1
