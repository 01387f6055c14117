"""Sends the prompts of a folder to a provider's batch API, which answers at half the price, watches
the batches, and collects the results.

The routes are OpenAI's: a file of requests, a batch of this file, a file of results.
`batches.jsonl` in the folder says what was sent. Each batch has a tag that is written down before
the batch is made. So a batch is found again after an interruption, and nothing is paid twice.
"""

import asyncio
import json
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NotRequired, TypedDict, cast

from harness.assistants.endpoint import Endpoint, RetryPolicy
from harness.assistants.transport import Transport
from harness.assistants.wire import parse_object
from harness.errors import UsageError
from harness.judges.openai_chat import without_refused
from harness.lab.handout import PromptFolder, Replies, read_replies
from harness.pipeline.prompts import message_text
from harness.records.manifest import Manifest, account_of, all_meters, load_manifest
from harness.records.run_dir import LineFile, RunDir
from harness.records.schema import JsonObject, UsageRecord
from harness.spending import (
    BatchForecast,
    Budget,
    Meter,
    Payee,
    Price,
    SpendingLimits,
    TokenUsage,
)
from harness.text import tokens_at_least_one

# The most that OpenAI takes in one batch.
_MOST_REQUESTS = 50_000
_MOST_BYTES = 150_000_000
_ROUTE = "/v1/chat/completions"
_TAG = "aide_memoire"
_ENDED = frozenset(("completed", "failed", "expired", "cancelled"))
_AGAIN = RetryPolicy()
# The request that makes a batch is not repeated: after a lost reply the tag shows if it was made.
_ONCE = RetryPolicy(attempts=1, reconnect_seconds=0.0)


class SentBatch(TypedDict):
    """A batch with its tag and its prompts; `batch` is the provider's id, "" until it is known."""

    tag: str
    ids: list[str]
    batch: str
    status: str
    forecast: UsageRecord
    spent: NotRequired[UsageRecord]


