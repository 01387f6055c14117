"""What a data set declares, all of it beside its reader: how it is opened, judged, scored, exported
and downloaded. `harness.datasets.registry` lists the declarations.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.datasets.dataset import Dataset, read_each_time
from harness.datasets.questions import Question
from harness.errors import UsageError
from harness.records.digest import QuestionDigest
from harness.records.schema import JudgeRecord

Lines = Mapping[str, Mapping[str, Any]]
Records = Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Given:
    """What a command says of a data set: its file, one that corrects its labels, and one with the
    conversations around it.
    """

    name: str
    file: Path | None = None
    gold: Path | None = None
    conversations: Path | None = None

    @property
    def path(self) -> Path:
        if self.file is None:
            raise UsageError(f"--dataset {self.name} needs --file")
        return self.file


@dataclass(frozen=True, slots=True)
class RubricRules:
    """One way of judging with a model. `prompts` are all that `choose` may name: files of
    `harness/judges/prompts`.

    `cleans` tells that a hypothesis is first cut down to its final answer, that one equal to an
    answer passes and an empty one fails without asking, and that the model is asked not to think.
    `ours` are prompts for which the benchmark has no text. `recommends` are the models that the
    benchmark is to be judged by, under any name that ends in theirs.
    """

    name: str
    version: int
    prompts: tuple[str, ...]
    choose: Callable[[QuestionDigest], str]
    cleans: bool = False
    ours: tuple[str, ...] = ()
    recommends: tuple[str, ...] = ()


def or_abstention(answerable: str, unanswerable: str) -> Callable[[QuestionDigest], str]:
    return lambda question: unanswerable if question.is_abstention else answerable


@dataclass(frozen=True, slots=True)
class OfficialMetrics:
    """The benchmark's own scores of an answer, without a judge. With `types` they are those of any
    data whose questions are all of these types.
    """

    name: str
    figures: tuple[str, ...]
    scores: Callable[[QuestionDigest, str], dict[str, float]]
    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answered:
    """A run as an export sees it: lines by question id; `fill` adds empty answers for missing ones,
    `name` is what an export calls the assistant.
    """

    dataset: str
    questions: Sequence[QuestionDigest]
    hypotheses: Lines
    retrieval: Lines = field(default_factory=dict)
    verdicts: Lines = field(default_factory=dict)
    judge: JudgeRecord | None = None
    fill: bool = False
    name: str = "aide_memoire"

    @property
    def model_judge(self) -> JudgeRecord | None:
        """The judge, where a language model gave the verdicts."""
        is_model = self.judge is not None and self.judge.get("kind") == "model"
        return self.judge if is_model else None

    def answers(self) -> Iterator[tuple[str, str]]:
        """Question id and answer of each answered question; with `fill` of each."""
        for question in self.questions:
            line = self.hypotheses.get(question.question_id)
            if line is not None or self.fill:
                yield question.question_id, str(line["hypothesis"]) if line is not None else ""

    def require_judge(self, kind: str) -> JudgeRecord:
        """The judge whose verdicts the run holds; refuses a run that was not judged, and empty
        answers that no judge has seen."""
        if self.judge is None:
            raise UsageError(f"the format {kind} needs verdicts: judge the run first")
        if self.fill:
            raise UsageError(f"--fill-missing: the format {kind} holds only what was judged")
        return self.judge


@dataclass(frozen=True, slots=True)
class OfficialFormat:
    """One official format. `records` are its lines, or its list where it is written `whole`; of a
    `folder` each record is a chat's file, and a `summary` lies beside scored lines. A run on other
    data than the `benchmark`'s is refused: on other `types`, or on another data set.
    """

    name: str
    records: Callable[[Answered], Records]
    benchmark: str = ""
    types: Collection[str] = ()
    dataset: str | None = None
    written: Literal["lines", "whole", "folder", "summary"] = "lines"

    def require(self, run: Answered) -> None:
        kinds = {question.question_type for question in run.questions}
        strange = self.types and not kinds <= set(self.types)
        if strange or self.dataset not in (None, run.dataset):
            raise UsageError(f"the format {self.name} is for runs on {self.benchmark}")


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A published file: `key` names it on the command line; size and hash are None where nobody
    has told us. One that `is_optional` may not be published.
    """

    key: str
    dataset: str
    edition: str
    file: str
    url: str
    licence: str
    sha256: str | None = None
    size: int | None = None
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """Published files that belong together under one key; their names begin with folders."""

    key: str
    folder: str
    licence: str
    files: tuple[KnownFile, ...]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One data set. `judge` is the judge without a model that knows how it is scored; `rubrics` are
    those for judges with one. A pool has histories of which nothing is asked.
    """

    name: str
    opens: Callable[[Given], Dataset]
    file: Literal["needed", "optional", "built in"] = "needed"
    takes_gold: bool = False
    takes_conversations: bool = False
    is_pool: bool = False
    is_compiled: bool = False
    """Whether new histories can be made of its sessions."""
    judge: Literal["lexical", "choice", "beam", "graders"] = "lexical"
    rubrics: tuple[RubricRules, ...] = ()
    metrics: OfficialMetrics | None = None
    exports: tuple[OfficialFormat, ...] = ()
    files: tuple[KnownFile, ...] = ()
    folders: tuple[KnownFolder, ...] = ()


def reader(
    reads: Callable[[Path], Iterator[Question]],
    files: Callable[[Path], list[Path]] | None = None,
) -> Callable[[Given], Dataset]:
    """Opens a data set by reading its file again each time; `files` are all that it reads, where
    that is more than one.
    """

    def opens(given: Given) -> Dataset:
        return read_each_time(given.name, given.path, reads, files)

    return opens
