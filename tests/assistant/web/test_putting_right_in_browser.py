"""Your memory in your hands, in a browser: correct it, see its history, forget it, take it out."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import record, rounds, sessions
from web_page import Page, answered, asked, cards, say, tell

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]


def test_told_corrected_and_asked_again(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    page = open_page(quoting_url)
    say(page, "My locker has the number 77.")
    answered(page)
    page.get_by_role("link", name="Memory").click()
    cards(page).get_by_role("button", name="Correct").click()
    page.get_by_label("You said").fill("My locker has the number 88.")
    page.get_by_role("button", name="Save").click()
    expect(cards(page)).to_contain_text("My locker has the number 88.")
    expect(cards(page)).to_contain_text("corrected Saturday 10 June 2023")
    expect(asked(page, "Which number has my locker?")).to_contain_text("number 88")
    expect(page.locator("#log")).not_to_contain_text("77")
    assert len(sessions(http, ann)) == 1


def test_corrected_where_it_was_said(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/chat/s3")
    page.get_by_role("button", name="Correct").click()
    page.get_by_label("You said").fill("I live in Bruges now.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".message.user .text")).to_have_text("I live in Bruges now.")
    with page.expect_request("**/v1/chat/completions") as sent:
        say(page, "Where do I live?")
    assert "Oslo" not in str(sent.value.post_data)
    answered(page)
    expect(asked(page, "Where do I live?")).to_contain_text("Bruges")


def test_facts_are_corrected_and_a_refusal_keeps_what_was_written(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories", complaints="status of 400")
    cards(page).first.get_by_role("button", name="Correct").click()
    page.get_by_label("You said").fill(" ")
    page.get_by_label("The assistant said").fill(" ")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#correct-error")).not_to_be_empty()
    page.get_by_role("button", name="Cancel").click()
    cards(page).first.get_by_role("button", name="Correct").click()
    page.get_by_label("Facts, one a line").fill("I live in Rome.\nI have moved twice.")
    page.get_by_role("button", name="Save").click()
    expect(cards(page).first.locator(".facts li")).to_have_count(2)
    expect(cards(page).first.locator(".facts")).to_contain_text("as you put it")
    assert rounds(http, ann, "s3") == [("I live in Oslo now.", "Oh!")]


def test_the_history_of_a_fact_and_the_step_back(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories")
    cards(page).first.get_by_role("button", name="History").click()
    steps = page.get_by_role("list", name="History").get_by_role("listitem")
    expect(steps).to_have_text(
        [
            "Thursday 2 March 2023I live in Ghent.until Thursday 1 June 2023",
            "Thursday 1 June 2023I live in Oslo now.holds",
        ]
    )
    page.get_by_role("button", name="Both are true").click()
    expect(page.get_by_role("button", name="History")).to_have_count(0)
    expect(page.locator("#notice")).to_contain_text("holds again")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="History")).to_have_count(2)


def test_as_of_an_earlier_day(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories")
    expect(cards(page)).to_have_count(3)
    page.get_by_label("As known on").fill("2023-05-20")
    expect(cards(page)).to_have_count(2)
    expect(page.get_by_role("button", name="History")).to_have_count(0)
    expect(page.locator("#as-of-note")).to_be_visible()
    page.goto(f"{quoting_url}/#/chat")
    page.get_by_label("As of an earlier day").check()
    page.get_by_label("Answer as of").fill("2023-05-20")
    say(page, "Where do I live?")
    expect(answered(page)).to_contain_text("Ghent")
    expect(answered(page)).not_to_contain_text("Oslo")
    expect(page.locator(".under")).to_contain_text("as of Saturday 20 May 2023, not remembered")
    page.get_by_label("As of an earlier day").uncheck()
    expect(asked(page, "Where do I live?")).to_contain_text("Oslo")
    assert set(sessions(http, ann)) == {"s1", "s2", "s3"}


def test_told_forgotten_and_asked_again(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    page = open_page(quoting_url)
    say(page, "My locker has the number 77.")
    answered(page)
    expect(asked(page, "Which number has my locker?")).to_contain_text("number 77")
    page.get_by_role("link", name="Memory").click()
    cards(page).get_by_role("button", name="Forget").click()
    expect(page.locator("#confirm-text")).to_contain_text(
        "1 memory, 1 fact, 1 conversation of Saturday 10 June 2023"
    )
    page.get_by_role("button", name="Cancel").click()
    expect(cards(page)).to_have_count(1)
    cards(page).get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Forget 1 memory").click()
    expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()
    expect(asked(page, "Which number has my locker?")).not_to_contain_text("77")
    assert sessions(http, ann) == {}


def test_a_conversation_is_forgotten_with_its_count(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    record(http, ann, "s2", "And Tim.", timestamp="2023-05-15T10:00:00Z")
    page = open_page(quoting_url, "/#/chat/s2")
    page.get_by_role("button", name="Forget conversation").click()
    expect(page.locator("#confirm-text")).to_contain_text(
        re.compile(r"2 memories, 1 conversation of 14\s*–\s*15 May 2023")
    )
    page.get_by_role("button", name="Forget 2 memories").click()
    expect(page.locator("#sessions a")).to_have_count(2)
    assert set(sessions(http, ann)) == {"s1", "s3"}


def test_a_receipt_of_forgetting_is_saved_and_holds(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, tmp_path: Path
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/chat/s2")
    page.get_by_role("button", name="Forget conversation").click()
    page.get_by_role("button", name="Forget 1 memory").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the receipt").click()
    file = tmp_path / "receipt.json"
    download.value.save_as(file)
    receipt = json.loads(file.read_text())
    assert download.value.suggested_filename == f"{receipt['id']}.json"
    verified = http.post("/v1/receipts", json={"receipt": receipt}).json()
    assert (verified["action"], verified["rounds"], verified["holds"]) == ("removed", 1, True)


def test_exported_forgotten_and_brought_in_again(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, tmp_path: Path
) -> None:
    tell(http, ann)
    record(http, ann, "s4", *["word " * 30_000] * 4, timestamp="2023-06-02T10:00:00Z")
    before = sessions(http, ann)
    page = open_page(quoting_url, "/#/memories")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export", exact=True).click()
    file = tmp_path / "export.jsonl"
    download.value.save_as(file)
    assert len([json.loads(line) for line in file.read_text().splitlines()]) == 7
    page.get_by_role("button", name="Forget everything").click()
    expect(page.locator("#confirm-text")).to_contain_text("5 memories, 2 facts, 4 conversations")
    page.get_by_role("button", name="Forget 5 memories").click()
    expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()
    assert sessions(http, ann) == {}
    page.evaluate(
        """() => { window.told = [];
        const shown = document.querySelector("#import-progress span");
        new MutationObserver(() => told.push(shown.textContent))
          .observe(shown, {childList: true}) }"""
    )
    cut = tmp_path / "cut.jsonl"
    cut.write_text("\n".join(file.read_text().splitlines()[:3]))
    page.locator("#import-file").set_input_files(cut)
    expect(page.locator("#banner")).to_contain_text("The file was cut off: its end is missing.")
    assert sessions(http, ann) == {}
    page.locator("#import-file").set_input_files(file)
    expect(cards(page)).to_have_count(5)
    expect(page.locator("#notice")).to_have_text("5 memories brought in, 0 were there already.")
    assert page.evaluate("told")[:2] == ["0 of 5 memories", "3 of 5 memories"]
    assert sessions(http, ann) == before


def test_a_chatgpt_export_is_brought_in(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, tmp_path: Path
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([conversation(f"c{number}") for number in range(3)]))
    page = open_page(quoting_url, "/#/memories", complaints="status of 400")
    expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()
    for said in ("3 memories brought in, 0 were there", "0 memories brought in, 3 were there"):
        page.locator("#import-file").set_input_files(file)
        expect(page.locator("#notice")).to_contain_text(said)
    expect(cards(page)).to_have_count(3)
    expect(page.locator("#sessions a").first).to_have_text("About c2")
    assert set(sessions(http, ann)) == {"chatgpt-c0", "chatgpt-c1", "chatgpt-c2"}
    odd = {"title": "A long story", "text": "word " * 60_000}
    file.write_text(json.dumps([odd, conversation("c3")]))
    page.locator("#import-file").set_input_files(file)
    expect(page.locator("#notice")).to_contain_text("1 memory brought in")
    expect(page.locator("#banner")).to_contain_text("1 conversation could not be read")
    expect(page.locator("#banner")).to_contain_text("“A long story”")
    expect(cards(page)).to_have_count(4)


def conversation(id: str) -> dict[str, Any]:
    """A question and its answer, as ChatGPT exports them."""

    def node(name: str, parent: str | None, child: str | None, text: str) -> dict[str, Any]:
        message = {
            "id": f"{id}-{name}",
            "author": {"role": name},
            "create_time": 1684576800.0,
            "content": {"content_type": "text", "parts": [text]},
        }
        return {
            "id": name,
            "parent": parent,
            "children": [child] if child else [],
            "message": message,
        }

    said = node("user", None, "assistant", f"I ran race {id}.")
    answered = node("assistant", "user", None, "Well done.")
    return {
        "conversation_id": id,
        "title": f"About {id}",
        "create_time": 1684576800.0,
        "mapping": {"user": said, "assistant": answered},
        "current_node": "assistant",
    }


def in_conflict(http: httpx.Client, user: str) -> None:
    """Ann lives in Ghent, and has her uncle's letter read."""
    record(http, user, "home", "I live in Ghent.", timestamp="2023-03-02T09:00:00Z")
    letter = "Please proofread my uncle's letter:\n\nI moved to Oslo last week. I love the snow."
    record(http, user, "letter", letter, timestamp="2023-05-02T09:00:00Z")


