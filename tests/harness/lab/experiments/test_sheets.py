"""Sheets for a web chat: what to type, the days, and replies that a question is about."""

from pathlib import Path

from histories import chat, history, instance, turn, write_data
from made_cells import laboratory_in

from harness.lab.experiments.sheets import write_sheets

ABOUT_A_REPLY = instance(
    "recipe",
    question_type="single-session-assistant",
    question="How long did you say the beans have to soak?",
    answer="Nine hours.",
    **history(
        (
            "answer_1",
            "2023/05/20 (Sat) 02:21",
            [
                turn("user", "How do I cook beans?"),
                turn("assistant", "Soak them for nine hours.\nThen boil them.", has_answer=True),
                *chat("And rice?", "Boil it."),
            ],
        ),
        ("filler", "2023/05/21 (Sun) 08:00", chat("My cat sleeps all day.")),
        evidence=["answer_1"],
    ),
)


def sheets_of(folder: Path, *instances: dict[str, object]) -> dict[str, str]:
    laboratory = laboratory_in(folder / "out", write_data(folder / "data.json", instances))
    assert write_sheets(laboratory) == len(instances)
    return {file.stem: file.read_text() for file in (folder / "out" / "sheets").glob("*.md")}


def test_a_reply_that_is_asked_about_is_told_to_the_chat(tmp_path: Path) -> None:
    sheets = sheets_of(tmp_path, ABOUT_A_REPLY, instance("kayak"))
    sheet = sheets["recipe"]
    assert "does not matter." not in sheet
    assert (
        "> Let us go by this reply instead of yours:\n"
        "> Soak them for nine hours.\n"
        "> Then boil them.\n"
    ) in sheet
    assert "Boil it." not in sheet
    assert "What the chat replies does not matter." in sheets["kayak"]
    assert "instead of yours" not in sheets["kayak"]


def test_every_conversation_begins_with_its_day(tmp_path: Path) -> None:
    sheet = sheets_of(tmp_path, ABOUT_A_REPLY)["recipe"]
    assert "> (Today is Saturday, 2023-05-20.)\n> How do I cook beans?\n" in sheet
    assert "> (Today is Sunday, 2023-05-21.)\n> My cat sleeps all day.\n" in sheet
    assert "> (Today is Tuesday, 2023-05-30.)\n> How long did you say" in sheet
    assert sheet.count("(Today is") == 3
