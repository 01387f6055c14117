"""The manifest of a run: enough to repeat the run, and to refuse to continue a different one in its
place; and what each command spent on whom.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Unpack, cast

from harness.errors import RunMismatch
from harness.records.run_dir import MANIFEST, RunDir
from harness.records.schema import (
    AssistantRecord,
    Invocation,
    InvocationDetails,
    JsonObject,
    JudgeRecord,
    ManifestData,
    PlanRecord,
    PriceRecord,
    UsageRecord,
)
from harness.spending import Meter, Payee, Price, TokenUsage

FORMAT = 2
# The place where a server listens and keeps its files does not change what it answers.
PLACE_SETTINGS = frozenset({"host", "port", "data_dir", "log_level", "config"})


# Figures that every command adds to.
Counted = Literal["spent", "judge_spent", "second_judge_spent", "requests"]


class Manifest:
    """`manifest.json` of one run directory, saved whole after every change."""

    def __init__(self, run_dir: RunDir, data: ManifestData) -> None:
        self._run_dir = run_dir
        self.data = data
        self._clock = time.monotonic()
        self._is_open = False

    @property
    def salt(self) -> str:
        """What makes this run's opaque ids differ from those of other runs."""
        return str(self.data["salt"])

    @property
    def wall_seconds(self) -> float:
        return float(sum(item["seconds"] for item in self.data["invocations"]))

    @property
    def asks(self) -> bool:
        """Whether questions were asked in this run, not only searched for."""
        return any(item["stage"] == "replay" for item in self.data["invocations"])

    def settle_data(self, sha256: str, edition: str | None) -> None:
        """Write down the hash of a large data file once it is known, and what edition it is known
        as, or refuse another file.
        """
        known = self.data["dataset"]["sha256"]
        if known is not None and known != sha256:
            raise self.mismatch("data file", f"{known[:12]} then, {sha256[:12]} now")
        self.data["dataset"]["sha256"] = sha256
        self.data["dataset"]["edition"] = edition
        self.save()

    @property
    def is_settled(self) -> bool:
        return self.data["selected"] is not None

    def settle_selection(self, *, questions: int, selected: int) -> None:
        """Write down how many questions the data holds, and how many of them are selected."""
        self.data["dataset"]["questions"] = questions
        self.data["selected"] = selected
        self.save()

    def require_mode(self, mode: str, approach: Mapping[str, Any]) -> None:
        """Fix how histories are replayed, or refuse another way."""
        self._require("mode", mode)
        self._require("approach", dict(approach))

    def set_probes(self, probes: Mapping[str, Any]) -> None:
        self.data["probes"] = dict(probes)
        self.save()

    def set_price(self, price: Price | None) -> None:
        """Keep what the assistant's tokens cost; a price may be corrected later."""
        if price is not None:
            self.data["price"] = cast(PriceRecord, asdict(price))
            self.save()

    def set_forgotten(self, forgotten: bool) -> None:
        """Keep whether the assistant was told to forget the histories of the run."""
        self.data["forgotten"] = forgotten
        self.save()

    def adopt_plan(self, plan: PlanRecord) -> None:
        """Fix the plan of a run that is about to begin, or refuse another one."""
        known = self.data.get("plan")
        if known is None and self.data["invocations"]:
            raise self.mismatch("plan", "it was begun without one")
        if known is not None and known["sha256"] != plan["sha256"]:
            told = f"{known['sha256'][:12]} then, {plan['sha256'][:12]} now"
            raise self.mismatch("plan", told)
        self.data["plan"] = known or plan
        self.save()

    def totals(self, name: Counted) -> dict[str, int]:
        total: dict[str, int] = {}
        for invocation in self.data["invocations"]:
            for key, value in cast(Mapping[str, int], invocation.get(name, {})).items():
                total[key] = total.get(key, 0) + (value or 0)
        return total

    def require_assistant(self, assistant: AssistantRecord) -> None:
        """Fix the assistant, or refuse another one; the URL alone may change."""
        known = self.data.get("assistant")
        if known is not None:
            was = {"model": known["model"], "version": _stable(known["version"])}
            now = {"model": assistant["model"], "version": _stable(assistant["version"])}
            if was != now:
                raise self.mismatch("assistant", difference(was, now))
        self.data["assistant"] = assistant
        self.save()

    def set_judges(self, judge: JudgeRecord, second: JudgeRecord | None) -> None:
        self.data["judge"] = judge
        self.data["second_judge"] = second
        self.save()

    def begin(self, stage: str, **details: Unpack[InvocationDetails]) -> None:
        """Open an invocation; `tick` and `end` bring its seconds up to date."""
        self._clock = time.monotonic()
        self._is_open = True
        started = Invocation(stage=stage, started_at=now(), seconds=0.0)
        self.data["invocations"].append(started | cast(Invocation, details))
        self.save()

    def tick(self, **details: Unpack[InvocationDetails]) -> None:
        """Bring the open invocation up to date, in case it is killed."""
        seconds = round(time.monotonic() - self._clock, 3)
        invocation = self.data["invocations"][-1]
        invocation["seconds"] = seconds
        invocation.update(cast(Invocation, details))
        self.data["wall_seconds"] = round(self.wall_seconds, 3)
        self.save()

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Close the open invocation at the end, whatever comes."""
        try:
            yield
        finally:
            self.end()

    def end(self) -> None:
        """Close the open invocation, if one was begun."""
        if self._is_open:
            self.data["invocations"][-1]["ended_at"] = now()
            self.tick()
            self._is_open = False

    def save(self) -> None:
        text = json.dumps(self.data, ensure_ascii=False, indent=2) + "\n"
        self._run_dir.replace(MANIFEST, text)

    def _require(self, name: Literal["mode", "approach"], value: Any) -> None:
        known = self.data.get(name)
        if known is not None and known != value:
            raise self.mismatch(name, f"{known!r} then, {value!r} now")
        self.data[name] = value
        self.save()

    def mismatch(self, name: str, difference: str) -> RunMismatch:
        """The refusal to continue this directory, with what to do."""
        return RunMismatch(
            f"{self._run_dir.path} holds a run with another {name} ({difference}): "
            "choose another --out, or repeat the command that began it"
        )


def load_manifest(run_dir: RunDir) -> Manifest | None:
    """The manifest of an existing run, or None; `RunMismatch` for one of another format."""
    data = run_dir.read_json(MANIFEST)
    if data is None:
        return None
    _require_format(run_dir, data)
    return Manifest(run_dir, data)


def _require_format(run_dir: RunDir, data: Mapping[str, Any]) -> None:
    made = data.get("format")
    if isinstance(made, str):
        raise RunMismatch(f"{run_dir.path}: holds a run of another kind ({made})")
    if made != FORMAT:
        raise RunMismatch(
            f"{run_dir.path}: made by another version of the harness; use another directory"
        )


def _stable(version: JsonObject | None) -> JsonObject | None:
    if version is None:
        return None
    stable = dict(version)
    settings = stable.get("settings")
    if isinstance(settings, dict):
        stable["settings"] = {k: v for k, v in settings.items() if k not in PLACE_SETTINGS}
    return stable


def difference(was: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    for name in sorted({*was, *now}):
        before, after = was.get(name), now.get(name)
        if before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            return f"{name}.{difference(before, after)}"
        return f"{name}: {before!r} then, {after!r} now"
    return "no difference"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


_SPENT: dict[Payee, Literal["spent", "judge_spent", "second_judge_spent"]] = {
    "assistant": "spent",
    "judge": "judge_spent",
    "second_judge": "second_judge_spent",
}
_PRICES: dict[Payee, Literal["judge_price", "second_judge_price"]] = {
    "judge": "judge_price",
    "second_judge": "second_judge_price",
}
_JUDGES: tuple[Literal["judge", "second_judge"], ...] = ("judge", "second_judge")


def account_of(meters: Iterable[Meter]) -> InvocationDetails:
    """What a command's record keeps of its meters; the assistant's price is kept with the run."""
    account: InvocationDetails = {}
    for meter in meters:
        account[_SPENT[meter.payee]] = cast(UsageRecord, asdict(meter.spent))
        if meter.payee in _PRICES and meter.price is not None:
            account[_PRICES[meter.payee]] = cast(PriceRecord, asdict(meter.price))
    return account


def all_meters(manifest: Manifest, present: Iterable[Meter]) -> list[Meter]:
    """This command's meters, which learn what was spent before, and those of earlier commands."""
    meters = {meter.payee: meter for meter in present}
    for payee, name in _SPENT.items():
        before = TokenUsage(**manifest.totals(name))
        if payee in meters:
            meters[payee].before = before
        elif before.calls:
            meters[payee] = Meter(payee, _price(manifest, payee), before)
    return list(meters.values())