def test_a_quoted_fact_says_so(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    in_conflict(http, ann)
    page = open_page(quoting_url, "/#/memories")
    card = cards(page).filter(has_text="uncle")
    card.get_by_text("3 facts").click()
    chips = card.locator(".facts .tag", has_text="quoted")
    expect(chips).to_have_count(3)
    assert "may be another's" in str(chips.first.get_attribute("title"))
    expect(chips.first.locator(".unseen")).to_contain_text("may be another's")
    expect(card.locator(".facts")).to_contain_text(
        "Contradicts (Thursday 2 March 2023): I live in Ghent."
    )
    expect(cards(page).filter(has_text="I live in Ghent.").last.locator(".tag")).to_have_count(0)


@pytest.mark.parametrize(
    ("button", "newest"),
    [("This is mine: let it replace", True), ("Leave as it is", False)],
)
def test_a_conflict_is_decided(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, button: str, newest: bool
) -> None:
    in_conflict(http, ann)
    page = open_page(quoting_url, "/#/memories")
    page.get_by_label("Health").select_option("contradictory")
    expect(page.locator("#total")).to_have_text("1 conflict")
    expect(cards(page)).to_contain_text(
        "In a message of Tuesday 2 May 2023I moved to Oslo last week."
    )
    expect(cards(page)).to_contain_text("You said on Thursday 2 March 2023I live in Ghent.")
    cards(page).get_by_role("button", name=button).click()
    expect(page.get_by_text("Nothing contradicts you")).to_be_visible()
    asked_of = {"user_id": ann, "session_id": "home"}
    (home,) = http.get("/v1/memories", params=asked_of).json()["data"]
    assert (home["facts"][0]["superseded_by"] is not None) is newest
