"""Sends an assistant requests at random and counts what it answers:
`python tests/support/fuzz.py --requests 100000 --seed 1 --out runs/fuzz`.

It starts servers of its own, on loopback, with and without keys by turns. Each batch has a line in
`batches.jsonl`; a batch that is there is not sent again, so that an interrupted run can be gone on
with. What should not have been answered so is kept in `findings.jsonl`, with the bytes that were
sent. The exit code is 1 if there is any.
"""

import argparse
import asyncio
import base64
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from commands import Server
from odd_requests import OddRequests, Sent
from qdrant_binary import a_server

from assistant.access.keys import KeyFile, KeyScope, new_key

_BATCH = 1000
_AT_ONCE = 4
_PATIENCE = 60.0
# Half a request is answered when the server has waited long enough; nobody waits for that here.
_HALF_PATIENCE = 0.3
# Answers by design: what runs into a limit, or is not whole in time.
EXPECTED = {(503, "session_busy"), (503, "too_many_connections")}


@dataclass
class Counts:
    """What came of a batch."""

    answers: Counter[str] = field(default_factory=Counter)
    """By status, and by what became of the connection where there was none."""
    kinds: Counter[str] = field(default_factory=Counter)
    expected: Counter[str] = field(default_factory=Counter)
    """Those of the answers that are a 5xx by design, by code."""
    findings: list[dict[str, Any]] = field(default_factory=list)
    slowest_ms: float = 0.0


class Batch:
    """One batch against one server."""

    def __init__(self, url: str, made: OddRequests) -> None:
        self._host, self._port = url.removeprefix("http://").split(":")
        self._made = made
        self.counts = Counts()

    async def run(self, count: int) -> Counts:
        """Send so many requests, a few side by side."""
        waiting: asyncio.Queue[Sent] = asyncio.Queue(maxsize=_AT_ONCE)

        async def send_all() -> None:
            while True:
                sent = await waiting.get()
                await self._send(sent)
                waiting.task_done()

        senders = [asyncio.create_task(send_all()) for _ in range(_AT_ONCE)]
        for _ in range(count):
            await waiting.put(self._made.next())
        await waiting.join()
        for sender in senders:
            sender.cancel()
        await asyncio.gather(*senders, return_exceptions=True)
        return self.counts

    async def _send(self, sent: Sent) -> None:
        data = sent.data.replace(b"HERE", f"{self._host}:{self._port}".encode())
        started = time.perf_counter()
        reader, writer = await asyncio.open_connection(self._host, int(self._port))
        try:
            writer.write(data)
            patience = _PATIENCE if sent.sound else _HALF_PATIENCE
            status, headers, body = await asyncio.wait_for(
                _answer(reader, sent.data[:5] != b"HEAD "), patience
            )
        except TimeoutError:
            self._note(
                sent,
                "half a request, not waited for" if not sent.sound else "no answer in time",
                wrong=sent.sound,
            )
            return
        except (ConnectionError, asyncio.IncompleteReadError):
            self._note(sent, "closed without an answer", wrong=sent.sound)
            return
        finally:
            writer.close()
        self.counts.slowest_ms = max(self.counts.slowest_ms, (time.perf_counter() - started) * 1000)
        self._made.heard(body)
        self._check(sent, status, headers, body)

    def _check(self, sent: Sent, status: int, headers: Mapping[str, str], body: bytes) -> None:
        code = _code(body)
        expected = (status, code) in EXPECTED
        if expected:
            self.counts.expected[str(code)] += 1
        wrong = status >= 500 and not expected
        if status >= 400 and not sent.data.startswith(b"HEAD "):
            wrong |= code is None
        wrong |= headers.get("x-content-type-options") != "nosniff" or "x-request-id" not in headers
        wrong |= b"Traceback" in body
        self._note(sent, str(status), wrong=wrong, answer=body)

    def _note(self, sent: Sent, came: str, *, wrong: bool, answer: bytes = b"") -> None:
        self.counts.answers[came] += 1
        self.counts.kinds[sent.kind] += 1
        if wrong:
            shown = base64.b64encode(sent.data).decode()
            told = answer[:2000].decode("utf-8", "replace")
            self.counts.findings.append({"came": came, "answer": told, "sent": shown})


async def _answer(
    reader: asyncio.StreamReader, has_body: bool
) -> tuple[int, dict[str, str], bytes]:
    """The first answer that is none on the way."""
    status = 100
    while status == 100:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split()[1])
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = b""
    if has_body and headers.get("transfer-encoding") == "chunked":
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += await reader.readexactly(size + 2)
    elif has_body and status != 304:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return status, headers, body