def meters_beside(folders: Iterable[Path]) -> Iterator[Meter]:
    """The meters of other run directories, of those that hold a run."""
    for folder in folders:
        manifest = load_manifest(RunDir(folder))
        if manifest is not None:
            yield from all_meters(manifest, ())


def judging_spent(manifest: ManifestData) -> UsageRecord | None:
    """The tokens of the judges' models; None where no command with a model recorded any."""
    spent = [
        TokenUsage(**item[_SPENT[payee]])
        for item in manifest["invocations"]
        for payee in _JUDGES
        if _SPENT[payee] in item
    ]
    total = TokenUsage()
    for one in spent:
        total.add(one)
    return cast(UsageRecord, asdict(total)) if spent else None


def judging_usd(manifest: ManifestData) -> float | None:
    """US dollars for what judges' models were asked; None where their price is not known."""
    dollars = 0.0
    for payee in _JUDGES:
        record = manifest.get(payee)
        if not record or record.get("kind", "lexical") == "lexical":
            continue
        asked = [item for item in manifest["invocations"] if _SPENT[payee] in item]
        if not asked:
            return None
        for invocation in asked:
            spent = TokenUsage(**invocation[_SPENT[payee]])
            price = invocation.get(_PRICES[payee])
            if price is None and spent.calls:
                return None
            dollars += spent.usd(Price(**price)) if price else 0.0
    return round(dollars, 6)


def _price(manifest: Manifest, payee: Payee) -> Price | None:
    if payee == "assistant":
        known = manifest.data.get("price")
    else:
        told = [item.get(_PRICES[payee]) for item in manifest.data["invocations"]]
        known = next((price for price in reversed(told) if price), None)
    return None if known is None else Price(**known)
