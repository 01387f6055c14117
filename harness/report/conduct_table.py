"""The assistant's conduct as a table: what was found out about it before and during the run."""

from collections.abc import Mapping
from typing import Any

from harness.report.table import Table


def conduct_tables(report: Mapping[str, Any]) -> list[Table]:
    """Mode, profile and every finding; nothing for reports of other systems' answers."""
    conduct = report.get("conduct")
    if not conduct or not report["mode"]:
        return []
    approach = conduct["approach"] or {}
    rows = [("mode", report["mode"])]
    if profile := approach.get("profile"):  # older runs kept none
        rows.append(("profile", f"{profile['name']} {profile['hash']}"))
    rows += [("finding", sentence) for sentence in conduct["diagnosis"]]
    requests, spent = conduct["requests"], conduct["spent"]
    if requests:
        rows.append(("requests", f"{requests['sent']} sent, repeated ones included"))
    if spent.get("calls"):
        told = f"{spent['prompt_tokens']:,} prompt, {spent['completion_tokens']:,} completion"
        rows.append(("tokens of its chat calls", told))
    if (dollars := report["cost"]["assistant_usd"]) is not None:
        rows.append(("cost, US dollars", f"{dollars:.4f}"))
    note = (
        "Findings come from a short history of the harness's own, told and asked years ago by its "
        "dates, and from counting requests; the answers are in the manifest."
    )
    shown = note if conduct["probes"] else ""
    return [Table("The assistant", ("", ""), rows, shown, in_words=True)]
