"""The page speaks the languages of its readers: one file of words each, and no words elsewhere."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser

import httpx
import pytest
from web_page import NARROW, Page, cards, tell

from assistant.api.browsers import FILES

WORDS = {
    file.stem: json.loads(file.read_text("utf-8"))
    for file in sorted((FILES / "languages").glob("*.json"))
}
SCRIPTS = {str(file.relative_to(FILES)): file.read_text("utf-8") for file in FILES.rglob("*.js")}
SAME_IN_HTML = frozenset("Aide-mémoire ☰ + Enter Shift Esc Alt N M W ← →".split())
OpenPage = Callable[..., Page]


def test_the_languages_have_the_same_keys_in_one_order() -> None:
    assert set(WORDS) == {"de", "en", "es", "fr", "nl", "zh"}
    for code, words in WORDS.items():
        assert list(words) == list(WORDS["en"]), code
        assert all(words.values()), code
    named = re.search(r"LANGUAGES = {(.*)}", SCRIPTS["page/words.js"])
    assert named
    assert set(re.findall(r"(\w+): ", named[1])) == set(WORDS)


@pytest.mark.parametrize("code", sorted(WORDS))
def test_values_have_their_place_in_every_language(code: str) -> None:
    def values(text: str) -> list[str]:
        return sorted(re.findall(r"\{\w+\}", text))

    for key, text in WORDS[code].items():
        english = WORDS["en"][key]
        assert values(text) == values(english), key
        # What goes on behind another sentence begins with a space there, too.
        assert text.startswith(" ") or not english.startswith(" "), key


def test_every_key_is_used_and_every_key_used_is_there() -> None:
    everywhere = "\n".join([*SCRIPTS.values(), (FILES / "index.html").read_text("utf-8")])
    quoted = set(re.findall(r'"([a-z0-9_]+)"', everywhere))
    nouns = {f"count_{noun}" for noun in quoted}
    keys = {key.partition(".")[0] for key in WORDS["en"]}
    assert keys - quoted - nouns == set()
    used = set(re.findall(r'\bt\("(\w+)"', everywhere))
    used |= set(re.findall(r'data-t(?:-[a-z-]+)?="(\w+)"', everywhere))
    used |= {f"{key}.{form}" for key in re.findall(r'tn\("(\w+)"', everywhere) for form in FORMS}
    assert used - set(WORDS["en"]) == set()


FORMS = ("one", "other")


class _Texts(HTMLParser):
    """The words of a page that are read: its texts, and attributes that are said or shown."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = ("title", "placeholder", "aria-label", "alt")
        self.found += [value for name, value in attrs if name in said and value]

    def handle_data(self, data: str) -> None:
        self.found += data.split()


def test_no_words_stand_in_the_html() -> None:
    texts = _Texts()
    texts.feed((FILES / "index.html").read_text("utf-8"))
    assert set(texts.found) <= SAME_IN_HTML


# What is said stands in quotes and is a sentence, or several words; names in code are neither.
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
_SAID = re.compile(r"[A-Z][a-z]+[ .:!?]|[A-Za-z]{2,} [a-z]{2,}|^[\"`][A-Z][a-z]{2,}[\"`]$")
# Selectors, classes, headers, what servers and keyboards say, names.
_OF_CODE = re.compile(
    r"querySelector|class:|noopener|newer version|Content|Bearer|Arrow|Enter|Escape|Aide-mémoire"
    r"|LANGUAGES"
)


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_no_words_stand_in_the_scripts(name: str) -> None:
    lines = [line for line in SCRIPTS[name].splitlines() if not re.match(r"\s*(//|/?\*)", line)]
    said = [
        string
        for line in lines
        for string in _STRING.findall(re.sub(r"\$\{[^{}]*\}", "", line))
        if _SAID.search(string) and not _OF_CODE.search(line)
    ]
    assert said == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("code", "memory", "day", "one"),
    [
        ("de", "Gedächtnis", "Donnerstag 1. Juni 2023", "3 Erinnerungen"),
        ("es", "Memoria", "jueves 1 de junio de 2023", "3 recuerdos"),
        ("fr", "Mémoire", "jeudi 1 juin 2023", "3 souvenirs"),
        ("nl", "Geheugen", "donderdag 1 juni 2023", "3 herinneringen"),
        ("zh", "记忆", "2023年6月1日星期四", "3 条记忆"),
        ("pt", "Memory", "Thursday 1 June 2023", "3 memories"),
    ],
)
def test_the_page_speaks_the_language_of_the_browser(
    quoting_url: str,
    http: httpx.Client,
    open_page: OpenPage,
    ann: str,
    code: str,
    memory: str,
    day: str,
    one: str,
) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    tell(http, ann)
    page = open_page(quoting_url, "/#/memories", locale=code, viewport=NARROW)
    expect(page.locator("h1").last).to_have_text(f"{memory} {one}")
    expect(page.locator("#list h2").first).to_have_text(day)
    expect(cards(page)).to_have_count(3)
    shown = page.evaluate("document.documentElement.lang")
    assert shown == (code if code in WORDS else "en")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


@pytest.mark.browser
def test_a_language_is_chosen_in_the_settings(quoting_url: str, open_page: OpenPage) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    page = open_page(quoting_url)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Language").select_option("Français")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Message", exact=True)).to_have_attribute(
        "placeholder", "Racontez-moi quelque chose, ou demandez"
    )
    page.get_by_role("button", name="Réglages").click()
    page.get_by_label("Langue").select_option("")
    page.get_by_role("button", name="Enregistrer").click()
    expect(page.get_by_role("button", name="Settings")).to_be_visible()
