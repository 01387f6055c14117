"""What is released: its notes, what stands in the way, its names, and the packages as they are
installed."""

import configparser
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.version import Version

from supply_chain.lock import ROOT
from supply_chain.release import image_tags, notes_of, obstacles, version
from supply_chain.wheels import FOLDERS, build, try_out

CHANGELOG = """# Changelog

## 0.3.0 (unreleased)

- Soon.

## 0.2.1 (2026-12-24)

### Remembering
- More.
  In two lines.

## 0.2.0 (2026-12-01)

## 0.1.0 (2026-11-30)
- First.
"""


@pytest.mark.parametrize(
    ("number", "notes"),
    [
        ("0.3.0", "- Soon."),
        ("0.2.1", "### Remembering\n- More.\n  In two lines."),
        ("0.2.0", None),
        ("0.1.0", "- First."),
        ("0.2", None),
        ("0.2.10", None),
        ("1.0.0", None),
    ],
)
def test_notes_are_the_section_of_the_version(number: str, notes: str | None) -> None:
    assert notes_of(number, CHANGELOG) == notes


@pytest.mark.parametrize(
    ("number", "tags", "changes", "reasons"),
    [
        ("0.2.1", ["v0.1.0"], "", []),
        ("0.3.0", ["v0.1.0"], "", ["no day"]),
        ("0.4.0", [], "", ["no day"]),
        ("0.1.0", ["v0.1.0", "v0.2.0"], "", ["the tag v0.1.0 exists"]),
        ("0.2.1", [], " M README.md\n", ["not committed"]),
        ("0.3.0", ["v0.3.0"], "?? x", ["no day", "exists", "not committed"]),
    ],
)
def test_what_stands_in_the_way(
    number: str, tags: list[str], changes: str, reasons: list[str]
) -> None:
    found = obstacles(number, CHANGELOG, tags, changes)
    assert len(found) == len(reasons)
    assert all(part in one for part, one in zip(reasons, found, strict=True))


@pytest.mark.parametrize(
    ("number", "tags"),
    [("1.4.2", ["1.4.2", "1.4", "latest"]), ("1.4.0rc1", ["1.4.0rc1"]), ("1.4.dev3", ["1.4.dev3"])],
)
def test_only_what_is_released_moves_the_tags_of_images(number: str, tags: list[str]) -> None:
    assert image_tags(number) == tags


def test_this_version_is_in_the_changelog() -> None:
    assert str(Version(version())) == version()
    assert notes_of(version(), (ROOT / "CHANGELOG.md").read_text())


def test_a_wheel_has_every_file_of_its_folders_and_the_licence(tmp_path: Path) -> None:
    names = {one.name.split("-")[0] for one in build(tmp_path)}
    assert names == set(FOLDERS)
    owned, commands = {}, {}
    for name, folders in {
        "aide_memoire": ("assistant", "memory_store"),
        "aide_memoire_harness": ("harness",),
    }.items():
        (wheel,) = tmp_path.glob(f"{name}-[0-9]*.whl")
        with zipfile.ZipFile(wheel) as archive:
            inside = archive.namelist()
            owned[name] = {one for one in inside if ".dist-info/" not in one}
            licences = [one for one in inside if "/licenses/" in one]
            told = {one.rpartition("/")[2]: archive.read(one) for one in licences}
            (about,) = (one for one in inside if one.endswith(".dist-info/METADATA"))
            licence = message_from_bytes(archive.read(about))["License-Expression"]
            (declared,) = (one for one in inside if one.endswith("/entry_points.txt"))
            scripts = configparser.ConfigParser()
            scripts.read_string(archive.read(declared).decode())
        commands[name] = set(scripts["console_scripts"])
        assert told == {one: (FOLDERS[name] / one).read_bytes() for one in ("LICENSE", "NOTICE")}
        assert licence == "Apache-2.0"
        assert owned[name] == {one for folder in folders for one in files_of(folder)}
    assert not set.intersection(*owned.values())
    # `uvx` runs the command that is named as the package.
    assert commands["aide_memoire"] == {"assistant", "aide-memoire"}
    assert commands["aide_memoire_harness"] == {"harness"}


def files_of(folder: str) -> set[str]:
    """What belongs to a package: all in its folder but bytecode and what describes its build."""
    build_files = {
        f"{folder}/{one}" for one in ("pyproject.toml", "README.md", "LICENSE", "NOTICE")
    }
    found = (one for one in (ROOT / folder).rglob("*") if one.is_file())
    paths = {one.relative_to(ROOT).as_posix() for one in found if "__pycache__" not in one.parts}
    return paths - build_files


@pytest.mark.slow
def test_the_packages_do_what_they_are_for_where_nothing_else_is_installed(tmp_path: Path) -> None:
    build(tmp_path)
    seen = list(try_out(tmp_path))
    assert [line.split(":")[0] for line in seen] == [
        "the harness alone",
        "harness run --dataset sample",
        "side by side",
        "uvx aide-memoire serve",
    ]
