"""Spans for OpenTelemetry: the steps of a request and their times. The only importer of its SDK.

The usual `OTEL_` environment variables switch it on and say where spans go; without them nothing is
imported. No span holds what anybody says, nor the text of an exception: docs/operations.md lists
what spans hold. Requests follow OpenTelemetry's semantic conventions for HTTP, without path and
query.
"""

import logging
import os
from asyncio import CancelledError
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, contextmanager, nullcontext
from importlib.metadata import entry_points, version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from assistant.errors import AssistantError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

_log = logging.getLogger(__name__)
_NAME = "aide-memoire"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_OTLP = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
_SCHEMA = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
# Probes ask all day long whether the assistant lives.
_PROBES = ("/health", "/ready", "/metrics")
Attributes = Mapping[str, str | bool | int | float | Sequence[str]]
_NO_ATTRIBUTES: Attributes = MappingProxyType({})
_T = TypeVar("_T")


class TracedStep:
    """One step under way. This class does nothing; it is for a process that sends no spans."""

    def current(self) -> AbstractContextManager[Any]:
        """A context: steps that begin within it are parts of this step."""
        return nullcontext()

    def set(self, attributes: Attributes) -> None:
        """Add attributes to the step."""

    def answered(self, method: str, route: str, status: int, error_code: str | None) -> None:
        """Note how the request that is this step was answered."""


class _Sent(TracedStep):
    """A step that will be sent."""

    def __init__(self, span: "OtelSpan") -> None:
        self._span = span

    def current(self) -> AbstractContextManager[Any]:
        from opentelemetry.trace import use_span

        # By default an exception would be recorded with its text.
        return use_span(self._span, record_exception=False, set_status_on_exception=False)

    def set(self, attributes: Attributes) -> None:
        self._span.set_attributes(attributes)

    def answered(self, method: str, route: str, status: int, error_code: str | None) -> None:
        self._span.update_name(f"{method} {route}")
        self.set(
            {
                "http.request.method": "_OTHER" if method == "OTHER" else method,
                "http.route": route,
                "http.response.status_code": status,
            }
        )
        if error_code:
            self.set({"aide_memoire.error_code": error_code})
        # A caller's mistake is no failure of the server; an error within a stream is.
        if status >= 500 or (error_code and status < 400):
            self.failed(error_code or str(status))

    def failed(self, kind: str) -> None:
        from opentelemetry.trace import StatusCode

        self.set({"error.type": kind})
        self._span.set_status(StatusCode.ERROR)

    def end(self) -> None:
        self._span.end()


_tracer: "Tracer | None" = None


@contextmanager
def exporting() -> Iterator[None]:
    """Send spans until the end of the block, if the environment asks for it."""
    global _tracer
    if not (names := _exporters(os.environ)):
        yield
        return
    try:
        provider = _provider(names)
    except ImportError as error:
        _log.warning("%s", str(error))
        yield
        return
    _tracer = provider.get_tracer(_NAME, version(_NAME), schema_url=_SCHEMA)
    try:
        yield
    finally:
        _tracer = None
        provider.shutdown()


def _exporters(environment: Mapping[str, str]) -> list[str]:
    """The exporters that the environment asks for, by the names they are installed under."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    named = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    if not named and any(environment.get(name) for name in _ENDPOINTS):
        named = "otlp"
    protocol = next(filter(None, map(environment.get, _PROTOCOLS)), "http/protobuf").strip()
    wanted = [name for name in map(str.strip, named.split(",")) if name.lower() not in ("", "none")]
    return [_OTLP.get(protocol, protocol) if name == "otlp" else name for name in wanted]


def _provider(exporters: Sequence[str]) -> "TracerProvider":
    """The SDK's provider, as the environment sets it: sampler, limits, batches, address, resource.
    It is not made the global one, so that no other library sends spans with what users say."""
    try:
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ImportError(_missing("OpenTelemetry's SDK")) from error

    ours = Resource({"service.name": _NAME, "service.version": version(_NAME)})
    resource = Resource.create().merge(ours).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource)
    for name in exporters:
        found = entry_points(group="opentelemetry_traces_exporter", name=name)
        if not found:
            raise ImportError(_missing(f"the exporter {name!r}"))
        provider.add_span_processor(BatchSpanProcessor(next(iter(found)).load()()))
    return provider


def _missing(what: str) -> str:
    return (
        f"the OTEL_ environment asks for traces, but {what} is not installed: no spans are sent. "
        "Install 'aide-memoire[otel]', or set OTEL_SDK_DISABLED=true"
    )


@contextmanager
def span(
    name: str, attributes: Attributes = _NO_ATTRIBUTES, kind: str = "INTERNAL"
) -> Iterator[TracedStep]:
    """A step that lasts as long as the block. It has failed if the block raises."""
    if _tracer is None:
        yield TracedStep()
        return
    from opentelemetry.trace import SpanKind

    sent = _Sent(_tracer.start_span(name, kind=SpanKind[kind], attributes=attributes))
    try:
        yield sent
    except (Exception, CancelledError) as error:
        sent.failed(error.code if isinstance(error, AssistantError) else type(error).__name__)
        raise
    finally:
        sent.end()


@contextmanager
def request_span(path: str, headers: Mapping[str, str], request_id: str) -> Iterator[TracedStep]:
    """A request as a step of the trace that its caller began, or of a new one."""
    if _tracer is None or path in _PROBES:
        yield TracedStep()
        return
    from opentelemetry import context, propagate

    attributes = {"aide_memoire.request_id": request_id}
    token = context.attach(propagate.extract(headers))
    try:
        with span("request", attributes, "SERVER") as begun, begun.current():
            yield begun
    finally:
        context.detach(token)


def traced_pieces(
    name: str,
    pieces: AsyncGenerator[_T, None],
    attributes: Attributes = _NO_ATTRIBUTES,
    *,
    kind: str = "INTERNAL",
    seen: Callable[[_T], Attributes] | None = None,
) -> AsyncGenerator[_T, None]:
    """The same pieces, as a step from the first to the last; `seen` gives the attributes that a
    piece adds to the step. The code that takes the pieces runs outside of the step."""
    return pieces if _tracer is None else _each(name, pieces, attributes, kind, seen)


async def _each(
    name: str,
    pieces: AsyncGenerator[_T, None],
    attributes: Attributes,
    kind: str,
    seen: Callable[[_T], Attributes] | None,
) -> AsyncGenerator[_T, None]:
    async with aclosing(pieces):
        with span(name, attributes, kind) as begun:
            while True:
                with begun.current():
                    try:
                        piece = await anext(pieces)
                    except StopAsyncIteration:
                        return
                if seen:
                    begun.set(seen(piece))
                yield piece
