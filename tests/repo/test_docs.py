"""The documents say what the code does: routes, settings, commands, error codes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from openapi_document import openapi_document
from pydantic import BaseModel
from typer.main import get_command

from assistant.cli.main import app as assistant_cli
from assistant.errors import AssistantError
from assistant.settings import Settings
from assistant.settings.sources import REMOVED
from harness.cli.main import app as harness_cli
from harness.datasets.download import files_of

ROOT = Path(__file__).parents[2]
API = (ROOT / "docs/api.md").read_text()
SETTINGS = (ROOT / "docs/settings.md").read_text()
README = (ROOT / "README.md").read_text()


def documented_routes() -> set[tuple[str, str]]:
    found = re.findall(r"`((?:GET|POST|DELETE|PATCH|PUT)) (/[^`?]*)", API)
    return {(method, re.sub(r"\{\w+\}", "{}", path.rstrip("`"))) for method, path in found}


def served_routes() -> set[tuple[str, str]]:
    paths = openapi_document()["paths"]
    return {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, methods in paths.items()
        for method in methods
    }


def test_every_route_is_documented_and_every_documented_route_is_served() -> None:
    assert documented_routes() == served_routes()


def setting_names(model: type[BaseModel] = Settings, prefix: str = "") -> list[str]:
    names = []
    for name, field in model.model_fields.items():
        nested = isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
        inner = setting_names(field.annotation, f"{prefix}{name}.") if nested else None
        names += inner or [prefix + name]
    return names


def documented_settings() -> list[tuple[str, str]]:
    """Names and defaults as in the tables. A table with several groups in its head has a column of
    defaults for each of them, and its rows are the settings that they have in common."""
    listed: list[tuple[str, str]] = []
    groups: list[str] = []
    for line in SETTINGS.splitlines():
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            groups = []
        elif not first:
            groups = [cell.strip("`") for cell in cells[:-1]]
        elif first.startswith("`") and groups:
            listed += [
                (f"{group}.{first.strip('`')}", default)
                for group, default in zip(groups, cells, strict=False)
            ]
        elif first.startswith("`"):
            listed.append((first.strip("`"), cells[0]))
    return listed


def test_every_setting_is_documented_once_and_no_other() -> None:
    assert sorted(name for name, _ in documented_settings()) == sorted(setting_names())


def test_documented_defaults_are_the_defaults() -> None:
    settings, compared = Settings(), 0
    for name, default in documented_settings():
        value: object = settings
        for part in name.split("."):
            value = getattr(value, part)
        expected = str(value).lower() if isinstance(value, bool) else str(value)
        if default == "empty":
            assert value in ("", None), name
        elif default.startswith("`"):
            assert default.strip("`") in (expected, expected.removesuffix(".0")), name
            compared += 1
    assert compared > 40


def test_every_setting_that_was_removed_from_a_group_is_in_the_documents() -> None:
    _, removed = SETTINGS.split("## What is no longer a setting")
    named = {name for name in re.findall(r"`([\w.]+)`", removed) if "." in name}
    assert named == {name for name in REMOVED if "." in name}


def error_classes(base: type[AssistantError] = AssistantError) -> list[type[AssistantError]]:
    return [base, *(kind for child in base.__subclasses__() for kind in error_classes(child))]


@pytest.mark.parametrize("code", ["missing_user", "invalid_timestamp", "empty_messages"])
def test_error_codes_in_the_routes_are_documented(code: str) -> None:
    assert f"`{code}`" in API


def test_error_codes_of_the_error_classes_are_documented() -> None:
    ours = [kind for kind in error_classes() if kind.__module__ == "assistant.errors"]
    for kind in ours:
        if kind.code not in ("not_found", "forbidden"):  # always raised with a narrower code
            assert f"`{kind.code}`" in API, kind.__name__


@pytest.mark.parametrize(("name", "cli"), [("assistant", assistant_cli), ("harness", harness_cli)])
def test_every_command_is_in_the_documents_and_no_other(name: str, cli: object) -> None:
    known = set(getattr(get_command(cli), "commands"))  # type: ignore[arg-type]  # noqa: B009
    documents = [README, *(path.read_text() for path in (ROOT / "docs").rglob("*.md"))]
    used = {
        command
        for text in documents
        for block in re.findall(r"```(?:sh|text)?\n(.*?)```", text, re.DOTALL)
        for command in re.findall(rf"^\s*(?:\$ )?{name} ([a-z]+)\b", block, re.MULTILINE)
    }
    # In a sentence rather than a block, some of them.
    named = {one for text in documents for one in re.findall(rf"[`\"]{name} ([a-z]+)\b", text)}
    assert used <= known <= used | named


def test_downloads_in_the_documents_are_known() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "harness").rglob("*.md"), ROOT / "README.md"]
    command = re.compile(r"harness download ([a-z][\w-]+) --out")
    named = {name for page in pages for name in command.findall(page.read_text())}
    assert "longmemeval-s" in named
    assert all(files_of(name) for name in named)


def test_links_between_documents_lead_somewhere() -> None:
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[\w-]*)?\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_make_targets_in_the_readme_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`?make (\w+)", README)) <= targets


@pytest.mark.parametrize("command", ["assistant", "harness"])
def test_help_needs_neither_models_nor_a_server(command: str) -> None:
    start = f"from {command}.cli.main import main; main()"
    program = f"import sys; sys.argv = ['{command}', '--help']; {start}"
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program], capture_output=True, text=True
    )
    assert ended.returncode == 0
    assert "Usage" in ended.stdout
    heavy = ("torch", "onnxruntime", "litellm", "sentence_transformers", "scipy", "statsmodels")
    loaded = {line.rsplit("|", 1)[-1].strip() for line in ended.stderr.splitlines()}
    assert loaded.isdisjoint(heavy)


def test_pictures_in_the_documents_exist_and_are_small() -> None:
    shown = {
        path.parent / target
        for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"!\[[^\]]+\]\(([^):]+)\)", path.read_text())
    }
    assert ROOT / "docs/web-page.png" in shown
    for picture in shown:
        assert 0 < picture.stat().st_size <= 150_000, picture.name
