"""What a person steers on the page: where a memory may go, who answers, where they live, files."""

import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from calls import record
from scripted_model import ScriptedModel
from served import served
from web_page import NARROW, Page, answered, cards, say, serious_findings, tab_to, tell

from assistant import Settings, create_app

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
expect = playwright.expect
pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def offering_url(
    tmp_path_factory: pytest.TempPathFactory, _model_server: ScriptedModel
) -> Iterator[str]:
    """An assistant that offers another model to answer, and has one that finds facts."""
    how = {"name": "openai/gpt-4o", "base_url": _model_server.url, "api_key": "k"}
    given = {
        "embedder": "hash",
        "data_dir": tmp_path_factory.mktemp("offering"),
        "profiles": {"quick": how},
        "extract_model": how,
        "enrichment": {"idle_seconds": 1000},
        "reading": {"look_again": "off"},
    }
    with served(create_app(Settings.model_validate(given))) as url:
        yield url


def test_where_a_memory_may_go(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories")
    newest = cards(page).first.get_by_label("Where it may go")
    expect(newest).to_have_value("anywhere")
    newest.select_option("stays on this computer")
    expect(page.locator("#notice")).to_have_text("Changed: 1 memory.")
    first = {"user_id": ann, "limit": 1}
    (kept,) = http.get("/v1/memories", params=first).json()["data"]
    assert kept["reach"] == "this_computer"
    newest.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(newest).to_have_value("never_in_answers")
    expect(page.locator("#notice")).to_have_text("Changed: 1 memory.")
    assert serious_findings(page) == []


def test_taken_out_for_other_products(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str, tmp_path: Path
) -> None:
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories")
    with page.expect_download() as download:
        page.get_by_role("button", name="Portable export").click()
    assert re.search(r"\.pam\.zip$", download.value.suggested_filename)
    download.value.save_as(tmp_path / "memories.zip")
    with zipfile.ZipFile(tmp_path / "memories.zip") as bundle:
        assert any("I live in Ghent." in bundle.read(name).decode() for name in bundle.namelist())


def test_the_model_that_answers_is_chosen_and_stays_chosen(
    offering_url: str, open_page: OpenPage, model: ScriptedModel
) -> None:
    model.on("chain_of_note").reply("NOTES: none\nANSWER: Hello there.")
    page = open_page(offering_url)
    choice = page.get_by_role("combobox", name="Model")
    expect(choice.locator("option")).to_have_text(["as set up", "quick"])
    choice.select_option("quick")
    page.get_by_label("Do not remember this").check()
    say(page, "What is a good name for a boat?")
    expect(answered(page)).to_have_text("Hello there.")
    page.reload()
    expect(choice).to_have_value("quick")
    assert serious_findings(page) == []


def test_one_model_is_no_choice(quoting_url: str, open_page: OpenPage) -> None:
    page = open_page(quoting_url)
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    expect(page.locator("#model option")).to_have_count(1)
    expect(page.locator("#model")).to_be_hidden()


def test_a_text_file_goes_into_the_message(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    page = open_page(quoting_url, viewport=NARROW)
    page.get_by_text("What shall I remember?").wait_for()
    draft = page.get_by_label("Message", exact=True)
    draft.fill("Please proofread this:")
    tab_to(page, "Attach a file")
    page.evaluate("""() => document.querySelector("#attach-file").onclick = (event) => {
      event.preventDefault();
      event.target.dataset.asked = "yes"; }""")
    page.keyboard.press("Enter")
    expect(page.locator("#attach-file")).to_have_attribute("data-asked", "yes")
    said = "My shed is blue.\r\n```\ncode\n```\n"
    page.locator("#attach-file").set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": said.encode()}
    )
    wanted = (
        "Please proofread this:\n\n`notes.txt`\n\n````\nMy shed is blue.\n```\ncode\n```\n````\n"
    )
    expect(draft).to_have_value(wanted)
    expect(draft).to_be_focused()
    picture = {"name": "cat.png", "mimeType": "image/png", "buffer": b"\x89PNG\r\n\x1a\n\0\0"}
    page.locator("#attach-file").set_input_files(picture)
    expect(page.locator("#notice")).to_contain_text("“cat.png” was not attached")
    expect(draft).to_have_value(wanted)
    draft.fill("Please proofread this:")
    page.locator("#attach-file").set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"My shed is blue."}
    )
    wanted = "Please proofread this:\n\n`notes.txt`\n\n```\nMy shed is blue.\n```\n"
    expect(draft).to_have_value(wanted)
    page.keyboard.press("Enter")
    page.locator(".message.assistant .under").wait_for()
    (kept,) = http.get("/v1/memories", params={"user_id": ann}).json()["data"]
    assert kept["user_text"] == wanted.strip()
    # What is in a file is not what the user says of themselves.
    assert [fact["text"] for fact in kept["facts"] if fact["speaker"] == "user"] == []


