"""One case, step by step, up to a restart and on from there."""

from collections.abc import Iterator
from typing import TypedDict

from harness.assistants.template import Occasion
from harness.lifecycle.cases import Ask, Case, Forget, Restart, Say, Step
from harness.lifecycle.checks import faults
from harness.lifecycle.interfaces import Interface
from harness.replay.blinding import Blinding


class AskLine(TypedDict):
    """A question of a case: what was answered, and what is wrong with it."""

    question: str
    at: str
    answer: str
    faults: list[str]


class CaseLine(TypedDict):
    """A case that was put whole. `forgetting` are the assistant's replies to requests to forget."""

    case_id: str
    kind: str
    passed: bool
    asks: list[AskLine]
    forgetting: list[str]


class Course:
    """Plays the steps of one case under opaque names; another attempt has other names."""

    def __init__(self, case: Case, blinding: Blinding, attempt: int) -> None:
        self.case = case
        self._blinding = blinding
        self._attempt = attempt
        self._steps = iter(enumerate(case.steps))
        self._sessions: dict[str, str] = {}
        self._asks: list[AskLine] = []
        self._forgetting: list[str] = []

    async def play(self, interface: Interface) -> CaseLine | None:
        """Go on up to the next restart, which returns None, or to the end."""
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
    """What happened in a case before its last question, for a person."""
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
