"""The cells of each experiment: what is set up differently, and what is measured of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import UsageError

_NAMES = ("recall_all@5", "ndcg@5", "recall_all@10", "ndcg@10")

TABLE_3: Mapping[tuple[str, str], Mapping[str, float]] = {
    key: dict(zip(_NAMES, figures, strict=True))
    for key, figures in {
        ("round", "V"): (0.582, 0.481, 0.692, 0.512),
        ("round", "fact"): (0.530, 0.411, 0.654, 0.449),
        ("round", "keyphrase"): (0.282, 0.159, 0.392, 0.303),
        ("round", "V + fact"): (0.644, 0.498, 0.784, 0.536),
        ("round", "V + keyphrase"): (0.478, 0.359, 0.636, 0.410),
        ("session", "V"): (0.706, 0.617, 0.783, 0.638),
        ("session", "summary"): (0.572, 0.448, 0.648, 0.468),
        ("session", "fact"): (0.642, 0.524, 0.814, 0.571),
        ("session", "keyphrase"): (0.482, 0.375, 0.576, 0.401),
        ("session", "V + summary"): (0.689, 0.608, 0.749, 0.624),
        ("session", "V + fact"): (0.732, 0.620, 0.862, 0.652),
        ("session", "V + keyphrase"): (0.710, 0.587, 0.768, 0.602),
    }.items()
}
"""Table 3: by value and key."""

# The figures are as printed; in some rows recall and NDCG at ten look exchanged, so only @5 is
# given.
_AT_5 = _NAMES[:2]
_TABLE_4: Mapping[tuple[str, str, str], tuple[float, float]] = {
    ("session", "V", "off"): (0.639, 0.630),
    ("session", "V", "strong model"): (0.654, 0.660),
    ("session", "V", "weak model"): (0.624, 0.627),
    ("session", "V + fact", "off"): (0.684, 0.688),
    ("session", "V + fact", "strong model"): (0.722, 0.732),
    ("session", "V + fact", "weak model"): (0.677, 0.688),
    ("round", "V", "off"): (0.421, 0.462),
    ("round", "V", "strong model"): (0.451, 0.565),
    ("round", "V", "weak model"): (0.384, 0.448),
    ("round", "V + fact", "off"): (0.489, 0.500),
    ("round", "V + fact", "strong model"): (0.526, 0.548),
    ("round", "V + fact", "weak model"): (0.481, 0.532),
}


def table_4(value: str, key: str, time: str, reads: str) -> Mapping[str, float]:
    """Table 4: by value, key, and who read the time; the paper filters and never lifts."""
    if time == "lift":
        return {}
    figures = _TABLE_4.get((value, key, "off" if time == "off" else reads), ())
    return dict(zip(_AT_5, figures, strict=False))


FIGURE_3B: Mapping[tuple[str, bool], Mapping[str, float]] = {
    ("oracle", False): {"accuracy": 0.870},
    ("full-context", False): {"accuracy": 0.606},
    ("oracle", True): {"accuracy": 0.924},
    ("full-context", True): {"accuracy": 0.640},
}
"""Figure 3b: by mode and whether notes come first."""


DESIGNS = (
    "aide-memoire",
    "in-context-rag",
    "memorybank",
    "ld-agent",
    "chain-of-note",
    "chatgpt-facts",
    "coze-facts",
    "raptor",
    "memwalker",
    "hipporag",
    "longmemeval",
)
BUDGETS = (1000, 2000, 4000, 8000, 16000)
_VALUES = ("round", "session", "summary", "fact")
_KEYS = {
    "V": ("value",),
    "fact": ("fact",),
    "keyphrase": ("keyphrase",),
    "summary": ("summary",),
    "V + fact": ("value", "fact"),
    "V + keyphrase": ("value", "keyphrase"),
    "V + summary": ("value", "summary"),
}
# The paper summarises sessions and no rounds.
_KEYS_OF_ROUNDS = tuple(key for key in _KEYS if "summary" not in key)
_TEMPORAL = ("temporal-reasoning",)


@dataclass(frozen=True, slots=True)
class Cell:
    """One set-up of the assistant, or a control that needs none.

    `settings` are the assistant's, by their dotted names. `level` is what is ranked in it. With
    `prompts` it is measured what reaches the reader; with `asks` the questions are answered.
    """

    name: str
    label: str
    settings: Mapping[str, str] = field(default_factory=dict)
    level: str = "session"
    asks: bool = False
    prompts: bool = False
    mode: str = "native"
    notes: bool = False
    layout: str = "text"
    published: Mapping[str, float] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {
            f"ASSISTANT_{name.replace('.', '__').upper()}": value
            for name, value in self.settings.items()
        }


@dataclass(frozen=True, slots=True)
class Grid:
    """An experiment: its cells, the first of which the others are compared with."""

    name: str
    title: str
    about: str
    cells: Sequence[Cell]
    types: tuple[str, ...] = ()
    """The question types that it is about; all of them by default."""


@dataclass(frozen=True, slots=True)
class AtHand:
    """What a run of an experiment has at hand: designs, and models of which roles."""

    designs: Sequence[str] = DESIGNS
    reader: bool = False
    ranges: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Models that read time ranges, by what they are called: settings of `query_model`."""