SENT = LineFile[SentBatch]("batches.jsonl")


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How many prompts have a reply, wait in a running batch, or must be submitted; `problems` are
    the reasons why batches or requests failed.
    """

    answered: int
    running: int
    to_submit: int
    problems: Sequence[str] = ()


class BatchFolder:
    """A folder of prompts, and the batches of them that were sent to a provider."""

    def __init__(self, prompts: PromptFolder) -> None:
        prompts.require()
        self._prompts = prompts
        self._dir = RunDir(prompts.path)

    @property
    def sent(self) -> dict[str, SentBatch]:
        return {line["tag"]: line for line in self._dir.records(SENT, "tag")}

    @property
    def running(self) -> list[SentBatch]:
        return [one for one in self.sent.values() if one["status"] not in _ENDED]

    def note(self, batch: SentBatch) -> None:
        self._dir.append(SENT, batch)

    def keep_results(self, batch: SentBatch, text: str) -> None:
        """Keep the results of a batch where an import finds them."""
        self._prompts.keep_results(batch["batch"], text)

    def replies(self) -> Replies:
        return read_replies(self._prompts)

    def to_submit(self) -> dict[str, JsonObject]:
        """The prompts that have no reply and are in no running batch. If a request was refused, the
        settings that the refusal names are left out.
        """
        replies = self.replies()
        waiting = {name for one in self.running for name in one["ids"]}
        return {
            name: without_refused(body, replies.failed.get(name, ""))
            for name, body in self._prompts.bodies.items()
            if name not in replies.by_id and name not in waiting
        }

    def standing(self, problems: Sequence[str] = ()) -> BatchProgress:
        answered = len(self.replies().by_id)
        running = sum(len(one["ids"]) for one in self.running)
        return BatchProgress(answered, running, len(self.to_submit()), problems)


@dataclass(frozen=True, slots=True)
class Payment:
    """Who pays for the batches of a run, at the list price, within what limits."""

    run: RunDir
    payee: Payee
    reply_tokens: int
    price: Price | None = None
    limits: SpendingLimits = field(default_factory=SpendingLimits)

    def forecast(self, bodies: Iterable[JsonObject]) -> BatchForecast:
        sizes = [tokens_at_least_one(_characters(body)) for body in bodies]
        return BatchForecast(len(sizes), sum(sizes), self.reply_tokens * len(sizes), self._price)

    def require_room(self, wanted: Sequence[UsageRecord]) -> None:
        """Raise `BudgetSpent` if these usages would cost more than is left of the budget."""
        meter = Meter(self.payee, self._price)
        for usage in wanted:
            meter.spent.add(TokenUsage(**usage))
        Budget(self.limits, [*all_meters(self._manifest(), ()), meter]).require_room()

    def pay(self, spent: TokenUsage) -> None:
        """Write a batch's usage into the run's manifest, where other commands count it."""
        manifest = self._manifest()
        meter = Meter(self.payee, self._price)
        meter.spent.add(spent)
        if self.payee == "assistant":
            manifest.set_price(self._price)
        manifest.begin("batch")
        manifest.tick(**account_of([meter]))
        manifest.end()

    @property
    def _price(self) -> Price | None:
        return None if self.price is None else self.price.of_batch()

    def _manifest(self) -> Manifest:
        manifest = load_manifest(self.run)
        if manifest is None:
            raise UsageError(f"--out {self.run.path}: there is no run in it: export prompts first")
        return manifest


def submit(folder: BatchFolder, endpoint: Endpoint, payment: Payment) -> BatchProgress:
    """Send the prompts that wait to be submitted; raises `BudgetSpent` before anything is sent."""
    return asyncio.run(_submit(folder, endpoint, payment))


def collect(
    folder: BatchFolder, endpoint: Endpoint, payment: Payment, *, wait: float, pause: float
) -> BatchProgress:
    """Watch the running batches for at most `wait` seconds, with a check every `pause` seconds, and
    fetch the results of batches that have ended.
    """
    return asyncio.run(_collect(folder, endpoint, payment, wait, pause))


async def _submit(folder: BatchFolder, endpoint: Endpoint, payment: Payment) -> BatchProgress:
    async with _way(endpoint, _AGAIN) as patient, _way(endpoint, _ONCE) as hasty:
        await _find_begun(folder, patient)
        parts = list(_parts(folder.to_submit()))
        forecasts = [_usage(payment.forecast(part.values())) for part in parts]
        payment.require_room([*(one["forecast"] for one in folder.running), *forecasts])
        for part, forecast in zip(parts, forecasts, strict=True):
            file = await _upload(patient, part)
            begun = SentBatch(
                tag=secrets.token_hex(12),
                ids=list(part),
                batch="",
                status="begun",
                forecast=forecast,
            )
            folder.note(begun)
            made = await hasty.request("POST", "/v1/batches", parse_object, _wanted(file, begun))
            folder.note(_known(begun, made))
    return folder.standing()


async def _collect(
    folder: BatchFolder, endpoint: Endpoint, payment: Payment, wait: float, pause: float
) -> BatchProgress:
    deadline = time.monotonic() + wait
    problems: list[str] = []
    async with _way(endpoint, _AGAIN) as transport:
        await _find_begun(folder, transport)
        while True:
            for one in folder.running:
                problems += await _look_after(folder, transport, payment, one)
            if not folder.running or time.monotonic() + pause > deadline:
                break
            await asyncio.sleep(pause)
    waiting = folder.to_submit()
    failed = folder.replies().failed
    said = Counter(why for name, why in failed.items() if name in waiting)
    problems += [f"{times} requests: {why}" for why, times in said.most_common()]
    return folder.standing(problems)


async def _find_begun(folder: BatchFolder, transport: Transport) -> None:
    """Look up, by their tags, the batches whose making was interrupted; those that the provider
    does not know were never made and count as failed."""
    begun = [one for one in folder.running if not one["batch"]]
    known = await _tagged(transport) if begun else {}
    for one in begun:
        made = known.get(one["tag"])
        folder.note(one | {"status": "failed"} if made is None else _known(one, made))


async def _tagged(transport: Transport) -> dict[str, JsonObject]:
    """All of the account's batches at the provider, by their tags."""
    found: dict[str, JsonObject] = {}
    after = ""
    while True:
        page = await transport.request("GET", f"/v1/batches?limit=100{after}", parse_object)
        for one in page["data"]:
            found[str((one.get("metadata") or {}).get(_TAG))] = one
        if not page.get("has_more") or not page["data"]:
            return found
        after = f"&after={page['data'][-1]['id']}"


