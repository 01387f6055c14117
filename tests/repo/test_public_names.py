"""What the packages promise can be imported, and is sorted so that a change is easy to see; a name
means one thing."""

import ast
import importlib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "package",
    [
        "assistant",
        "memory_store",
        "memory_store.embedding",
        "memory_store.engines",
        "memory_store.language",
        "memory_store.recall",
        "memory_store.transfer",
    ],
)
def test_public_names_exist_and_are_listed_once(package: str) -> None:
    module = importlib.import_module(package)
    names = list(module.__all__)
    assert len(names) == len(set(names))
    for name in names:
        assert getattr(module, name) is not None


PACKAGES = ("assistant", "benchmarks", "harness", "memory_store")
# These packages share no code, and have these names for one and the same thing: what stands in an
# interface that two of them speak, or what everybody calls a message, a prompt or a round.
SHARED_NAMES = {
    "Conflict",
    "EnrichmentFailure",
    "EnrichmentState",
    "Forgotten",
    "FoundText",
    "Message",
    "ModelReply",
    "Prompt",
    "Question",
    "ReplyCache",
    "Round",
    "Turn",
    # Its name stands in the files of a run.
    "AssistantError",
}


def classes_of(package: str) -> dict[str, list[str]]:
    """Where the classes of a package are, by name."""
    places: dict[str, list[str]] = {}
    for file in sorted((ROOT / package).rglob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(file.relative_to(ROOT)))
    return places


@pytest.mark.parametrize("package", PACKAGES)
def test_a_class_name_means_one_thing_within_a_package(package: str) -> None:
    assert {name: files for name, files in classes_of(package).items() if len(files) > 1} == {}


def test_a_class_name_means_one_thing_in_all_packages() -> None:
    named = Counter(name for package in PACKAGES for name in classes_of(package))
    several = {name for name, packages in named.items() if packages > 1}
    assert {name for name in several if not name.startswith("_")} == SHARED_NAMES


def test_no_two_files_of_tests_have_one_name() -> None:
    """Pytest imports them by their names alone, and would collect only one of them."""
    names = Counter(file.name for file in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
