"""Interfaces through which an assistant is told things, asked, and made to forget: our own routes
or a chat alone. `Course` plays one case step by step, and goes on after restarts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Protocol, TypedDict

from harness.assistants.client import AssistantClient, ChatClient
from harness.assistants.profile import AssistantProfile
from harness.assistants.template import Occasion
from harness.assistants.transport import Transport
from harness.lab.lifecycle.cases import Ask, Case, Forget, Restart, Say, Step
from harness.lab.lifecycle.checks import faults
from harness.replay.ingest import Blinding
from harness.spending import Meter
from harness.text import rfc3339

# Some assistants delete nothing before the user has confirmed it.
CONFIRMED = "Yes, delete it."
_DATES = frozenset({"time", "date", "unix"})


class Interface(Protocol):
    """A way to speak to an assistant. Every method may raise the errors of `harness.errors`."""

    async def begin(self, when: Occasion) -> None:
        """Make sure that the assistant knows nothing of a person yet."""

    async def say(self, when: Occasion, texts: Sequence[str]) -> None:
        """Have a conversation; the texts alternate between user and assistant, the user first."""

    async def forget(self, when: Occasion, text: str, sessions: Sequence[str]) -> str:
        """Have the content of these sessions forgotten; returns the assistant's reply."""

    async def ask(self, when: Occasion, text: str, as_of: date | None) -> str:
        """The answer to a question, asked in a session of its own."""


@dataclass(frozen=True, slots=True)
class ChosenInterface:
    """The interface by which an assistant is spoken to, and what it can express."""

    profile: AssistantProfile
    chat_only: bool = False

    @property
    def uses_own_routes(self) -> bool:
        return self.profile.is_ours and not self.chat_only

    @property
    def names_users(self) -> bool:
        return self.uses_own_routes or "user" in self.profile.names

    @property
    def manner(self) -> str:
        if self.uses_own_routes:
            return "our own routes"
        recorded = self.profile.record is not None and not self.chat_only
        return "the profile's [record] and chat" if recorded else "chat alone"

    def cannot(self, case: Case) -> str | None:
        """Why a case cannot be put through this interface; None where it can."""
        if len(case.people) > 1 and not self.names_users:
            return f"profile {self.profile.name} names no user"
        if case.needs_dates and not (self.uses_own_routes or self.profile.names & _DATES):
            return f"profile {self.profile.name} tells no dates"
        return None

    def interface(self, transport: Transport, meter: Meter, barrier_seconds: float) -> Interface:
        if self.uses_own_routes:
            return OwnInterface(AssistantClient(transport), meter)
        profile = replace(self.profile, record=None) if self.chat_only else self.profile
        return ChatInterface(ChatClient(transport, profile, meter), profile, barrier_seconds)


class OwnInterface:
    """The routes of docs/api.md (`Interface`)."""

    def __init__(self, client: AssistantClient, meter: Meter) -> None:
        self._client = client
        self._meter = meter

    async def begin(self, when: Occasion) -> None:
        """Do nothing: every person is new."""

    async def say(self, when: Occasion, texts: Sequence[str]) -> None:
        await self._client.record(when.user, when.session, _turns(when, texts), close=True)

    async def forget(self, when: Occasion, text: str, sessions: Sequence[str]) -> str:
        for session in sessions:
            await self._client.forget_session(when.user, session)
        return f"DELETE of {len(sessions)} session(s)"

    async def ask(self, when: Occasion, text: str, as_of: date | None) -> str:
        """Ask without recording anything, with the day as `as_of`."""
        day = as_of.isoformat() if as_of else None
        now = rfc3339(when.time)
        answer = await self._meter.spend(
            len(text),
            lambda: self._client.ask(when.user, when.session, text, now=now, as_of=day),
        )
        return answer.text


