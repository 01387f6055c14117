"""What the page says and keeps when the server, the model or the disk fails."""

from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_model import ScriptedModel
from served import served
from web_page import Page, answered, say

from assistant import Settings, create_app

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]


def test_a_failing_model_gives_the_words_back(
    answering_url: str, model: ScriptedModel, open_page: OpenPage
) -> None:
    page = open_page(answering_url, complaints="status of 50")
    keys: list[str] = []
    page.on("request", lambda asked: keys.append(asked.headers.get("idempotency-key", "")))
    model.on("chain_of_note").fault(500)
    say(page, "Hi!")
    expect(page.get_by_role("alert")).to_contain_text("The assistant could not do that.")
    expect(page.get_by_label("Message", exact=True)).to_have_value("Hi!")
    model.on("chain_of_note").reply("ANSWER: Hello.")
    page.get_by_role("button", name="Send").click()
    expect(answered(page)).to_have_text("Hello.")
    sent = [key for key in keys if key]
    assert len(sent) == 2
    assert len(set(sent)) == 1
    expect(page.locator("#banner")).to_be_hidden()


def test_the_server_goes_and_comes_back(open_page: OpenPage, tmp_path: Path) -> None:
    settings = Settings(embedder="hash", data_dir=tmp_path)
    with served(create_app(settings)) as url:
        page = open_page(url, complaints="ERR_")
        expect(page.locator("#models")).to_have_text("Answers quote what you said")
    say(page, "My locker has the number 77.")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    expect(page.get_by_label("Message", exact=True)).to_have_value("My locker has the number 77.")
    with served(create_app(settings), port=int(url.rsplit(":", 1)[1])):
        expect(page.locator("#banner")).to_be_hidden()
        page.get_by_role("button", name="Send").click()
        answered(page)
        expect(page.locator("#sessions a")).to_have_count(1)


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (403, {}, "Your API key does not allow that. In the server's words."),
        (404, {}, "That is not remembered, or not any more."),
        (429, {"Retry-After": "7"}, "Too much at once: try again in 7 seconds."),
        (507, {}, "The disk of the server is full."),
    ],
)
def test_a_refusal_is_explained(
    quoting_url: str, open_page: OpenPage, status: int, headers: dict[str, str], said: str
) -> None:
    page = open_page(quoting_url, complaints=f"status of {status}")
    error = {"error": {"message": "In the server's words.", "type": "x", "code": "y"}}
    page.route(
        "**/v1/chat/**", lambda route: route.fulfill(status=status, headers=headers, json=error)
    )
    say(page, "Hi!")
    expect(page.get_by_role("alert")).to_contain_text(said)
    expect(page.get_by_label("Message", exact=True)).to_have_value("Hi!")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#banner")).to_be_hidden()
