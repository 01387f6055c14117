"""How a question is read: the choices at the control point of reading as one value, and presets."""

import re
from dataclasses import dataclass
from enum import StrEnum

from memory_store.language import Asked

# A round is read as the user's message, cut where it is long, and its date. Measured
# (benchmarks/LOG.md).
_TOKENS_A_ROUND = 80
_LEAST_ROUNDS = 20
# Tokens of a message in an overview, where most messages are short.
_TOKENS_A_MESSAGE = 60


class Mode(StrEnum):
    """How the model comes to its answer."""

    DIRECT = "direct"
    """One call; the answer at once."""
    CHAIN_OF_NOTE = "chain-of-note"
    """One call; notes first, then the answer."""
    CHAIN_OF_NOTE_SEPARATE = "chain-of-note-separate"
    """One call for each round that notes what it contributes, then one that answers from them."""


class Layout(StrEnum):
    """How recalled rounds are written down."""

    JSON = "json"
    TEXT = "text"


class Unit(StrEnum):
    """What is delivered of a round that was found."""

    ROUND = "round"
    """The round itself; long replies are cut where the budget is short."""
    WINDOW = "window"
    """The round with its neighbours in the session."""
    SESSION = "session"
    """The session it stands in."""


class LookAgain(StrEnum):
    """Whether the model may search memory itself before it answers, where it takes tools."""

    OFF = "off"
    AUTO = "auto"
    """Where the question wants many rounds, or little was found that is near to it; never beside
    a program's own tools or format."""
    ON = "on"


@dataclass(frozen=True, slots=True)
class LookLimits:
    """Calls of the memory's tools for one answer, tokens of what they return together, and seconds
    after which no more are made."""

    calls: int = 4
    tokens: int = 8000
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """One way to read. `context_tokens` bounds everything that comes from memory."""

    mode: Mode = Mode.CHAIN_OF_NOTE
    layout: Layout = Layout.JSON
    unit: Unit = Unit.ROUND
    context_tokens: int = 8000
    computed_help: bool = True
    """Whether what rules are certain of stands beside rounds, and what cannot help is left out."""
    near: float = 0.0
    """The least similarity of the best round, for a question of general knowledge to be read with
    any rounds."""
    look_again: LookAgain = LookAgain.AUTO
    looks: LookLimits = LookLimits()

    def most_rounds(self, kind: Asked) -> int:
        """Rounds worth recalling: as many as the tokens can show with their replies cut."""
        size = _TOKENS_A_MESSAGE if kind.overview else _TOKENS_A_ROUND
        return max(_LEAST_ROUNDS, self.context_tokens // size)


@dataclass(frozen=True, slots=True)
class Preset:
    """A family: which model names belong to it, how it reads, how its tokens are counted.

    `margin` is how many times more tokens the family makes of a text than cl100k does.
    """

    name: str
    models: re.Pattern[str]
    plan: ReadingPlan
    margin: float = 1.1


def _named(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I)


# The names of models that reason unless they are told not to.
_REASON = (
    r"\bo[1-9]\b|gpt-[5-9](?!.*chat)|gpt-oss",
    r"gemini-(?:2\.5|[3-9]|flash-latest|pro-latest)(?!.*lite)",
    r"deepseek[-.](?:r\d|reasoner)",
    r"grok-(?!.*non-reasoning)(?:[4-9]|3-mini|code|.*reasoning)",
    # The smaller of Qwen's are read by the preset for small models, which takes no notes either.
    r"qwen3(?:\.\d)?[:-](?:[2-9]\d|\d{3})b(?!.*(?:instruct|coder))|\bqwq",
    r"magistral|sonar-reasoning|minimax-m\d|glm-(?:4\.[5-9]|[5-9])",
    r"(?<!no)(?<!non)(?<!non-)thinking",
)

# The first that matches counts.
PRESETS: tuple[Preset, ...] = (
    # Notes did not help Sonnet 5.5 and still helped Sonnet 4.6. Their tokenizers split finer.
    Preset(
        "claude",
        _named(r"claude-(?:[a-z]+-)?[5-9](?!\d)|claude.*thinking"),
        ReadingPlan(mode=Mode.DIRECT),
        1.3,
    ),
    Preset("claude-notes", _named(r"claude"), ReadingPlan(), 1.3),
    # These models reason before they answer: a protocol for notes gained them nothing and costs
    # output.
    Preset("reasoning", _named("|".join(_REASON)), ReadingPlan(mode=Mode.DIRECT)),
    Preset("gemini", _named(r"gemini"), ReadingPlan(), 1.1),
    # Dated JSON with notes gives these models about ten points.
    Preset("gpt", _named(r"gpt-|chatgpt"), ReadingPlan(), 1.0),
    # Small local models lose the protocol and the thread: no notes, no tools, less to read.
    Preset(
        "small",
        _named(r"(?<![\d.x])(?:\d|1[0-4])(?:\.\d+)?b\b|\bphi-?\d|tiny|smol"),
        ReadingPlan(mode=Mode.DIRECT, context_tokens=4000, look_again=LookAgain.OFF),
    ),
    Preset("default", _named(r""), ReadingPlan()),
)
PRESET_NAMES = tuple(preset.name for preset in PRESETS)
AUTO = "auto"


def preset_of(model: str) -> Preset:
    """The preset for a litellm model name."""
    return next(preset for preset in PRESETS if preset.models.search(model))


def preset_named(name: str) -> Preset:
    """A preset by its own name; `KeyError` for another one."""
    return {preset.name: preset for preset in PRESETS}[name]
