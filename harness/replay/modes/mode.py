"""What every mode can do with one question and its history."""

from typing import Any, NamedTuple, Protocol

from harness.datasets.questions import Question


class Asked(NamedTuple):
    """The line for `hypotheses.jsonl`, and one for `retrieval.jsonl` where an answer is looked
    through for its sources.
    """

    hypothesis: dict[str, Any]
    retrieval: dict[str, Any] | None = None


class Mode(Protocol):
    """Takes questions through the assistant under their opaque names. Methods may raise the errors
    of `harness.errors`; each returned object is a line of the run directory.
    """

    searches: bool
    """Whether `retrieve` can be asked for rankings."""
    shares_histories: bool
    """Whether one ingested history serves several questions."""

    async def is_ingested(self, question: Question) -> bool:
        """Whether a history that was ingested earlier can be used as it is."""

    async def ingest(self, question: Question) -> dict[str, Any] | None:
        """Bring in the question's history, whole and in order; the line for `ingest.jsonl`, None
        where nothing is brought in.
        """

    async def retrieve(self, question: Question) -> dict[str, Any]:
        """Search an ingested history; the line for `retrieval.jsonl`."""

    async def ask(self, question: Question) -> Asked:
        """Ask the question of an ingested history."""

    async def forget(self, question: Question) -> None:
        """Delete the history's user from the assistant, where it can."""
