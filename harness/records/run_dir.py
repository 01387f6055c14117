"""A run directory on disk: files of JSON lines that grow, summaries that are replaced whole, and
half-written lines that are dropped; and all of it read back, with the outcome of every question.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast

from harness.errors import UsageError, raising
from harness.records.digest import QuestionDigest
from harness.records.plan import PLAN, KeptPlan, read_plan
from harness.records.schema import (
    AttemptLine,
    ControlLine,
    FailureLine,
    FaultyLine,
    HypothesisLine,
    IngestLine,
    JsonObject,
    PromptLine,
    RankedLine,
    RetrievalLine,
    VerdictLine,
)

L = TypeVar("L", bound=Mapping[str, Any])


class LineFile(str, Generic[L]):
    """The name of a file of lines of one kind."""


MANIFEST = "manifest.json"
QUESTIONS = LineFile[JsonObject]("questions.jsonl")  # each a `QuestionDigest`
HYPOTHESES = LineFile[HypothesisLine]("hypotheses.jsonl")
ATTEMPTS = LineFile[AttemptLine]("attempts.jsonl")
INGEST = LineFile[IngestLine]("ingest.jsonl")
RETRIEVAL = LineFile[RetrievalLine]("retrieval.jsonl")
VERDICTS = LineFile[VerdictLine]("verdicts.jsonl")
PROMPTS = LineFile[PromptLine]("prompts.jsonl")
SECOND_VERDICTS = LineFile[VerdictLine]("second_verdicts.jsonl")
CONTROLS = LineFile[ControlLine]("controls.jsonl")
FAILURES = LineFile[FailureLine]("failures.jsonl")
DOSSIER = LineFile[FaultyLine]("dossier.jsonl")
JUDGE_REPLIES = "judge_replies"
REPORT_JSON = "report.json"
REPORT_MARKDOWN = "report.md"
REPORT_HTML = "report.html"
QUESTIONS_CSV = "questions.csv"
# A lone surrogate in an error message must not stop a run; this writes its JSON escape.
_UNENCODABLE = "backslashreplace"


class RunDir:
    """The files of one run. Lines are flushed one by one; a reader takes the last line of each
    question.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._repaired: set[str] = set()

    def create(self) -> None:
        """Make the folder; raises `UsageError` where that is not possible."""
        with raising(UsageError, f"--out {self.path}: cannot be made"):
            self.path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Hold the directory against other processes; raises `UsageError` where one has it.

        Two replays of one run would empty and fill the same users and undo each other's work.
        """
        with (self.path / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UsageError(
                    f"another harness run is using {self.path}: wait for it, stop it, "
                    "or choose another --out"
                ) from error
            yield

    def append(self, name: LineFile[L], record: L) -> None:
        """Add one line and hand it to the operating system before returning."""
        if name not in self._repaired:
            self._drop_half_line(name)
            self._repaired.add(name)
        line = json.dumps(record, ensure_ascii=False) + "\n"
        with (self.path / name).open("a", encoding="utf-8", errors=_UNENCODABLE) as file:
            file.write(line)

    def records(self, name: LineFile[L], key: str = "question_id") -> list[L]:
        """Every whole line in order; a half line at the end counts as never written.

        Raises `UsageError` for a line without text under `key`.
        """
        return cast(list[L], read_lines(self.path / name, key))

    def by_question(self, name: LineFile[L]) -> dict[str, L]:
        """The last line of each question, in the order of the first ones."""
        return {record["question_id"]: record for record in self.records(name)}

    def by_history(self, name: LineFile[L]) -> dict[str, L]:
        return {record["history_id"]: record for record in self.records(name, "history_id")}

    def has(self, name: str) -> bool:
        return (self.path / name).exists()

    def replace(self, name: str, text: str) -> None:
        """Write a whole file so that readers see the old one or the new one, nothing between."""
        target = self.path / name
        partial = target.with_name(f".{name}.partial")
        with partial.open("w", encoding="utf-8", errors=_UNENCODABLE) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)

    def replace_lines(self, name: LineFile[L], records: Iterable[L]) -> None:
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        self.replace(name, "".join(lines))

    def read_json(self, name: str) -> Any:
        """A whole JSON file, or None where there is none; `UsageError` when it is damaged."""
        path = self.path / name
        if not path.exists():
            return None
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise UsageError(f"{path}: not a readable JSON file ({error})") from error

    def _drop_half_line(self, name: str) -> None:
        path = self.path / name
        if not path.exists():
            return
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole != len(content):
            os.truncate(path, whole)


def read_lines(path: Path, key: str) -> list[JsonObject]:
    """Whole JSON lines of a file of ours, [] where there is none; `UsageError` if damaged."""
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    records = []
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise UsageError(f"{path}: line {number} is not JSON") from error
        if not isinstance(record, dict) or not isinstance(record.get(key), str):
            raise UsageError(f"{path}: line {number} names no {key}")
        records.append(record)
    return records


Outcome = Literal["yes", "no", "unscored", "missing"]


@dataclass(frozen=True, slots=True)
class RunLines:
    """Everything a run directory holds, each file by question id, `ingests` by history id.

    `retrieval` has the lines with a ranking; `unranked` those of answers that told of none.
    """

    questions: list[QuestionDigest]
    hypotheses: dict[str, HypothesisLine]
    prompts: dict[str, PromptLine]
    retrieval: dict[str, RankedLine]
    verdicts: dict[str, VerdictLine]
    failures: dict[str, FailureLine]
    ingests: dict[str, IngestLine]
    second_verdicts: dict[str, VerdictLine]
    controls: list[ControlLine]
    unranked: dict[str, RetrievalLine] = field(default_factory=dict)
    plan: KeptPlan | None = None
    faulty: dict[str, FaultyLine] = field(default_factory=dict)


def read_run(run_dir: RunDir, *, asks: bool) -> RunLines:
    """Read a run directory; failures of questions that later succeeded are left out.

    `asks` tells that questions are asked in this run: success is then a hypothesis, else a search.
    """
    digests = run_dir.by_question(QUESTIONS).values()
    questions = [QuestionDigest.from_json(line) for line in digests]
    asked = {question.question_id for question in questions}

    def lines_of(name: LineFile[L]) -> dict[str, L]:
        return {key: line for key, line in run_dir.by_question(name).items() if key in asked}

    hypotheses, retrieval, prompts = lines_of(HYPOTHESES), lines_of(RETRIEVAL), lines_of(PROMPTS)
    ranked = ranked_lines(retrieval)
    succeeded = (hypotheses.keys() if asks else retrieval.keys()) | prompts.keys()
    failures = lines_of(FAILURES)
    return RunLines(
        questions=questions,
        hypotheses=hypotheses,
        retrieval=ranked,
        unranked={key: line for key, line in retrieval.items() if key not in ranked},
        verdicts=lines_of(VERDICTS),
        failures={key: line for key, line in failures.items() if key not in succeeded},
        ingests=run_dir.by_history(INGEST),
        prompts=prompts,
        second_verdicts=lines_of(SECOND_VERDICTS),
        controls=run_dir.records(CONTROLS),
        faulty=lines_of(DOSSIER),
        plan=read_plan(run_dir.path / PLAN) if run_dir.has(PLAN) else None,
    )


def ranked_lines(retrieval: Mapping[str, RetrievalLine]) -> dict[str, RankedLine]:
    """The lines of `retrieval.jsonl` that hold a ranking: not every answer tells of one."""
    return {
        key: cast(RankedLine, line)
        for key, line in retrieval.items()
        if line["ranked_sessions"] is not None
    }


def outcome_of(question: QuestionDigest, lines: RunLines) -> Outcome:
    if question.question_id not in lines.hypotheses:
        return "missing"
    line = lines.verdicts.get(question.question_id)
    verdict = line["verdict"] if line else None
    return verdict if verdict in ("yes", "no") else "unscored"
