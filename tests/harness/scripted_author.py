"""What a model that writes questions says: for every prompt of the author a reply that fits it."""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

_DATE = re.compile(r"(\d{4}/\d\d/\d\d) \(\w+\) \d\d:\d\d")


def author_says(messages: Sequence[dict[str, Any]]) -> str:
    """The reply to the first message that is no system's; the same however often it is asked."""
    if messages[0]["role"] == "system":
        return "Rub it with linseed oil once a month."
    prompt = str(messages[0]["content"])
    if prompt.startswith("Invent a person"):
        return "Runa, 41, weaves in a mill at Norrby with 17 looms and a cat."
    if '{"question": "..."' in prompt:
        return json.dumps(_asked(prompt))
    if '{"statements": [' in prompt:
        return json.dumps({"statements": _statements(prompt)})
    if "Does the answer follow?" in prompt:
        return "yes"
    statement = _between("statement", prompt)
    return f"{statement} Could you help me with a note?" if statement else "How do I oil wood?"


def _asked(prompt: str) -> dict[str, str]:
    days = _days(_between("sessions", prompt))
    kind = _between("kind", prompt)
    if kind.startswith("A number of days"):
        return {
            "question": "How long was it from one to the other?",
            "answer": f"{_gap(days)} days",
        }
    if kind.startswith("A count"):
        return {"question": "How many looms?", "answer": str(len(days) - 1)}
    return {"question": "What do I call the newest one?", "answer": f"Gretel {len(days) - 1}"}


def _statements(prompt: str) -> list[str]:
    told = len(_days(_between("sessions", prompt))) - 1
    return [f"My loom Gretel {number} squeaks since today." for number in range(1, told + 1)]


def _gap(days: list[datetime]) -> int:
    return (days[-2] - days[0]).days or (days[-1] - days[0]).days


def _days(text: str) -> list[datetime]:
    return [datetime.strptime(day, "%Y/%m/%d") for day in _DATE.findall(text)]  # noqa: DTZ007


def _between(tag: str, prompt: str) -> str:
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", prompt, re.DOTALL)
    return found[1] if found else ""
