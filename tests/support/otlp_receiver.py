"""A collector of spans: OTLP over HTTP on 127.0.0.1, decoded."""

import gzip
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from served import served

_LONGEST_WAIT = 20.0


@dataclass(frozen=True)
class Received:
    """One span as it arrived."""

    name: str
    kind: str
    id: str
    parent: str
    trace: str
    failed: bool
    attributes: dict[str, Any]
    resource: dict[str, Any]
    events: int
    seconds: float


class Collector:
    """What one receiver was sent; `url` is for OTEL_EXPORTER_OTLP_ENDPOINT."""

    def __init__(self) -> None:
        self.url = ""
        self.spans: list[Received] = []
        self.raw = b""
        """Every body, as bytes: to look for what must not be in it."""

    def trace(self, id: str, spans: int) -> dict[str, Received]:
        """The spans of a trace by name, once so many have come."""
        found = self.wait_for(lambda span: span.trace == id, spans)
        named = {span.name: span for span in found}
        assert len(named) == len(found) == spans, [span.name for span in found]
        return named

    def wait_for(self, wanted: Callable[[Received], bool], count: int = 1) -> list[Received]:
        """These spans, once so many have come."""
        deadline = time.monotonic() + _LONGEST_WAIT
        while len(found := list(filter(wanted, self.spans))) < count:
            assert time.monotonic() < deadline, [span.name for span in found]
            time.sleep(0.02)
        return found

    def app(self) -> FastAPI:
        """The receiver's application."""
        app = FastAPI()
        app.add_api_route("/v1/traces", self._receive, methods=["POST"])
        return app

    async def _receive(self, request: Request) -> Response:
        body = await request.body()
        if request.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.raw += body
        self.spans += _spans(ExportTraceServiceRequest.FromString(body))
        return Response(b"", media_type="application/x-protobuf")


@contextmanager
def collector() -> Iterator[Collector]:
    """A receiver that runs."""
    running = Collector()
    with served(running.app()) as running.url:
        yield running


def _spans(message: ExportTraceServiceRequest) -> Iterator[Received]:
    for sent in message.resource_spans:
        resource = _attributes(sent.resource.attributes)
        for scope in sent.scope_spans:
            for span in scope.spans:
                yield Received(
                    span.name,
                    Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.trace_id.hex(),
                    span.status.code == Status.STATUS_CODE_ERROR,
                    _attributes(span.attributes),
                    resource,
                    len(span.events),
                    (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                )


def _attributes(pairs: Any) -> dict[str, Any]:
    def plain(value: AnyValue) -> Any:
        kind = value.WhichOneof("value")
        if kind == "array_value":
            return [plain(one) for one in value.array_value.values]
        return getattr(value, str(kind))

    return {pair.key: plain(pair.value) for pair in list[KeyValue](pairs)}