def _code(body: bytes) -> str | None:
    """The code of a failure in OpenAI's shape or in JSON-RPC's, None for anything else."""
    try:
        whole = json.loads(body)
        error = whole["error"]
        if "jsonrpc" in whole:
            return f"json-rpc {error['code']}"
        return str(error["code"]) if set(error) == {"message", "type", "param", "code"} else None
    except (ValueError, TypeError, KeyError):
        # Readiness and streams have forms of their own.
        return "not ready" if b'"checks"' in body else None


@dataclass(frozen=True)
class Target:
    """A server and the keys that open it."""

    url: str
    tokens: tuple[str, ...]


@contextmanager
def targets(folder: Path, engine: str) -> Iterator[list[Target]]:
    """A server without keys and one with them, each a process of its own."""
    with ExitStack() as stack:
        settings = {"ASSISTANT_LIMITS__REQUESTS_PER_MINUTE": "0", "ASSISTANT_LOGS__LEVEL": "error"}
        if engine == "server":
            qdrant = stack.enter_context(a_server(folder / "qdrant"))
            if qdrant is None:
                raise SystemExit("no Qdrant server: run `make qdrant_server`")
            settings |= {
                "ASSISTANT_QDRANT_URL": qdrant.url,
                "ASSISTANT_QDRANT__GRPC_PORT": str(qdrant.grpc_port),
            }
        found = []
        for name in ("open", "keyed"):
            data_dir = folder / name
            tokens = _keys(data_dir) if name == "keyed" else ()
            server = Server(data_dir)
            server.start(**settings, ASSISTANT_QDRANT__COLLECTION=name)
            stack.callback(server.end)
            found.append(Target(server.url, tokens))
        yield found


def _keys(data_dir: Path) -> tuple[str, ...]:
    """A key that may do everything, one for a front end, and two for one user each."""
    made = [
        new_key("all", None, tuple(KeyScope), created_at="now"),
        new_key("front end", None, (KeyScope.ACT_AS,), created_at="now"),
        new_key("ann", "ann", (KeyScope.SET_TIME,), created_at="now"),
        new_key("user 1", "user 1", (), created_at="now"),
    ]
    for one in made:
        KeyFile(data_dir / "keys.json").add(one.key)
    return tuple(one.token for one in made)


def batch_of(number: int, seed: int, count: int, target: Target) -> Counts:
    """Send one batch; the same number and seed make the same requests, but for the ids in them that
    the server chose."""
    document = httpx.get(f"{target.url}/openapi.json", timeout=60).json()
    chance = random.Random(f"{seed}/{number}")
    return asyncio.run(Batch(target.url, OddRequests(document, target.tokens, chance)).run(count))


def fuzz(out: Path, *, requests: int, seed: int, engine: str) -> int:
    """All batches that are not done yet; how many findings there are in all."""
    out.mkdir(parents=True, exist_ok=True)
    journal, kept = out / "batches.jsonl", out / "findings.jsonl"
    lines = journal.read_text().splitlines() if journal.exists() else []
    done = {line["batch"]: line for line in map(json.loads, lines)}
    missing = [number for number in range(-(-requests // _BATCH)) if number not in done]
    with tempfile.TemporaryDirectory() as folder, targets(Path(folder), engine) as found:
        for number in missing:
            count = min(_BATCH, requests - number * _BATCH)
            started = time.monotonic()
            counts = batch_of(number, seed, count, found[number % len(found)])
            line = {
                "batch": number,
                "seed": seed,
                "engine": engine,
                "requests": count,
                "answers": counts.answers,
                "kinds": counts.kinds,
                "expected": counts.expected,
                "findings": len(counts.findings),
                "slowest_ms": round(counts.slowest_ms),
                "seconds": round(time.monotonic() - started, 1),
            }
            with kept.open("a") as file:
                file.writelines(
                    json.dumps({"batch": number} | one) + "\n" for one in counts.findings
                )
            with journal.open("a") as file:
                file.write(json.dumps(line) + "\n")
            done[number] = line
            print(json.dumps(line), flush=True)
    return report(list(done.values()))


def report(lines: list[dict[str, Any]]) -> int:
    """Print the sums; how many findings there are."""
    answers: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    for line in lines:
        answers.update(line["answers"])
        expected.update(line["expected"])
    findings = sum(line["findings"] for line in lines)
    failed = sum(count for status, count in answers.items() if status.startswith("5"))
    print(f"requests: {sum(line['requests'] for line in lines)}")
    print(f"answers: {dict(sorted(answers.items()))}")
    print(f"5xx: {failed}, of them by design: {dict(expected)}")
    print(f"slowest: {max(line['slowest_ms'] for line in lines)} ms")
    print(f"findings: {findings}")
    return findings


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/fuzz"))
    parser.add_argument("--engine", choices=["edge", "server"], default="edge")
    given = parser.parse_args()
    # The servers end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    found = fuzz(given.out, requests=given.requests, seed=given.seed, engine=given.engine)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