async def _look_after(
    folder: BatchFolder, transport: Transport, payment: Payment, batch: SentBatch
) -> list[str]:
    """Check a batch, and fetch its results if it has ended. Returns why it failed as a whole, if it
    did."""
    now = await transport.request("GET", f"/v1/batches/{batch['batch']}", parse_object)
    after = _known(batch, now)
    if after["status"] in _ENDED:
        files = filter(None, (now.get("output_file_id"), now.get("error_file_id")))
        texts = [await _content(transport, str(file)) for file in files]
        folder.keep_results(batch, "".join(texts))
        spent = _spent("".join(texts))
        payment.pay(spent)
        after["spent"] = _record(spent)
    if after != batch:
        folder.note(after)
    told = (now.get("errors") or {}).get("data") or []
    return [f"batch {batch['batch']}: {one.get('message', one)}" for one in told]


def _characters(body: JsonObject) -> int:
    return sum(len(message_text(message)) for message in body["messages"])


def _way(endpoint: Endpoint, retry: RetryPolicy) -> Transport:
    return Transport(replace(endpoint, retry=retry))


def _parts(bodies: Mapping[str, JsonObject]) -> Iterator[dict[str, JsonObject]]:
    """The requests of each batch: of one model, and no more than a batch may hold."""
    parts: dict[str, dict[str, JsonObject]] = {}
    sizes: Counter[str] = Counter()
    for name, body in bodies.items():
        model = str(body.get("model"))
        size = len(json.dumps(body))
        part = parts.setdefault(model, {})
        if part and (len(part) == _MOST_REQUESTS or sizes[model] + size > _MOST_BYTES):
            yield part
            part = parts[model] = {}
            sizes[model] = 0
        part[name] = body
        sizes[model] += size
    yield from filter(None, parts.values())


async def _upload(transport: Transport, part: Mapping[str, JsonObject]) -> str:
    """Upload these requests as a file; returns the file's id."""
    lines = (
        json.dumps({"custom_id": name, "method": "POST", "url": _ROUTE, "body": body})
        for name, body in part.items()
    )
    file = ("batch.jsonl", "".join(f"{line}\n" for line in lines).encode(), "application/jsonl")
    body = {"purpose": "batch"}
    reply = await transport.exchange("POST", "/v1/files", body, files={"file": file})
    return str(parse_object(reply.json())["id"])


async def _content(transport: Transport, file: str) -> str:
    text = (await transport.exchange("GET", f"/v1/files/{file}/content")).text
    return text if text.endswith("\n") or not text else f"{text}\n"


def _wanted(file: str, batch: SentBatch) -> JsonObject:
    return {
        "input_file_id": file,
        "endpoint": _ROUTE,
        "completion_window": "24h",
        "metadata": {_TAG: batch["tag"]},
    }


def _known(batch: SentBatch, told: JsonObject) -> SentBatch:
    return batch | {"batch": str(told["id"]), "status": str(told["status"])}


def _usage(forecast: BatchForecast) -> UsageRecord:
    tokens = (forecast.prompt_tokens, forecast.completion_tokens)
    return _record(TokenUsage(forecast.requests, forecast.requests, *tokens))


def _record(usage: TokenUsage) -> UsageRecord:
    return cast(UsageRecord, asdict(usage))


def _spent(results: str) -> TokenUsage:
    """The usage of the requests that were answered."""
    spent = TokenUsage()
    for line in results.splitlines():
        body = ((json.loads(line).get("response") or {}).get("body")) or {}
        usage = body.get("usage")
        if usage:
            prompt, completion = usage["prompt_tokens"], usage["completion_tokens"]
            spent.add(TokenUsage(1, 0, prompt, completion))
    return spent
