"""The words of dates: how a file spells out many, and that no text with one is passed over."""

from datetime import date

import pytest

from memory_store.language.dates.pack import FILES, pack_of, split
from memory_store.language.dates.reading import read


@pytest.mark.parametrize(
    ("written", "phrases"),
    [
        ("letzte(n|r)?|vorige", ["letzten", "letzter", "letzte", "vorige"]),
        ("(st|saint) patrick's( day)?", 4 * ["x"]),
        ("\n|sunday\n|", ["sunday"]),
        ("", []),
    ],
)
def test_a_list_spells_out_its_phrases(written: str, phrases: list[str]) -> None:
    found = split(written)
    assert len(found) == len(phrases)
    assert "x" in phrases or found == phrases


@pytest.mark.parametrize("code", FILES)
def test_every_language_counts_and_names_days(code: str) -> None:
    kinds = {one.kind for meanings in pack_of(code).phrases.values() for one in meanings}
    assert {"unit", "weekday", "single"} <= kinds
    assert len(pack_of(code).numbers) >= 12


@pytest.mark.parametrize("kind", ["single", "weekday", "holiday", "season"])
def test_no_text_with_a_name_of_days_is_passed_over(kind: str) -> None:
    pack = pack_of("en")
    for first, meanings in pack.phrases.items():
        for meaning in meanings:
            if meaning.kind == kind:
                text = " ".join((first, *meaning.rest)).replace(" '", "'")
                assert read(f"We met on {text}", date(2023, 5, 30), pack) is not None, text
