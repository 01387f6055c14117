"""Dependencies point one way, and third-party engines stay in their modules."""

import ast
import logging
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
PACKAGES = ("assistant", "memory_store", "harness")
# What of the store is public, beside `memory_store` itself.
_PARTS = "by_digest embedding engines errors language recall scheduler transfer"
PUBLIC = {f"memory_store.{name}" for name in _PARTS.split()}

# Who may import a third-party engine, modules or folders.
FENCES = {
    "qdrant_edge": {"memory_store/engines/_edge"},
    "qdrant_client": {"memory_store/engines/_server"},
    "grpc": {"memory_store/engines/_server/connection.py"},
    "sentence_transformers": {"memory_store/embedding/sentence_transformer.py"},
    "torch": {"memory_store/embedding/sentence_transformer.py"},
    "onnxruntime": {"memory_store/embedding/minilm.py"},
    "tokenizers": {"memory_store/embedding/minilm.py"},
    "dateparser": {
        "assistant/imports/gemini.py",
        "memory_store/language/dates/reading.py",
    },
    "snowballstemmer": {"memory_store/language/words.py", "harness/judges/lexical/words.py"},
    "jinja2": {"harness/report/table.py"},
    "litellm": {"assistant/models/litellm_model.py"},
    "tiktoken": {"assistant/models/token_counter.py"},
    "prometheus_client": {
        "assistant/observing/metrics.py",
        "assistant/observing/shared_metrics.py",
    },
    "opentelemetry": {"assistant/observing/tracing.py"},
    "pydantic_settings": {"assistant/settings/sources.py", "assistant/settings/settings.py"},
    "mcp": {"assistant/mcp"},
    "mlflow": {"harness/export/mlflow_run.py"},
}


@cache
def imports() -> frozenset[tuple[str, str]]:
    """Every (file, module imported) of the three packages."""
    return frozenset(
        (path.relative_to(ROOT).as_posix(), module)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for module in imported(path)
    )


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.fixture
def loggers_stay_enabled() -> Iterator[None]:
    """Import-linter configures logging, which by default silences every logger made before."""
    yield
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.disabled = False


@pytest.mark.usefixtures("loggers_stay_enabled")
def test_the_import_contracts_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(config_filename="pyproject.toml", no_cache=True) == 0


@pytest.mark.parametrize("engine", sorted(FENCES))
def test_an_engine_is_imported_in_its_own_module_only(engine: str) -> None:
    importers = {file for file, module in imports() if module.split(".")[0] == engine}
    folders = {fence for fence in FENCES[engine] if not fence.endswith(".py")}
    fenced = {next((f for f in folders if file.startswith(f"{f}/")), file) for file in importers}
    assert fenced == FENCES[engine]


def test_the_assistant_uses_the_store_by_its_public_names() -> None:
    inside = {
        (file, module)
        for file, module in imports()
        if file.startswith("assistant/") and module.startswith("memory_store.")
    }
    assert {module for _, module in inside} == PUBLIC


def test_what_is_nobody_elses_business_in_the_store_begins_with_an_underscore() -> None:
    shown = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "memory_store").rglob("*.py")
        if not any(part.startswith("_") for part in path.relative_to(ROOT).parent.parts)
        and (path.name == "__init__.py" or not path.name.startswith("_"))
    }
    # Of these two, modules are taught and measured one by one.
    parts = ("memory_store.embedding.", "memory_store.language.")
    assert {name for name in shown if not name.startswith(parts)} == {"memory_store", *PUBLIC}


def clock_calls(path: Path) -> Iterator[str]:
    """Calls that tell the time; `perf_counter` only measures."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = ast.unparse(node.func)
            if node.func.attr in ("now", "utcnow", "today") or name == "time.time":
                yield name


def test_only_the_edge_of_http_reads_the_clock() -> None:
    readers = {
        path.relative_to(ROOT).as_posix()
        for package in ("assistant", "memory_store")
        for path in (ROOT / package).rglob("*.py")
        if any(clock_calls(path))
    }
    # One clock, handed to who may know the time, and the `created` of a reply.
    replies = {f"assistant/api/{name}.py" for name in ("chat", "responses")}
    assert readers == {"assistant/clock.py", *replies}


def test_only_a_transfer_works_on_everybodys_rounds() -> None:
    """A store, and so a request, can never be given an engine that knows no user."""
    kinds = ("_operator", "_edge.operator", "_edge.rewriting", "_server.operator")
    whole = {f"memory_store.engines.{kind}" for kind in kinds}
    users = {file for file, module in imports() if module in whole}
    allowed = ("memory_store/transfer/", "memory_store/engines/")
    assert users
    assert all(file.startswith(allowed) for file in users)
    named = {"EdgeOperator", "ServerOperator", "OperatorEngine"}
    callers = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "assistant").rglob("*.py")
        if any(name in path.read_text() for name in named)
    }
    assert callers == {"assistant/operations.py"}


def test_commands_that_ask_a_server_start_without_what_it_is_made_of() -> None:
    commands = [
        f"assistant.cli.{name}" for name in ("conversation", "terminal", "memories", "mcp_server")
    ]
    program = f"import sys, {', '.join(commands)}; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0
    loaded = set(ended.stdout.split())
    assert loaded >= set(commands)
    heavy = {"memory_store", "assistant.settings", "fastapi", "litellm", "onnxruntime", "torch"}
    assert loaded.isdisjoint(heavy)


def test_a_server_loads_the_model_context_protocol_only_when_asked_for_it() -> None:
    program = "import sys; from assistant.app import create_app; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0
    loaded = set(ended.stdout.split())
    assert "assistant.api.remote_mcp" in loaded
    assert loaded.isdisjoint({"mcp", "assistant.mcp.tools"})


# The commands of the laboratory, and the list of all commands.
LABORATORY = (
    "harness.lab",
    *(f"harness.cli.{name}" for name in ("elsewhere_commands", "lab_", "main")),
    "harness.__main__",
)


def test_a_benchmark_runs_without_the_laboratory() -> None:
    files = (path.relative_to(ROOT) for path in (ROOT / "harness").rglob("*.py"))
    names = (".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files)
    core = [name for name in sorted(names) if not name.startswith(LABORATORY)]
    program = (
        "import importlib, sys; sys.modules['harness.lab'] = None; "
        f"[importlib.import_module(name) for name in {core}]; print(*sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert {"harness.cli.run_commands", "harness.pipeline.run"} <= set(ended.stdout.split())


def test_what_answers_is_given_a_reader_and_not_the_whole_memory() -> None:
    """A `MemoryReader` sees what may go where it reads; the store sees everything."""
    files = [*ROOT.glob("assistant/answering/*.py"), *ROOT.glob("assistant/designs/**/*.py")]
    assert len(files) > 20
    assert not [file.name for file in files if "MemoryStore" in file.read_text("utf-8")]
