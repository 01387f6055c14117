"""An assistant that knows the answers to the lifecycle cases, as far as it was told them: an
OpenAI-compatible chat route, a memory in a file, and one fault to choose.

It keeps every sentence that a user says, under the body field `user` and the day in front of the
text. To a question it looks up what must be said, and says it only if its memory holds exactly what
should be known at that point; otherwise it quotes what it holds. So a fault shows by itself,
through what is in the memory or missing from it.

    life_oracle.py --port P --data-dir D [--fault one of FAULTS]
"""

import argparse
import json
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request

from harness.lab.lifecycle.cases import Ask, Case, Forget, Say, load_cases
from harness.lab.lifecycle.checks import DayCount, Number, On, Wanted
from harness.lab.lifecycle.interfaces import CONFIRMED

FAULTS = (
    "none",
    "forgetful",
    "never-forgets",
    "ignores-time",
    "never-decides",
    "mixes-users",
    "loses-at-restart",
)
NOTHING = "I don't know: you have not told me anything about that."
_DATED = re.compile(r"^\[\w+ (\d{4}-\d\d-\d\d)\] ")


@dataclass(frozen=True)
class Heard:
    """One thing that was said, by the user or as an answer before it, and the day it is kept
    under."""

    text: str
    day: date


class Oracle:
    """The memory and the fault."""

    def __init__(self, fault: str, file: Path | None = None) -> None:
        self.fault = fault
        self._file = file
        self._memory: dict[str, list[Heard]] = {}
        self._meant = {
            step.text: (case, position)
            for case in load_cases().cases
            for position, step in reversed(list(enumerate(case.steps)))
            if isinstance(step, Ask | Forget)
        }
        if file is not None and file.exists():
            kept = json.loads(file.read_text())
            self._memory = {
                user: [Heard(text, date.fromisoformat(day)) for text, day in heard]
                for user, heard in kept.items()
            }

    def reply(self, user: str, messages: list[dict[str, str]]) -> str:
        """What it says to the last message of a chat."""
        texts = [_DATED.sub("", message["content"]) for message in messages]
        found = _DATED.match(messages[-1]["content"])
        today = datetime.now(UTC).date()
        day = date.fromisoformat(found[1]) if found and self.fault != "ignores-time" else today
        if CONFIRMED in texts:
            return "Done."
        if texts[-1] not in self._meant:
            self.hear(user, texts, day)
            return "I see."
        case, position = self._meant[texts[-1]]
        step = case.steps[position]
        if isinstance(step, Forget):
            return self._forget(user, case, step)
        assert isinstance(step, Ask)
        return self._answer(user, case, step, day)

    def hear(self, user: str, texts: Iterable[str], day: date) -> None:
        """Remember what was said on a day."""
        if self.fault == "forgetful":
            return
        memory = self._memory.setdefault(user, [])
        memory += [Heard(text, day) for text in texts if text not in {h.text for h in memory}]

    def _forget(self, user: str, case: Case, step: Forget) -> str:
        gone = {
            t
            for say in case.steps
            if isinstance(say, Say) and say.name in step.of
            for t in say.texts
        }
        if self.fault != "never-forgets":
            memory = self._memory.get(user, [])
            self._memory[user] = [heard for heard in memory if heard.text not in gone]
        return "Shall I really delete that?"

    def _answer(self, user: str, case: Case, asked: Ask, day: date) -> str:
        held = self._held(user, case, asked.as_of)
        for number, step in enumerate(case.steps):
            same = isinstance(step, Ask) and (step.text, step.as_of) == (asked.text, asked.as_of)
            if same and {heard.text for heard in held} == _known(case, number):
                assert isinstance(step, Ask)
                shift = held[-1].day - _last_said(case, number) if held else timedelta()
                since = day - held[-1].day if held else timedelta()
                beside = (*step.expected.former, *step.expected.later)
                return _right(step, shift, since, beside if self.fault == "never-decides" else ())
        said = [f"On {heard.day} you said: {heard.text}" for heard in held]
        return "\n".join(said) or NOTHING

    def _held(self, user: str, case: Case, as_of: date | None) -> list[Heard]:
        """What the memory has of a case, for whoever asks."""
        of_case = {t for step in case.steps if isinstance(step, Say) for t in step.texts}
        users = self._memory if self.fault == "mixes-users" else [user]
        return [
            heard
            for one in users
            for heard in self._memory.get(one, [])
            if heard.text in of_case and (as_of is None or heard.day <= as_of)
        ]

    def keep(self) -> None:
        """Write the memory down, at the end."""
        if self._file is not None and self.fault != "loses-at-restart":
            kept = {u: [(h.text, str(h.day)) for h in heard] for u, heard in self._memory.items()}
            self._file.write_text(json.dumps(kept))


def _known(case: Case, position: int) -> set[str]:
    """What should be known to whoever asks at this position of a case."""
    ask = case.steps[position]
    assert isinstance(ask, Ask)
    known: set[str] = set()
    said: dict[str, set[str]] = {}
    for step in case.steps[:position]:
        if isinstance(step, Say) and step.person == ask.person:
            # The last answer of a conversation never reaches an assistant that can only chat.
            heard = step.texts if len(step.texts) % 2 else step.texts[:-1]
            said[step.name] = set(heard)
            if ask.as_of is None or step.at.date() <= ask.as_of:
                known |= set(heard)
        elif isinstance(step, Forget) and step.person == ask.person:
            known -= set().union(*(said[name] for name in step.of))
    return known


def _last_said(case: Case, position: int) -> date:
    return max(step.at for step in case.steps[:position] if isinstance(step, Say)).date()


def _right(ask: Ask, shift: timedelta, since: timedelta, beside: Iterable[str]) -> str:
    """The right answer, as it looks to whoever keeps what was said under other days; `beside` it
    stands what held at another time.
    """
    if not ask.expected.must:
        return NOTHING
    right = (_said(group[0], shift, since) for group in ask.expected.must)
    return ", ".join([*right, *beside]) + "."


def _said(wanted: Wanted, shift: timedelta, since: timedelta) -> str:
    if isinstance(wanted, On):
        return f"{wanted.day + shift:%d %B %Y}"
    if isinstance(wanted, DayCount):
        return f"{since.days} days"
    return str(wanted.number) if isinstance(wanted, Number) else wanted


def app(oracle: Oracle) -> FastAPI:
    """The chat route, one that takes what was said, and one that tells that it is ready."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        oracle.keep()

    made = FastAPI(lifespan=life)

    async def chat(request: Request) -> dict[str, Any]:
        body = await request.json()
        answer = oracle.reply(body.get("user", "anybody"), body["messages"])
        return {"choices": [{"index": 0, "message": {"role": "assistant", "content": answer}}]}

    async def note(request: Request) -> dict[str, Any]:
        body = await request.json()
        texts = [turn["content"] for turn in body["turns"]]
        day = date.fromisoformat(body["turns"][0]["timestamp"][:10])
        oracle.hear(body["user"], texts if len(texts) % 2 else texts[:-1], day)
        return {"noted": len(texts)}

    async def ready() -> dict[str, str]:
        return {"status": "ok"}

    made.add_api_route("/v1/chat/completions", chat, methods=["POST"])
    made.add_api_route("/v1/notes", note, methods=["POST"])
    made.add_api_route("/ready", ready, methods=["GET"])
    return made


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--fault", choices=FAULTS, default="none")
    options = parser.parse_args()
    oracle = Oracle(options.fault, options.data_dir / "memory.json")
    uvicorn.run(app(oracle), host="127.0.0.1", port=options.port, log_level="critical")


if __name__ == "__main__":
    main()
