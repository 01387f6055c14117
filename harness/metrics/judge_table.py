"""How far a run's judge can be believed: controls, a second judge, and what judging took."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from harness.judges.controls import KINDS
from harness.records.digest import QuestionDigest
from harness.records.schema import ControlLine, JudgeRecord, RubricScores, VerdictLine
from harness.statistics.intervals import Mean, Share, proportion


class Accepted(Share):
    """Controls of one kind that pass."""

    unscored: int


class SecondJudge(TypedDict):
    """Two judges' verdicts crossed."""

    judge: str
    judge_hash: str
    n: int
    agreement: Share
    second_passes: Share
    only_first_passes: list[str]
    only_second_passes: list[str]


class JudgeTokens(TypedDict):
    """What judging took."""

    calls: int
    prompt_tokens: int
    completion_tokens: int


def controls_table(lines: Sequence[ControlLine]) -> dict[str, Accepted] | None:
    """The share of each kind of control that passes, among those with a readable verdict; None
    where none were judged.

    Only `reference` should pass.
    """
    if not lines:
        return None
    return {
        kind: _accepted([line for line in lines if line["control"] == kind])
        for kind in KINDS
        if any(line["control"] == kind for line in lines)
    }


def second_judge_table(
    judge: JudgeRecord | None,
    first: Mapping[str, VerdictLine],
    second: Mapping[str, VerdictLine],
) -> SecondJudge | None:
    """Both judges' verdicts crossed, over questions that both could judge; None without one."""
    if judge is None:
        return None
    pairs = {
        key: (first[key]["verdict"], line["verdict"])
        for key, line in second.items()
        if key in first and None not in (first[key]["verdict"], line["verdict"])
    }
    said = list(pairs.values())
    return {
        "judge": judge["id"],
        "judge_hash": judge["hash"],
        "n": len(said),
        "agreement": proportion(sum(a == b for a, b in said), len(said)),
        "second_passes": proportion(sum(b == "yes" for _, b in said), len(said)),
        "only_first_passes": sorted(k for k, pair in pairs.items() if pair == ("yes", "no")),
        "only_second_passes": sorted(k for k, pair in pairs.items() if pair == ("no", "yes")),
    }


def judge_tokens(lines: Iterable[VerdictLine]) -> JudgeTokens:
    """What judging took, as far as the model's server counted it; replies from the cache count."""
    kept = list(lines)
    return {
        "calls": sum(line.get("calls", 0) for line in kept),
        "prompt_tokens": sum(line.get("prompt_tokens", 0) for line in kept),
        "completion_tokens": sum(line.get("completion_tokens", 0) for line in kept),
    }


def _accepted(lines: Sequence[ControlLine]) -> Accepted:
    scored = [line for line in lines if line["verdict"] is not None]
    passed = sum(line["verdict"] == "yes" for line in scored)
    return {**proportion(passed, len(scored)), "unscored": len(lines) - len(scored)}


Scorer = Literal["fractional", "official"]
SCORERS: tuple[Scorer, ...] = ("fractional", "official")
Scored = dict[str, Mean]


class RubricTable(TypedDict):
    """Mean scores; `averaged` is the mean over types, as papers print it."""

    overall: Scored
    averaged: Scored
    by_type: dict[str, Scored]
    scored: Scored
    without_scores: int


def rubric_table(
    questions: Sequence[QuestionDigest], verdicts: Mapping[str, VerdictLine]
) -> RubricTable | None:
    """Means over all selected questions, where a question without scores (missing, unscored)
    counts 0, and over the `scored` ones; None where no verdict has scores.
    """
    known = {key: line["rubric"] for key, line in verdicts.items() if "rubric" in line}
    if not known:
        return None
    rows: list[tuple[str, Mapping[str, float]]] = [
        (q.question_type, _scores(known.get(q.question_id))) for q in questions
    ]
    types = sorted({kind for kind, _ in rows})
    by_type = {kind: _means(row for name, row in rows if name == kind) for kind in types}
    present = [q for q in questions if q.question_id in known]
    return {
        "overall": _means(row for _, row in rows),
        "averaged": {
            scorer: _mean([by_type[kind][scorer]["value"] or 0.0 for kind in types])
            for scorer in SCORERS
        },
        "by_type": by_type,
        "scored": _means(_scores(known[q.question_id]) for q in present),
        "without_scores": len(questions) - len(present),
    }


def _scores(line: RubricScores | None) -> dict[str, float]:
    return {scorer: line[scorer] if line else 0.0 for scorer in SCORERS}


def _means(rows: Iterable[Mapping[str, float]]) -> Scored:
    known = list(rows)
    return {scorer: _mean([row[scorer] for row in known]) for scorer in SCORERS}


def _mean(values: Sequence[float]) -> Mean:
    return {"value": sum(values) / len(values) if values else None, "n": len(values)}