class ChatInterface:
    """Chat completions as the profile says, and its `[record]` where there is one (`Interface`)."""

    def __init__(
        self, client: ChatClient, profile: AssistantProfile, barrier_seconds: float
    ) -> None:
        self._client = client
        self._profile = profile
        self._barrier_seconds = barrier_seconds

    async def begin(self, when: Occasion) -> None:
        await self._client.forget(when)

    async def say(self, when: Occasion, texts: Sequence[str]) -> None:
        """Send each of the user's texts with the conversation before it."""
        turns = _turns(when, texts)
        if self._profile.record is not None:
            batches = [turns] if self._profile.record.per == "session" else [[t] for t in turns]
            for batch in batches:
                await self._client.record(replace(when, turns=batch))
            return
        said = []
        for i, text in enumerate(texts):
            said.append(self._client.message("assistant" if i % 2 else "user", text, when))
            if i % 2 == 0:
                await self._client.chat("teacher", said, when)

    async def forget(self, when: Occasion, text: str, sessions: Sequence[str]) -> str:
        """Ask for it in a chat, and confirm in the next message."""
        request = self._client.message("user", text, when)
        reply = await self._client.chat("live", [request], when)
        answered = self._client.message("assistant", reply.text, when)
        confirmed = self._client.message("user", CONFIRMED, when)
        done = await self._client.chat("live", [request, answered, confirmed], when)
        return f"{reply.text}\n{done.text}"

    async def ask(self, when: Occasion, text: str, as_of: date | None) -> str:
        """Wait until everything is remembered, then ask; the question's text itself has the day."""
        await self._client.wait_until_ready(when, limit_seconds=self._barrier_seconds)
        message = self._client.message("user", text, when)
        return (await self._client.chat("question", [message], when)).text


def _turns(when: Occasion, texts: Sequence[str]) -> list[dict[str, str]]:
    return [
        {
            "role": "assistant" if i % 2 else "user",
            "content": text,
            "timestamp": rfc3339(when.time + timedelta(seconds=i)),
        }
        for i, text in enumerate(texts)
    ]


class AskLine(TypedDict):
    """A question of a case, its answer, and the answer's faults."""

    question: str
    at: str
    answer: str
    faults: list[str]


class CaseLine(TypedDict):
    """A case that was played to its end; `forgetting` has the replies to requests to forget."""

    case_id: str
    kind: str
    passed: bool
    asks: list[AskLine]
    forgetting: list[str]


class Course:
    """Plays the steps of one case under opaque names, which differ between attempts."""

    def __init__(self, case: Case, blinding: Blinding, attempt: int) -> None:
        self.case = case
        self._blinding = blinding
        self._attempt = attempt
        self._steps = iter(enumerate(case.steps))
        self._sessions: dict[str, str] = {}
        self._asks: list[AskLine] = []
        self._forgetting: list[str] = []

    async def play(self, interface: Interface) -> CaseLine | None:
        """Play up to the next restart and return None, or up to the end and return the case."""
        if not (self._asks or self._sessions):
            for person in sorted(self.case.people):
                await interface.begin(self._occasion(-1, person, self.case.steps[0]))
        for position, step in self._steps:
            if isinstance(step, Restart):
                return None
            await self._step(interface, step, self._occasion(position, step.person, step))
        return {
            "case_id": self.case.case_id,
            "kind": self.case.kind,
            "passed": not any(ask["faults"] for ask in self._asks),
            "asks": self._asks,
            "forgetting": self._forgetting,
        }

    async def _step(self, interface: Interface, step: Say | Forget | Ask, when: Occasion) -> None:
        if isinstance(step, Say):
            self._sessions[step.name] = when.session
            await interface.say(when, step.texts)
        elif isinstance(step, Forget):
            sessions = [self._sessions[name] for name in step.of]
            self._forgetting.append(await interface.forget(when, step.text, sessions))
        else:
            answer = await interface.ask(when, step.text, step.as_of)
            self._asks.append(
                {
                    "question": step.text,
                    "at": f"{step.at:%Y-%m-%d}",
                    "answer": answer,
                    "faults": faults(step.expected, answer),
                }
            )

    def _occasion(self, position: int, person: str, step: Step) -> Occasion:
        owner = f"{self.case.case_id}/{person}"
        user = self._blinding.user(owner, self._attempt)
        session = self._blinding.session(f"{owner}/{self._attempt}", position)
        turn = self._blinding.turn(owner, position, self._attempt)
        return Occasion(user, session, step.at, turn=turn)


def told(case: Case) -> Iterator[str]:
    """The steps of a case before its last question, as lines for a person."""
    for step in case.steps[:-1]:
        day = f"{step.at:%Y-%m-%d}"
        if isinstance(step, Restart):
            yield f"{day} the server is restarted"
            continue
        who = "" if len(case.people) == 1 else f" {step.person}"
        if isinstance(step, Say):
            yield f"{day}{who}: {' / '.join(step.texts)}"
        elif isinstance(step, Forget):
            yield f"{day}{who} wants forgotten: {step.text}"
        else:
            yield f"{day}{who} asks: {step.text}"
