"""The declaration of a data set, which stands beside its reader: how it is opened, judged, scored,
exported and downloaded. `harness.datasets.registry` lists the declarations.
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
    """The data set that a command names: its file, a file (`gold`) that corrects its labels, and
    one with the conversations that its histories are set in.
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
    """One way of judging with a model. `prompts` are all that `choose` may return: files of
    `harness/judges/prompts`.

    With `cleans` a hypothesis is first cut down to its final answer; one equal to a reference
    passes and an empty one fails without a call; and the model is asked not to think. `ours` are
    prompts for which the benchmark has no text. `recommends` are the judge models that the
    benchmark recommends; a model whose name ends in one of these counts as that model.
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
    """The benchmark's own scores of an answer, without a judge. With `types` they apply to any data
    whose questions are all of these types.
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
        """Yield id and answer of each answered question; with `fill` also of the others, empty."""
        for question in self.questions:
            line = self.hypotheses.get(question.question_id)
            if line is not None or self.fill:
                yield question.question_id, str(line["hypothesis"]) if line is not None else ""

    def require_judge(self, kind: str) -> JudgeRecord:
        """Return the judge of the run's verdicts. Raises `UsageError` for a run without verdicts,
        and with `fill`, because no judge has seen the empty answers."""
        if self.judge is None:
            raise UsageError(f"the format {kind} needs verdicts: judge the run first")
        if self.fill:
            raise UsageError(f"--fill-missing: the format {kind} holds only what was judged")
        return self.judge


@dataclass(frozen=True, slots=True)
class OfficialFormat:
    """One official format. `records` makes its lines. Written `whole` they are one list, as a
    `folder` each is a chat's file, and with a `summary` one lies beside the lines. `require`
    refuses a run on other data than the `benchmark`'s: on other `types`, or on another `dataset`.
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
    """A published file. `key` names it on the command line; size and hash are None where they are
    not known. A file that `is_optional` may be missing at the source.
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
    """One data set. `judge` is the judge without a model that scores it; `rubrics` are for judges
    with a model. A pool has histories but no questions.
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
    """Return an opener for a data set whose file is read again each time; `files` lists all files
    that are read where there may be more than one.
    """

    def opens(given: Given) -> Dataset:
        return read_each_time(given.name, given.path, reads, files)

    return opens
