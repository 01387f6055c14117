"""Comparisons that need no memory: a plain model reads the history, or a part of it, in its prompt.

`full-context` everything, `no-memory` nothing, `oracle` the evidence sessions only, `last-n` the
latest sessions. What does not fit the token budget is cut, oldest first, and recorded. The history
is written as text or as JSON, and the model may be asked for notes first, which are recorded apart
from the answer.
"""

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from harness.assistants.client import ChatClient, Message
from harness.assistants.template import Occasion
from harness.datasets.questions import HaystackSession, Question
from harness.records.schema import ContextAccount
from harness.replay.ingest import Blinding
from harness.replay.mode import AnswerLines, ReplayMode, hypothesis_line
from harness.text import Prompt, characters_of, load_prompts, tokens_of

PROMPTS = load_prompts("harness.replay.prompts")
NO_MEMORY = "no-memory"
MARKER = "ANSWER:"
_MARKED = re.compile(rf"^\W*{MARKER}\W*?[ \t]*", re.M)


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """How much of a history a prompt may hold: `tokens`, of four characters each. For `last-n` also
    how many of the latest sessions, and how many tokens these have together (None: no limit).
    """

    tokens: int = 120_000
    last_sessions: int | None = 10
    last_tokens: int | None = None
    layout: Literal["text", "json"] = "text"
    notes: bool = False
    """Whether the model writes notes before it answers."""

    @property
    def room(self) -> int:
        return min(self.tokens, self.last_tokens or self.tokens)


Choice = Callable[[Question, ContextWindow], list[HaystackSession]]


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a prompt holds of the chosen sessions, and what was cut from them."""

    text: str
    account: ContextAccount


class ContextMode(ReplayMode):
    """Asks a plain model with the chosen sessions before the question."""

    def __init__(
        self, client: ChatClient, blinding: Blinding, choose: Choice, window: ContextWindow
    ) -> None:
        self._client = client
        self._blinding = blinding
        self._choose = choose
        self._window = window

    async def ask(self, question: Question) -> AnswerLines:
        """Ask the model one question; it is told who asks only by an opaque name."""
        context = context_of(question, self._choose, self._window)
        text = _prompt(question, context, self._window).strip()
        name = self._blinding.asking_session(question.question_id)
        when = Occasion(self._blinding.user(question.history_id), name, question.question_date)
        started = time.perf_counter()
        answer = await self._client.chat("control", [Message("user", text)], when)
        line = hypothesis_line(question, answer, started) | {"context": context.account}
        if self._window.notes:
            line["notes"], line["hypothesis"] = apart(answer.text)
        return AnswerLines(line)


CHOICES: dict[str, Choice] = {
    "full-context": lambda question, _: question.sessions_by_date(),
    NO_MEMORY: lambda question, _: [],
    "oracle": lambda question, _: [
        session
        for session in question.sessions_by_date()
        if session.session_id in question.evidence_session_ids
    ],
    "last-n": lambda question, window: _latest(question.sessions_by_date(), window),
}


def apart(reply: str) -> tuple[str, str]:
    """The notes of a reply, and its answer; a reply without the marker is all answer."""
    marks = list(_MARKED.finditer(reply))
    if not marks:
        return "", reply
    return reply[: marks[-1].start()].strip(), reply[marks[-1].end() :].strip()


def prompt_of(mode: str, window: ContextWindow) -> Prompt:
    if mode == NO_MEMORY:
        return PROMPTS["no_memory"]
    return PROMPTS["context_notes" if window.notes else "context"]


def context_of(question: Question, choose: Choice, window: ContextWindow) -> PromptContext:
    return cut_to_fit(choose(question, window), window.room, window.layout)


def _latest(sessions: list[HaystackSession], window: ContextWindow) -> list[HaystackSession]:
    """The latest sessions, as many as both counts allow, one at least."""
    latest = sessions if window.last_sessions is None else sessions[-window.last_sessions :]
    if window.last_tokens is None:
        return latest
    sizes = accumulate(len(_session_text(session)) for session in reversed(latest))
    fitting = sum(size <= characters_of(window.last_tokens) for size in sizes)
    return latest[-max(1, fitting) :]


def cut_to_fit(
    sessions: Sequence[HaystackSession], tokens: int, layout: Literal["text", "json"] = "text"
) -> PromptContext:
    """The latest whole sessions that fit together; if the last alone is too long, its end."""
    written = _session_json if layout == "json" else _session_text
    texts = [written(session) for session in sessions]
    room = characters_of(tokens)
    kept: list[str] = []
    for text in reversed(texts):
        if len(text) > room:
            break
        kept.append(text)
        room -= len(text)
    shortened = 0
    if texts and not kept:
        kept = [texts[-1][-room:]]
        shortened = 1
    characters = sum(map(len, kept))
    account: ContextAccount = {
        "sessions": len(kept),
        "sessions_cut": len(texts) - len(kept),
        "sessions_shortened": shortened,
        "tokens_estimate": tokens_of(characters),
        "tokens_cut_estimate": tokens_of(sum(map(len, texts)) - characters),
    }
    return PromptContext("\n\n".join(reversed(kept)), account)


def _session_text(session: HaystackSession) -> str:
    lines = [f"[{session.session_date:%A %Y-%m-%d %H:%M}]"]
    lines += [f"{turn.name or turn.role}: {turn.content}" for turn in session.turns]
    return "\n".join(lines)


def _session_json(session: HaystackSession) -> str:
    turns = [{turn.name or turn.role: turn.content} for turn in session.turns]
    at = f"{session.session_date:%A %Y-%m-%d %H:%M}"
    return json.dumps({"time": at, "turns": turns}, ensure_ascii=False)


def _prompt(question: Question, context: PromptContext, window: ContextWindow) -> str:
    asked = {"question": question.question, "today": f"{question.question_date:%A %Y-%m-%d}"}
    if not context.text:
        return PROMPTS["no_memory"].render(**asked)
    if window.notes:
        asked["marker"] = MARKER
    name = "context_notes" if window.notes else "context"
    return PROMPTS[name].render(**asked, conversations=context.text)
