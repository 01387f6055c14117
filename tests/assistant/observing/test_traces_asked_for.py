"""When spans are sent: what the environment asks for, and what is said where it cannot be had."""

import logging
import subprocess
import sys
from collections.abc import Mapping

import pytest

from assistant.observing.tracing import exporting, span

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
MISSING = "is not installed: no spans are sent. Install 'aide-memoire[otel]'"


def is_on(monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str]) -> bool:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with exporting(), span("step") as step:
        return type(step).__name__ != "TracedStep"


@pytest.mark.parametrize(
    ("environment", "on"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "memory"}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, False),
        (ENDPOINT | {"OTEL_TRACES_EXPORTER": "none"}, False),
        (ENDPOINT | {"OTEL_TRACES_EXPORTER": "console"}, True),
    ],
)
def test_the_environment_alone_switches_it_on(
    monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str], on: bool
) -> None:
    assert is_on(monkeypatch, {"OTEL_TRACES_SAMPLER": "always_off"} | environment) is on


@pytest.mark.parametrize(
    ("environment", "what"),
    [
        (ENDPOINT, "OpenTelemetry's SDK"),
        (ENDPOINT | {"OTEL_TRACES_EXPORTER": "zipkin"}, "the exporter 'zipkin'"),
        (ENDPOINT | {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "the exporter 'otlp_proto_grpc'"),
    ],
)
def test_what_is_not_installed_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    environment: Mapping[str, str],
    what: str,
) -> None:
    if what.startswith("Open"):
        monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
        monkeypatch.delitem(sys.modules, "opentelemetry.sdk.resources", raising=False)
    with caplog.at_level(logging.WARNING):
        assert not is_on(monkeypatch, environment)
    (line,) = caplog.messages
    assert f"{what} {MISSING}" in line


def test_nothing_of_it_is_imported_where_nobody_asks() -> None:
    program = (
        "import sys\n"
        "from assistant.observing.tracing import exporting\n"
        "with exporting(): pass\n"
        "print(*[name for name in sys.modules if name.startswith('opentelemetry.sdk')])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.strip()) == (0, "")
