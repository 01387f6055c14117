"""The questions that a run is about: known at once, or, of a large file, while it already runs."""

from collections.abc import Callable, Iterator

from harness.datasets.dataset import Dataset
from harness.datasets.questions import Question
from harness.datasets.selection import Filters, select, select_gradually
from harness.runs.digest import QuestionDigest
from harness.runs.manifest import Manifest
from harness.runs.run_dir import QUESTIONS, RunDir


class Selected:
    """The selection of one run; its lines are in `questions.jsonl` once it is settled."""

    def __init__(
        self, dataset: Dataset, filters: Filters, manifest: Manifest, run_dir: RunDir
    ) -> None:
        self._dataset = dataset
        self._filters = filters
        self._manifest = manifest
        self._run_dir = run_dir
        self._all: list[QuestionDigest] | None = None
        if manifest.is_settled and run_dir.has(QUESTIONS):
            lines = run_dir.by_question(QUESTIONS).values()
            self._all = [QuestionDigest.from_json(line) for line in lines]
        elif dataset.is_listed or filters.per_type is not None:
            self.settle()

    @property
    def is_settled(self) -> bool:
        """Whether all are known."""
        return self._all is not None

    @property
    def all(self) -> list[QuestionDigest]:
        """All of them, however long it takes to find them."""
        return self.settle() if self._all is None else self._all

    def wait(self) -> None:
        """Until all outlines of the data are there, or what is wrong with them."""
        self._dataset.outlines  # noqa: B018

    def settle(self) -> list[QuestionDigest]:
        """Find all, refuse what is wrong with data or filters, write them down."""
        outlines = self._dataset.outlines
        chosen = select(outlines, self._filters)
        lines = {question.question_id: question.to_json() for question in chosen}
        lines |= self._run_dir.by_question(QUESTIONS)  # those that were read meanwhile
        self._run_dir.replace_lines(QUESTIONS, lines.values())
        self._manifest.settle_selection(questions=len(outlines), selected=len(chosen))
        self._all = chosen
        return chosen

    def histories(self, is_wanted: Callable[[str], bool]) -> Iterator[list[Question]]:
        """The selected questions with wanted ids, those of one history together."""
        if self._all is not None:
            ids = {q.question_id for q in self._all if is_wanted(q.question_id)}
            yield from self._dataset.histories(ids)
            return
        for outline in select_gradually(self._dataset.listed, self._filters):
            if is_wanted(outline.question_id):
                yield list(self._dataset.read({outline.question_id}))
