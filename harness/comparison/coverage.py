"""Which evidence only one of two runs had in its prompt, question by question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypedDict

from harness.comparison.runs import ComparedRun
from harness.metrics.retrieval_metrics import (
    CONTEXT_BUDGETS,
    rounds_in_budget,
    tells_context,
    tells_rounds,
)
from harness.records.digest import QuestionDigest, round_name
from harness.records.run_dir import Outcome, outcome_of
from harness.records.schema import EvidenceTurn, RankedLine
from harness.report.table import Columns, Table, table_of

# Where no prompts were recorded, the best rounds that fit this many tokens stand for the prompt.
BUDGET = CONTEXT_BUDGETS[0]
Basis = Literal["prompt", "ranking"]
Kind = Literal["lost", "gained", "both"]
# Whether a run had a piece of evidence, by the place of the evidence.
Held = Mapping[str, bool]


class CoveredEvidence(TypedDict):
    text: str
    first: bool
    second: bool


class CoveredQuestion(TypedDict):
    """A question and which of its evidence each run had. `kind` says whether the second run lost
    evidence, gained some, or both.
    """

    question_id: str
    question_type: str
    kind: Kind
    basis: Basis
    evidence: list[CoveredEvidence]
    outcomes: tuple[Outcome, Outcome]


class KindCount(TypedDict):
    kind: str
    questions: int
    evidence: int
    first_right: int
    second_right: int


class Coverage(TypedDict):
    """`n` counts the questions for which both runs tell whether they had the evidence; `questions`
    lists the ones where the runs differ."""

    n: int
    by_basis: dict[str, int]
    kinds: list[KindCount]
    questions: list[CoveredQuestion]


def coverage_difference(
    first: ComparedRun, second: ComparedRun, questions: Sequence[QuestionDigest]
) -> Coverage:
    told = [one for q in questions if (one := _covered(q, first, second)) is not None]
    differing = [one for one in told if _differs(one)]
    bases = [one["basis"] for one in told]
    groups = {
        "lost": [one for one in differing if one["kind"] == "lost"],
        "gained": [one for one in differing if one["kind"] == "gained"],
        "both": [one for one in differing if one["kind"] == "both"],
        "same": [one for one in told if not _differs(one)],
    }
    return {
        "n": len(told),
        "by_basis": {name: bases.count(name) for name in dict.fromkeys(bases)},
        "kinds": [_counted(kind, members) for kind, members in groups.items()],
        "questions": differing,
    }


def _covered(
    question: QuestionDigest, first: ComparedRun, second: ComparedRun
) -> CoveredQuestion | None:
    basis: Basis = "prompt"
    sides = [_in_prompt(question, run) for run in (first, second)]
    if not all(sides):
        basis = "ranking"
        sides = [_in_ranking(question, run) for run in (first, second)]
    ours, theirs = sides
    texts = _texts(question, first) | _texts(question, second)
    evidence: list[CoveredEvidence] = [
        {"text": texts.get(place, place), "first": ours[place], "second": theirs[place]}
        for place in ours
        if place in theirs
    ]
    if not evidence:
        return None
    return {
        "question_id": question.question_id,
        "question_type": question.question_type,
        "kind": _kind(evidence),
        "basis": basis,
        "evidence": evidence,
        "outcomes": (outcome_of(question, first.lines), outcome_of(question, second.lines)),
    }


def _kind(evidence: Sequence[CoveredEvidence]) -> Kind:
    has_lost = any(one["first"] and not one["second"] for one in evidence)
    has_gained = any(one["second"] and not one["first"] for one in evidence)
    if has_lost and has_gained:
        return "both"
    return "lost" if has_lost else "gained"


def _differs(question: CoveredQuestion) -> bool:
    return any(one["first"] != one["second"] for one in question["evidence"])


def _in_prompt(question: QuestionDigest, run: ComparedRun) -> Held:
    """Whether each evidence turn stood in the recorded prompts."""
    line = run.lines.prompts.get(question.question_id)
    return {_place(turn): turn["found"] for turn in (line["evidence_turns"] if line else ())}


def _place(turn: EvidenceTurn) -> str:
    return f"session {turn['position']}, turn {turn['turn']}, {turn['role']}"


def _texts(question: QuestionDigest, run: ComparedRun) -> dict[str, str]:
    """The place and the beginning of each piece of evidence, by place, where it is known."""
    begins = zip(question.evidence_rounds, question.evidence_begins, strict=False)
    texts = {f"round {name}": f"round {name}: {text}" for name, text in begins}
    line = run.lines.prompts.get(question.question_id)
    for turn in line["evidence_turns"] if line else ():
        if "text" in turn:
            texts[_place(turn)] = f"{_place(turn)}: {turn['text']}"
    return texts


def _in_ranking(question: QuestionDigest, run: ComparedRun) -> Held:
    """Whether each evidence round (or session, where no round is labelled) fits the budget."""
    line = run.lines.retrieval.get(question.question_id)
    if line is None or question.is_abstention or not tells_context(line):
        return {}
    return dict(_ranked(question, line))


def _ranked(question: QuestionDigest, line: RankedLine) -> Iterator[tuple[str, bool]]:
    fitting = rounds_in_budget(line, BUDGET)
    if not question.evidence_rounds or not tells_rounds(line):
        sessions = {item["session_id"] for item in fitting}
        yield from ((f"session {name}", name in sessions) for name in question.evidence_session_ids)
        return
    rounds = {round_name(item["position"], item["round_index"]) for item in fitting}
    yield from ((f"round {name}", name in rounds) for name in question.evidence_rounds)


def _counted(kind: str, members: Sequence[CoveredQuestion]) -> KindCount:
    return {
        "kind": kind,
        "questions": len(members),
        "evidence": sum(e["first"] != e["second"] for one in members for e in one["evidence"]),
        "first_right": sum(one["outcomes"][0] == "yes" for one in members),
        "second_right": sum(one["outcomes"][1] == "yes" for one in members),
    }


_KINDS = {
    "lost": "only base has some",
    "gained": "only run has some",
    "both": "each has some of its own",
    "same": "the same",
}
_COUNTS: Columns = {
    "evidence in the prompt": lambda cell: _KINDS[cell["kind"]],
    "questions": lambda cell: str(cell["questions"]),
    "pieces that differ": lambda cell: str(cell["evidence"]),
    "base right": lambda cell: str(cell["first_right"]),
    "run right": lambda cell: str(cell["second_right"]),
}


def coverage_table(item: Mapping[str, Any]) -> Table:
    """The table that counts questions by which run had evidence that the other run lacked."""
    found: Coverage = item["coverage"]
    note = f"{found['n']} questions with evidence of which both runs tell."
    if ranked := found["by_basis"].get("ranking"):
        note += (
            f" Of {ranked} no prompts were recorded (harness context): the best rounds within "
            f"{BUDGET:,} tokens stand for them."
        )
    title = f"Coverage, {item['second']} against {item['first']}"
    return table_of(title, found["kinds"] if found["n"] else (), _COUNTS, note)


def covered_questions_table(item: Mapping[str, Any], *, is_detail: bool = True) -> Table:
    """The table of the pieces of evidence that only one run had."""
    found: Coverage = item["coverage"]
    rows = [
        (
            one["question_id"],
            one["question_type"],
            evidence["text"],
            item["first"] if evidence["first"] else item["second"],
            " → ".join(one["outcomes"]),
        )
        for one in found["questions"]
        for evidence in one["evidence"]
        if evidence["first"] != evidence["second"]
    ]
    header = ("question", "type", "evidence", "only in", "verdicts")
    title = f"Evidence that only one had, {item['second']} against {item['first']}"
    return Table(title, header, rows, is_detail=is_detail, in_words=True)
