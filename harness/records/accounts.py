"""Who was paid what in a run directory: kept with every command in its manifest."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.records.manifest import Manifest, load_manifest
from harness.records.run_dir import RunDir
from harness.spending.budget import Meter, Payee
from harness.spending.usage import Price, Usage

_SPENT: dict[Payee, str] = {
    "assistant": "spent",
    "judge": "judge_spent",
    "second_judge": "second_judge_spent",
}
_JUDGES: tuple[Payee, ...] = ("judge", "second_judge")


def account_of(meters: Iterable[Meter]) -> dict[str, Any]:
    """What the manifest keeps of meters in one command; an assistant's price has its own place."""
    account: dict[str, Any] = {}
    for meter in meters:
        account[_SPENT[meter.payee]] = meter.spent.to_json()
        if meter.payee != "assistant" and meter.price is not None:
            account[f"{meter.payee}_price"] = asdict(meter.price)
    return account


def all_meters(manifest: Manifest, present: Iterable[Meter]) -> list[Meter]:
    """This command's meters, which learn what was spent before, and those of earlier commands."""
    meters = {meter.payee: meter for meter in present}
    for payee, name in _SPENT.items():
        before = Usage(**manifest.totals(name))
        if payee in meters:
            meters[payee].before = before
        elif before.calls:
            meters[payee] = Meter(payee, _price(manifest, payee), before)
    return list(meters.values())


def meters_beside(folders: Iterable[Path]) -> Iterator[Meter]:
    """What was spent in other run directories, as far as there are any."""
    for folder in folders:
        manifest = load_manifest(RunDir(folder))
        if manifest is not None:
            yield from all_meters(manifest, ())


def judging_spent(manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """What judges' models were asked; None where no command with a model kept account."""
    spent = [
        Usage(**item[_SPENT[payee]])
        for item in manifest["invocations"]
        for payee in _JUDGES
        if _SPENT[payee] in item
    ]
    total = Usage()
    for one in spent:
        total.add(one)
    return total.to_json() if spent else None


def judging_usd(manifest: Mapping[str, Any]) -> float | None:
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
            spent = Usage(**invocation[_SPENT[payee]])
            price = invocation.get(f"{payee}_price")
            if price is None and spent.calls:
                return None
            dollars += spent.usd(Price(**price)) if price else 0.0
    return round(dollars, 6)


def _price(manifest: Manifest, payee: Payee) -> Price | None:
    if payee == "assistant":
        known = manifest.data.get("price")
    else:
        told = [item.get(f"{payee}_price") for item in manifest.data["invocations"]]
        known = next((price for price in reversed(told) if price), None)
    return None if known is None else Price(**known)
