"""ConvoMem: facts of user or assistant, changing facts, preferences, connections, abstention.

The layout is that of SalesforceAIResearch/ConvoMem (EvidenceItem in its Scala sources): a JSON file
with `evidence_items`, each with `question`, `answer`, `message_evidences` and `conversations` of
`messages`; or records with `evidenceItems` and the `conversations` they share. The category of a
file is not in it but in the name of its folder (`changing_evidence/2_evidence/…`), so the file must
stay in that folder. There are no dates. Evidence is each message with the speaker and words of one
of the `message_evidences`; an entry of these that is not found labels nothing.
"""

from collections.abc import Iterator
from pathlib import Path

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import (
    Entry,
    Sessions,
    a_day_each,
    entries_of,
    just_after,
)
from harness.datasets.questions import Question, Turn, with_evidence
from harness.errors import DatasetError

CATEGORIES = {
    "user_evidence": "user-facts",
    "assistant_facts_evidence": "assistant-facts",
    "changing_evidence": "changing-facts",
    "abstention_evidence": "abstention",
    "preference_evidence": "preferences",
    "implicit_connection_evidence": "implicit-connections",
}


def questions(file: Path) -> Iterator[Question]:
    folder = next((f.name for f in file.absolute().parents if f.name in CATEGORIES), None)
    if folder is None:
        known = ", ".join(CATEGORIES)
        raise DatasetError(
            f"{file}: its category is unknown: keep it in its folder, one of {known}"
        )
    for number, record in enumerate(entries_of(file)):
        if "evidence_items" in record.fields:
            for i, item in enumerate(record.entries("evidence_items")):
                sessions = _sessions(item)
                yield _question(item, CATEGORIES[folder], f"item-{number}-{i}", None, sessions)
        elif "evidenceItems" in record.fields:
            sessions = _sessions(record)
            for i, item in enumerate(record.entries("evidenceItems")):
                name = f"item-{number}-{i}"
                yield _question(item, CATEGORIES[folder], name, f"record-{number}", sessions)
        else:
            raise record.error("evidence_items", "missing, and so is evidenceItems")


def _sessions(holder: Entry) -> Sessions:
    told = holder.entries("conversations")
    sessions = a_day_each(
        tuple(Turn(m.role("speaker"), m.text("text")) for m in talk.entries("messages"))
        for talk in told
    )
    if not sessions:
        raise holder.error("conversations", "holds no messages")
    return sessions


def _question(
    item: Entry, category: str, name: str, shared: str | None, sessions: Sessions
) -> Question:
    is_abstention = category == "abstention"
    places = [] if is_abstention else _places(item, sessions)
    sessions = with_evidence(sessions, places)
    answer, is_number = item.answer("answer")
    held = dict.fromkeys(sessions[position].session_id for position, _ in places)
    return Question(
        question_id=name,
        question_type=category,
        question=item.text("question"),
        answer=answer,
        answer_is_number=is_number,
        question_date=just_after(sessions),
        sessions=sessions,
        evidence_session_ids=tuple(held),
        is_abstention=is_abstention,
        shared_history=shared,
    )


def _places(item: Entry, sessions: Sessions) -> list[tuple[int, int]]:
    messages = item.entries("message_evidences")
    wanted = {(message.role("speaker"), message.text("text").strip()) for message in messages}
    return [
        (session.position, i)
        for session in sessions
        for i, turn in enumerate(session.turns)
        if (turn.role, turn.content.strip()) in wanted
    ]


CONVOMEM = Benchmark("convomem", reader(questions))
