"""The page of rates follows from the file beside the command, and the file from what happened."""

import json
from pathlib import Path

from assistant import Settings
from benchmarks.plain.chats import HitCounts, put
from benchmarks.rates import HISTORY, PAGE, RATES, history, page, released

CHANGE = {
    "first": {"at": "2026-01-05T10:00:00Z", "say": "I live in Turku."},
    "then": {"at": "2026-02-05T10:00:00Z", "say": "I moved to Oulu last weekend."},
    "ask": "Where do I live?",
    "new": ["Oulu"],
    "old": ["Turku"],
}
TOLD = [
    {"at": "2026-01-06T10:00:00Z", "say": "My dentist is called Arvo Lind."},
    {"at": "2026-01-07T10:00:00Z", "say": "My dentist is called Arvo Lind."},
    {"at": "2026-01-08T10:00:00Z", "say": "Off the record: my dentist smells of garlic."},
]


async def test_what_became_of_messages(tmp_path: Path) -> None:
    """The same thing said twice counts as merged, what is not kept as lost."""
    told = [one | {"form": "plain", "ask": "Who is my dentist?", "has": ["Lind"]} for one in TOLD]
    file = tmp_path / "person.json"
    rest = {"never": [], "remember": [], "forget": [], "refuse": []}
    person = {"person": "eino", "told": told, "changed": [CHANGE], **rest}
    file.write_text(json.dumps(person), encoding="utf-8")
    counts = HitCounts()
    await put(file, Settings(data_dir=tmp_path / "data"), counts)
    rates = released("today", "2026-11-28", counts).rates
    assert rates["lost"] == (1, 5)
    assert rates["false merge"] == (2, 5)
    assert rates["false overwrite"] == (0, 5)
    assert rates["unmarked update"] == (0, 1)
    assert rates["missed update"] == (0, 1)
    assert rates["false denial"] == (0, 3)


def test_the_page_is_that_of_the_releases() -> None:
    releases = history(HISTORY.read_text("utf-8").splitlines())
    assert PAGE.read_text("utf-8") == page(releases)
    assert releases[-1].rates.keys() == RATES.keys()
