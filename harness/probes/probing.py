"""Trying an assistant before a run, by the same mode that the run uses."""

from datetime import UTC, datetime
from typing import Any

from harness.errors import AssistantError
from harness.probes.findings import read_answers
from harness.probes.history import make_probe
from harness.replay.modes.mode import Mode


async def probe_assistant(mode: Mode, salt: str) -> dict[str, Any]:
    """Findings for a manifest; an assistant that fails while it is tried leaves its failure."""
    probe = make_probe(salt)
    answers: dict[str, str] = {}
    try:
        ingested: set[str] = set()
        for aspect, question in probe.questions.items():
            if question.history_id not in ingested:
                await mode.ingest(question)
                ingested.add(question.history_id)
            answers[aspect] = (await mode.ask(question)).hypothesis["hypothesis"]
        for aspect in ("name", "stranger"):
            await mode.forget(probe.questions[aspect])
    except AssistantError as error:
        return {"failed": str(error), "answers": answers, "sentences": [f"not tried: {error}"]}
    return read_answers(probe, answers, datetime.now(UTC)).to_json()