def grid_of(name: str, wanted: AtHand) -> Grid:
    """The cells of an experiment. Raises `UsageError`."""
    grids = {
        "table2": _table2,
        "table3": _table3,
        "table4": _table4,
        "fig3": _fig3,
        "fig5": _fig5,
        "fig6": _fig6,
    }
    if name not in grids:
        raise UsageError(f"unknown experiment {name!r}, expected one of {', '.join(grids)}")
    return grids[name](wanted)


def _table2(wanted: AtHand) -> Grid:
    cells = [
        Cell(_slug(design), design, {"design": design}, asks=True, prompts=True)
        for design in wanted.designs
    ]
    return Grid("table2", "Memory designs", "Every design on the same questions.", cells)


def _table3(wanted: AtHand) -> Grid:
    cells = [
        Cell(
            _slug(f"{value} {key}"),
            f"{value}, K = {key}",
            _chosen(value=value, keys=_KEYS[key], merged=len(_KEYS[key]) > 1, time="off"),
            level=value,
            asks=wanted.reader,
            published=TABLE_3[value, key],
        )
        for value, keys in (("round", _KEYS_OF_ROUNDS), ("session", tuple(_KEYS)))
        for key in keys
    ]
    about = (
        "What a value is found by. Published: LongMemEval_M, Stella V5 1.5B, facts, phrases and "
        "summaries by Llama 3.1 8B."
    )
    return Grid("table3", "Keys", about, cells)


def _table4(wanted: AtHand) -> Grid:
    ranges: dict[str, Mapping[str, str]] = {"rules": {}, **wanted.ranges}
    cells = [
        Cell(
            _slug(f"{value} {key} {time} {reads if time != 'off' else ''}"),
            f"{value}, K = {key}, {_time_in_words(time, reads)}",
            {
                **_chosen(value=value, keys=_KEYS[key], merged=len(_KEYS[key]) > 1, time=time),
                **models,
            },
            level=value,
            asks=wanted.reader,
            published=table_4(value, key, time, reads),
        )
        for value in ("session", "round")
        for key in ("V", "V + fact")
        for time in ("off", "lift", "filter")
        for reads, models in (ranges.items() if time != "off" else [("", {})])
    ]
    about = (
        "What the time that a question names does, and who reads it. Published: the temporal "
        "questions of LongMemEval_M, filtered by ranges that GPT-4o or Llama 3.1 8B read."
    )
    return Grid("table4", "Time", about, cells, _TEMPORAL)


def _fig3(wanted: AtHand) -> Grid:
    cells = [
        Cell(
            _slug(f"{mode} {'notes' if notes else 'direct'}"),
            f"{'evidence alone' if mode == 'oracle' else 'whole history'}, "
            f"{'with notes' if notes else 'direct'}",
            asks=True,
            mode=mode,
            notes=notes,
            published=FIGURE_3B[mode, notes],
        )
        for mode in ("oracle", "full-context")
        for notes in (False, True)
        if wanted.reader
    ]
    about = "Reading alone, without a memory. Published: GPT-4o on LongMemEval_S."
    return Grid("fig3", "Evidence alone, and whole histories", about, cells)


def _fig5(wanted: AtHand) -> Grid:
    cells = [
        Cell(
            _slug(f"{value} {budget}"),
            f"{value}, {budget:,} tokens",
            _chosen(value=value, keys=("value", "fact"), merged=True, time="off")
            | {"recall.context_tokens": str(budget)},
            level=value,
            asks=wanted.reader,
            prompts=True,
        )
        for value in _VALUES
        for budget in BUDGETS
    ]
    about = (
        "What is read, at several budgets. A summary or a fact seldom holds an evidence turn word "
        "for word, so its worth shows in the answers."
    )
    return Grid("fig5", "Values and budgets", about, cells)


def _fig6(wanted: AtHand) -> Grid:
    cells = [
        Cell(
            _slug(f"{layout} {mode}"),
            f"{layout.upper() if layout == 'json' else layout}, "
            f"{'notes' if mode == 'chain-of-note' else 'direct'}",
            {
                "design": "longmemeval",
                "choices.time": "off",
                "reading.mode": mode,
                "reading.layout": layout,
                "reading.computed_help": "false",
            },
            asks=wanted.reader,
            prompts=True,
        )
        for layout in ("text", "json")
        for mode in ("direct", "chain-of-note")
    ]
    about = "Four prompts over the same rounds that differ in notes and format alone."
    return Grid("fig6", "Notes and format", about, cells)


def _chosen(*, value: str, keys: Iterable[str], merged: bool, time: str) -> dict[str, str]:
    return {
        "design": "longmemeval",
        "choices.value": value,
        "choices.keys": "[" + ", ".join(f'"{key}"' for key in keys) + "]",
        "choices.merged": str(merged).lower(),
        "choices.time": time,
    }


def _time_in_words(time: str, reads: str) -> str:
    return "no time" if time == "off" else f"{time} by {reads}"


def _slug(text: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in text).split()
    return "-".join(words)
