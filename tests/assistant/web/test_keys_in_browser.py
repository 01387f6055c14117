"""API keys in a browser: asked for, refused clearly, kept as the person says, given up."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from served import served
from web_page import Page, answered, cards, say

from assistant import Settings, create_app
from assistant.access.keys import KeyFile, new_key

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
REFUSED = "status of 401"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keyed-page")


@pytest.fixture(scope="module")
def tokens(folder: Path) -> dict[str, str]:
    made = {user: new_key(user, user, (), created_at="now") for user in ("bea", "cid")}
    for one in made.values():
        KeyFile(folder / "keys.json").add(one.key)
    return {user: one.token for user, one in made.items()}


@pytest.fixture(scope="module")
def keyed_url(folder: Path, tokens: dict[str, str]) -> Iterator[str]:
    with served(create_app(Settings(embedder="hash", data_dir=folder))) as url:
        yield url


def sign_in(page: Page, token: str) -> None:
    page.get_by_role("textbox", name="API key").fill(token)
    page.get_by_role("dialog").get_by_role("button", name="Sign in").click()


def test_a_wrong_key_says_so_and_the_right_one_opens(
    keyed_url: str, tokens: dict[str, str], open_page: OpenPage
) -> None:
    page = open_page(keyed_url, complaints=REFUSED)
    expect(page.get_by_role("heading", name="This server needs an API key")).to_be_visible()
    sign_in(page, "sk-wrong")
    expect(page.locator("#key-error")).to_have_text("This API key is not known, or was revoked.")
    sign_in(page, tokens["bea"])
    expect(page.locator("#sign-in")).to_be_hidden()
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator("#who")).to_have_text("bea")
    say(page, "I keep bees.")
    answered(page)
    page.get_by_role("link", name="Memory").click()
    expect(cards(page)).to_contain_text("I keep bees.")
    page.reload()
    expect(cards(page)).to_contain_text("I keep bees.")
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_label("User", exact=True)).to_be_disabled()
    expect(page.locator("#about")).to_contain_text("bea")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#sign-in")).to_be_visible()
    expect(page.get_by_text("I keep bees.")).to_have_count(0)
    sign_in(page, tokens["cid"])
    expect(page.locator("#who")).to_have_text("cid")
    page.get_by_role("link", name="Memory").click()
    expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()


@pytest.mark.parametrize("kept", [False, True])
def test_a_key_stays_on_the_device_only_where_one_says_so(
    keyed_url: str, tokens: dict[str, str], open_page: OpenPage, kept: bool
) -> None:
    page = open_page(keyed_url, complaints=REFUSED)
    page.get_by_label("Keep it on this device").set_checked(kept)
    sign_in(page, tokens["bea"])
    expect(page.locator("#who")).to_have_text("bea")
    other = page.context.new_page()
    other.goto(keyed_url)
    expect(other.locator("#sign-in")).to_be_visible(visible=not kept)
    expect(other.locator("#who")).to_have_text("bea" if kept else "")
