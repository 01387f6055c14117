"""Who was paid what in a run directory: kept with every command in its manifest."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from harness.records.manifest import Manifest, load_manifest
from harness.records.run_dir import RunDir
from harness.records.schema import InvocationDetails, ManifestData, PriceRecord, UsageRecord
from harness.spending import Meter, Payee, Price, Usage

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
    """What the manifest keeps of meters in one command; an assistant's price has its own place."""
    account: InvocationDetails = {}
    for meter in meters:
        account[_SPENT[meter.payee]] = _record(meter.spent)
        if meter.payee in _PRICES and meter.price is not None:
            prompt, completion = meter.price.prompt, meter.price.completion
            account[_PRICES[meter.payee]] = PriceRecord(prompt=prompt, completion=completion)
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


def judging_spent(manifest: ManifestData) -> UsageRecord | None:
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
    return _record(total) if spent else None


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
            spent = Usage(**invocation[_SPENT[payee]])
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


def _record(usage: Usage) -> UsageRecord:
    return UsageRecord(
        calls=usage.calls,
        estimated_calls=usage.estimated_calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
    )
