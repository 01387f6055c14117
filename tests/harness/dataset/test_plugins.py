"""Data sets that others bring as a class."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.datasets.registry import ENTRY_POINTS, open_dataset
from harness.errors import DatasetError, UsageError

CLASS = """
from datetime import UTC, datetime
from harness.datasets.questions import HaystackSession, Question, Turn

class Riddles:
    def __init__(self, file):
        self.colour = file.read_text() if file else "green"

    def questions(self):
        session = HaystackSession(0, "s", datetime(2024, 5, 1, tzinfo=UTC), (Turn("user", "Hi"),))
        for number in range(2):
            yield Question(
                question_id=f"r{number}", question_type="riddle", question="Which colour?",
                answer=self.colour, answer_is_number=False,
                question_date=datetime(2024, 5, 2, tzinfo=UTC), sessions=(session,),
                evidence_session_ids=("s",), is_abstention=False, shared_history="h",
            )

class Nothing:
    def __init__(self, file): pass
    def questions(self): return []

class Wrong:
    def __init__(self, file): pass
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "their_riddles.py"
    path.write_text(CLASS)
    return path


def test_a_class_in_a_file_is_a_data_set(module: Path) -> None:
    dataset = open_dataset(f"{module}:Riddles", None)
    assert [q.question_id for q in dataset.outlines] == ["r0", "r1"]
    (history,) = dataset.histories({"r0", "r1"})
    assert [q.answer for q in history] == ["green", "green"]
    assert history[0].question_date == datetime(2024, 5, 2, tzinfo=UTC)


def test_a_data_set_that_another_package_names(
    module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "theirs-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    named = f"[{ENTRY_POINTS}]\nriddles = their_riddles:Riddles\n"
    (about / "entry_points.txt").write_text(named)
    monkeypatch.syspath_prepend(tmp_path)
    assert [q.question_id for q in open_dataset("riddles", None).outlines] == ["r0", "r1"]
    with pytest.raises(UsageError, match="riddles, or module:Class"):
        open_dataset("nobodys", None)


def test_its_identity_follows_its_content(module: Path, tmp_path: Path) -> None:
    first = open_dataset(f"{module}:Riddles", None).fingerprint.sha256()
    assert open_dataset(f"{module}:Riddles", None).fingerprint.sha256() == first
    module.write_text(CLASS.replace("green", "blue"))
    assert open_dataset(f"{module}:Riddles", None).fingerprint.sha256() != first


def test_it_gets_the_file(module: Path, tmp_path: Path) -> None:
    (tmp_path / "colour.txt").write_text("red")
    dataset = open_dataset(f"{module}:Riddles", tmp_path / "colour.txt")
    assert dataset.outlines[0].answer == "red"
    assert dataset.file == "colour.txt"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("no.such.module:Class", "No module named"),
        ("their_riddles.py:Riddles", "No such file"),
        ("{module}:Sonnets", "no attribute 'Sonnets'"),
        ("{module}:Wrong", "has no method questions"),
    ],
)
def test_a_class_that_is_not_there_is_a_usage_error(
    module: Path, name: str, complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        open_dataset(name.format(module=module), None)


def test_a_class_without_questions_is_a_dataset_error(module: Path) -> None:
    with pytest.raises(DatasetError, match="holds no questions"):
        open_dataset(f"{module}:Nothing", None)
