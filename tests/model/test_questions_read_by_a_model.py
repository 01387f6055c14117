"""Questions read by a model that is slow and copies its prompt: its days are days, or rules read
the question."""

from datetime import date

import httpx
import pytest
from calls import chat, record

NOW = "2023-05-21T09:00:00Z"


@pytest.mark.parametrize(
    "question", ["Where did I run yesterday?", "What is my cat called?", "And in last March?"]
)
def test_a_range_of_days_or_the_rules(understanding: httpx.Client, question: str) -> None:
    user = f"reader of {question}"
    record(understanding, user, "s", "I ran in Ghent.", "Ok.", timestamp="2023-05-20T10:00:00Z")
    metadata = {"memory": "read_only", "memory_debug": "1", "timestamp": NOW}
    reply = chat(understanding, user, question, metadata=metadata)
    trace = reply.json()["memory"]
    read, found = trace["understanding"], trace["time_range"]
    if read["failure"]:
        assert read["by"] == "rule"
    if found and found["first"] and found["last"]:
        assert date.fromisoformat(found["first"]) <= date.fromisoformat(found["last"])
    # Whatever days it was taken to mean, the one thing that is known is found.
    assert [one["user_text"] for one in trace["data"]] == ["I ran in Ghent."]
