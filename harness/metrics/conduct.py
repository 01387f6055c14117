"""A report's part on the assistant's conduct: probes, requests, spending, cut sessions."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypedDict, get_args

from harness.metrics.retrieval_metrics import SourcesTable
from harness.records.schema import (
    AssistantRecord,
    ContextAccount,
    HypothesisLine,
    JsonObject,
    PriceRecord,
)
from harness.spending import Price, TokenUsage

_Cut = Literal["sessions", "sessions_cut", "sessions_shortened", "tokens_estimate"]
_CUT: tuple[_Cut, ...] = get_args(_Cut)


class ConductTable(TypedDict):
    """Probes, requests, spending and cut sessions; `diagnosis` says the findings in sentences."""

    approach: JsonObject | None
    probes: JsonObject | None
    requests: dict[str, int]
    spent: dict[str, int]
    context: dict[str, int] | None
    diagnosis: list[str]


def conduct_table(
    approach: JsonObject | None,
    probes: JsonObject | None,
    requests: Mapping[str, int],
    spent: Mapping[str, int],
    hypotheses: Iterable[HypothesisLine],
    sources: SourcesTable | None = None,
) -> ConductTable:
    """One block of `report.json`; `diagnosis` holds the sentences for a person, worst first."""
    answers = list(hypotheses)
    contexts = [line["context"] for line in answers if "context" in line]
    elsewhere = sum(line.get("elsewhere", False) for line in answers)
    block: ConductTable = {
        "approach": approach,
        "probes": probes,
        "requests": dict(requests),
        "spent": dict(spent),
        "context": _context(contexts) if contexts else None,
        "diagnosis": [],
    }
    block["diagnosis"] += [*_diagnosis(block), *_sources(sources)]
    if elsewhere:
        said = f"{elsewhere} of {len(answers)} answers are replies to exported prompts"
        block["diagnosis"].append(f"{said}, not those of the assistant's own model")
    return block


def cost_of(spent: Mapping[str, int], price: PriceRecord | None) -> float | None:
    """US dollars, or None where no price or no call is known."""
    if not spent or price is None:
        return None
    return round(TokenUsage(**spent).usd(Price(**price)), 6)


def _context(contexts: list[ContextAccount]) -> dict[str, int]:
    totals: dict[str, int] = {name: sum(item[name] for item in contexts) for name in _CUT}
    cut = sum(1 for item in contexts if item["sessions_cut"] or item["sessions_shortened"])
    return {"questions": len(contexts), "questions_cut": cut, **totals}


def _diagnosis(block: ConductTable) -> list[str]:
    said = list((block["probes"] or {}).get("sentences", []))
    requests = block["requests"]
    sent = requests.get("sent", 0)
    if failed := requests.get("server_errors", 0):
        said.append(f"fails: {_share(failed, sent)} answered with a server error")
    if limited := requests.get("rate_limited", 0):
        said.append(f"limits its rate: {_share(limited, sent)} answered with 429")
    if timeouts := requests.get("timeouts", 0):
        said.append(f"slow: {_share(timeouts, sent)} not answered in time")
    if lost := requests.get("lost", 0):
        said.append(f"drops connections: {_share(lost, sent)} lost")
    spent, context = block["spent"], block["context"]
    if estimated := spent.get("estimated_calls", 0):
        said.append(
            f"tells no usage: tokens of {estimated} of {spent['calls']} calls are estimated"
        )
    if context and context["questions_cut"]:
        said.append(
            f"{context['questions_cut']} of {context['questions']} histories did not fit the "
            f"prompt: {context['sessions_cut']} sessions were cut, oldest first"
        )
    return said


def _sources(sources: SourcesTable | None) -> Iterator[str]:
    """Sentences on how far the retrieval figures can be trusted; `sources` is `sources_table`'s."""
    if sources is None:
        return
    answers, n = sources["answers"], sources["answers"]["n"]
    trouble = f": {sources['problem']}" if sources["problem"] else ""
    if missing := answers["not returned"]:
        yield f"returns no sources with {missing} of {n} answers: their retrieval is not measured"
    if broken := answers["unreadable"]:
        yield f"returns sources that cannot be read with {broken} of {n} answers{trouble}"
    if foreign := answers["unplaced"]:
        yield f"returns sources of {foreign} of {n} answers that fit nothing it was told{trouble}"
    if matched := sources["placed_by"]["text"]:
        yield f"sources are matched by text: {matched} of {sources['returned']}"
    if sources["rounds_unknown"]:
        yield (
            f"sources tell their session and not their round in {sources['rounds_unknown']} of {n} "
            "answers: rounds are not measured there"
        )
    if answers["placed"] and sources["unplaced"]:
        yield (
            f"{sources['unplaced']} of {sources['returned']} sources fit no place of the history: "
            "retrieval may be better than its figures"
        )


def _share(count: int, total: int) -> str:
    return f"{count} of {total} requests ({100 * count / max(1, total):.1f} %)"


def may_search(assistant: AssistantRecord | None) -> bool:
    """Whether the assistant is our own with a language model, which may search memory itself. No
    other assistant needs to explain its answers, which takes time that would be counted as its own.
    """
    settings = ((assistant and assistant["version"]) or {}).get("settings") or {}
    model = settings.get("chat_model")
    return bool(isinstance(model, dict) and model.get("name")) or bool(settings.get("profiles"))


def is_without_model(assistant: AssistantRecord | None) -> bool:
    """Whether the assistant is our own without a language model: no model reads a prompt, and the
    prompt tokens that it counts cost nothing.
    """
    settings = ((assistant and assistant["version"]) or {}).get("settings") or {}
    return "chat_model" in settings and not may_search(assistant)
