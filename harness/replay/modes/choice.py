"""Modes by the name given on the command line."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.assistants.chat_client import ChatClient
from harness.assistants.client import AssistantClient
from harness.assistants.profile import Profile, load_profile
from harness.assistants.transport import Transport
from harness.errors import UsageError
from harness.replay.blinding import Blinding
from harness.replay.ingest import Ingester, Together
from harness.replay.modes.chat import Attempts, ChatMode
from harness.replay.modes.context import CHOICES, ContextMode, ContextWindow, prompt_of
from harness.replay.modes.mode import Mode
from harness.replay.modes.native import NativeMode
from harness.spending.budget import Meter

NATIVE = "native"
CHATTED: tuple[Literal["teacher", "live"], ...] = ("teacher", "live")
MODES = (NATIVE, *CHATTED, *CHOICES)


@dataclass(frozen=True, slots=True)
class Approach:
    """How histories are sent and questions are put: the mode, the assistant's profile, what fits
    into a prompt, and what a request of `native` carries.
    """

    mode: str = NATIVE
    profile: Profile = field(default_factory=lambda: load_profile("aide-memoire"))
    window: ContextWindow = field(default_factory=ContextWindow)
    together: Together = "turn"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UsageError(f"unknown mode {self.mode!r}, expected one of {', '.join(MODES)}")
        if self.window.last_tokens is not None and self.mode != "last-n":
            raise UsageError("--last-tokens is for --mode last-n")
        if self.together != "turn" and not self.searches:
            raise UsageError("--send session is for --mode native and an assistant with our routes")
        if self.mode == NATIVE and not self.profile.is_ours and self.profile.record is None:
            raise UsageError(
                f"--mode native needs [record] in profile {self.profile.name}; without such a "
                "route histories are chatted: --mode teacher or --mode live"
            )

    @property
    def uses_memory(self) -> bool:
        """Whether the assistant is to remember anything."""
        return self.mode not in CHOICES

    @property
    def searches(self) -> bool:
        """Whether the assistant is asked for rankings."""
        return self.mode == NATIVE and self.profile.is_ours

    @property
    def identity(self) -> dict[str, Any]:
        """What must not change within a run directory, beside the mode's name."""
        if self.uses_memory:
            # Directories of runs made before there was a choice say nothing.
            sent = {} if self.together == "turn" else {"together": self.together}
            return {"profile": self.profile.identity, **sent}
        latest = {
            "last_sessions": self.window.last_sessions,
            "last_tokens": self.window.last_tokens,
        }
        named = {name: value for name, value in latest.items() if value is not None}
        return {
            "profile": self.profile.identity,
            "prompt": prompt_of(self.mode, self.window).hash,
            "context_tokens": self.window.tokens,
            **({"layout": self.window.layout} if self.window.layout != "text" else {}),
            **(named if self.mode == "last-n" else {}),
        }


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a mode works with."""

    transport: Transport
    blinding: Blinding
    attempts: Attempts
    meter: Meter
    barrier_seconds: float
    on_round: Callable[[], None]


def make_mode(approach: Approach, around: Surroundings) -> Mode:
    """The mode of an approach."""
    if approach.searches:
        client = AssistantClient(around.transport)
        ingester = Ingester(
            client,
            around.blinding,
            barrier_seconds=around.barrier_seconds,
            on_round=around.on_round,
            together=approach.together,
        )
        return NativeMode(client, around.blinding, ingester, around.meter)
    chat = ChatClient(around.transport, approach.profile, around.meter)
    if approach.mode in CHOICES:
        choose = CHOICES[approach.mode]
        return ContextMode(chat, around.blinding, choose, approach.window)
    way = next((way for way in CHATTED if way == approach.mode), None)
    return ChatMode(
        chat,
        approach.profile,
        around.blinding,
        around.attempts,
        way=way or "recorded",
        barrier_seconds=around.barrier_seconds,
        on_round=around.on_round,
    )