def test_where_a_user_lives_is_kept_with_the_server(
    quoting_url: str, http: httpx.Client, open_page: OpenPage, ann: str
) -> None:
    record(http, ann, "s", "I mended the net.", timestamp="2023-05-20T20:00:00Z")
    page = open_page(quoting_url, "/#/memories", timezone_id="Europe/Berlin")
    with page.expect_request("**/v1/memories?*") as asked:
        page.reload()
    assert asked.value.headers["x-memory-timezone"] == "Europe/Berlin"
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Time zone").select_option("Pacific/Auckland")
    page.get_by_label("Weeks begin on").select_option("Saturday")
    assert serious_findings(page) == []
    with page.expect_request("**/v1/memories?*") as asked:
        page.get_by_role("button", name="Save", exact=True).click()
    assert "x-memory-timezone" not in asked.value.headers
    expect(page.locator("#list h2")).to_have_text("Sunday 21 May 2023")
    kept = http.get(f"/v1/users/{ann}/surroundings").json()
    assert (kept["timezone"], kept["week_begins"]) == ("Pacific/Auckland", "saturday")
    page.reload()
    expect(page.locator("#list h2")).to_have_text("Sunday 21 May 2023")
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_label("Time zone")).to_have_value("Pacific/Auckland")
    page.get_by_label("Time zone").select_option("as the browser")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#list h2")).to_have_text("Saturday 20 May 2023")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_what_an_import_will_cost_is_asked_first(
    offering_url: str, open_page: OpenPage, ann: str, colours: str
) -> None:
    page = open_page(offering_url, "/#/memories", color_scheme=colours, viewport=NARROW)
    turns = "**You:** I moved to Bruges.\n\n**Assistant:** Noted.\n"
    transcript = f"# A chat\n\nDate: 2025-03-04 10:00\n\n{turns}"
    page.locator("#import-file").set_input_files(
        {"name": "chat.md", "mimeType": "text/markdown", "buffer": transcript.encode()}
    )
    dialog = page.locator("#confirm")
    expect(dialog).to_contain_text("Bring it in?")
    expect(dialog).to_contain_text(
        re.compile(r"expected to take [\d,]+ tokens \(.+\) and 1 minute")
    )
    assert serious_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    found = httpx.get(f"{offering_url}/v1/memories", params={"user_id": ann}).json()
    assert found["total"] == 0


def test_a_picture_goes_to_a_model_that_takes_pictures(
    offering_url: str, open_page: OpenPage, model: ScriptedModel
) -> None:
    model.on("memory_beside").reply("A cat.").reply("A grey cat.")
    page = open_page(offering_url)
    page.get_by_role("combobox", name="Model").select_option("quick")
    cat = {"name": "cat.png", "mimeType": "image/png", "buffer": b"\x89PNG\r\n\x1a\n\0\0"}
    page.locator("#attach-file").set_input_files(cat)
    page.get_by_role("button", name="Take away cat.png").click()
    expect(page.locator("#picture")).to_be_hidden()
    page.locator("#attach-file").set_input_files(cat)
    expect(page.locator("#picture")).to_contain_text("cat.png")
    assert serious_findings(page) == []
    page.get_by_label("Do not remember this").check()
    say(page, "What is in this picture?")
    expect(page.locator(".message.user .text")).to_have_text("What is in this picture?\ncat.png")
    expect(answered(page)).to_have_text("A cat.")
    expect(page.locator("#picture")).to_be_hidden()
    page.get_by_role("button", name="Regenerate").click()
    expect(answered(page)).to_have_text("A grey cat.")
    for sent in model.sent:
        _, image = sent.body["messages"][-1]["content"]
        assert image["image_url"]["url"].startswith("data:image/png;base64,")
