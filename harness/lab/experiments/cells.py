"""The cells of each experiment: their different settings, and what is measured of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

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

BY_COUNT = (5, 10)
"""The numbers of values that the reader gets in Table 3."""
TABLE_3_ANSWERS: Mapping[tuple[str, str], tuple[float, float]] = {
    ("round", "V"): (0.615, 0.670),
    ("round", "fact"): (0.588, 0.664),
    ("round", "keyphrase"): (0.425, 0.489),
    ("round", "V + fact"): (0.657, 0.720),
    ("round", "V + keyphrase"): (0.541, 0.652),
    ("session", "V"): (0.670, 0.676),
    ("session", "summary"): (0.554, 0.252),
    ("session", "fact"): (0.644, 0.512),
    ("session", "keyphrase"): (0.618, 0.498),
    ("session", "V + summary"): (0.658, 0.666),
    ("session", "V + fact"): (0.714, 0.700),
    ("session", "V + keyphrase"): (0.665, 0.672),
}
"""Table 3: right answers of GPT-4o from the first five and the first ten, as printed."""

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
    """Table 4: by value, key, and who read the time. The paper filters by time and never lifts, so
    `lift` has no figures."""
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
# A budget in tokens that any ten sessions fit into.
_ROOM = "100000"
_LAYOUTS = ("text", "json")
_TEMPORAL = ("temporal-reasoning",)


@dataclass(frozen=True, slots=True)
class Cell:
    """One set-up of the assistant, or a control that needs none.

    `settings` are the assistant's, by their dotted names. `level` is the kind of value that is
    ranked. `prompts`: the reader's prompts are recorded and measured. `asks`: the questions are
    answered. Cells of one `block` differ only in the choice that the experiment studies, and are
    compared with the block's first cell. `is_found_before`: an earlier cell has the same search
    and shows its figures.
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
    block: str = ""
    is_found_before: bool = False
    published: Mapping[str, float] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {
            f"ASSISTANT_{name.replace('.', '__').upper()}": value
            for name, value in self.settings.items()
        }


@dataclass(frozen=True, slots=True)
class Grid:
    """An experiment and its cells."""

    name: str
    title: str
    about: str
    cells: Sequence[Cell]
    types: tuple[str, ...] = ()
    """The question types of the experiment; empty means all."""


@dataclass(frozen=True, slots=True)
class AtHand:
    """The designs that a run of an experiment may use, and the models that it has."""

    designs: Sequence[str] = DESIGNS
    reader: bool = False
    from_memory: bool = False
    """Whether the four prompts hold what memory finds, instead of the evidence alone (Figure 6)."""
    ranges: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Settings of `query_model` for the models that read time ranges, by the models' names."""


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


def without_answers(grid: Grid) -> Grid:
    """The grid without answers: only retrieval and the reader's prompts are measured. Raises
    `UsageError` for an experiment that measures answers alone."""
    if any(cell.mode != "native" for cell in grid.cells) or not grid.cells:
        raise UsageError(f"{grid.name} measures answers alone: leave --no-answers out")
    return replace(grid, cells=[replace(cell, asks=False) for cell in grid.cells])


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
            _key_settings(value, key),
            level=value,
            asks=wanted.reader,
            block=value,
            published=TABLE_3[value, key],
        )
        for value, key in TABLE_3
    ]
    if wanted.reader:
        cells += [
            Cell(
                _slug(f"{value} {key} top {count}"),
                f"{value}, K = {key}, the first {count} read",
                _key_settings(value, key)
                | {"recall.rounds": str(count), "recall.context_tokens": _ROOM},
                level=value,
                asks=True,
                block=f"{value}, the first {count} read",
                is_found_before=True,
                published={"accuracy": TABLE_3_ANSWERS[value, key][at]},
            )
            for at, count in enumerate(BY_COUNT)
            for value, key in TABLE_3
        ]
    about = (
        "What a value is found by. Published: LongMemEval_M, Stella V5 1.5B, facts, phrases and "
        "summaries by Llama 3.1 8B, answers by GPT-4o. Where nothing else is said, as much is "
        "read as the budget of tokens holds."
    )
    return Grid("table3", "Keys", about, cells)


def _table4(wanted: AtHand) -> Grid:
    ranges: dict[str, Mapping[str, str]] = {"rules": {}, **wanted.ranges}
    cells = [
        Cell(
            _slug(f"{value} {key} {time} {reads if time != 'off' else ''}"),
            f"{value}, K = {key}, {_time_in_words(time, reads)}",
            {**_key_settings(value, key, time), **models},
            level=value,
            asks=wanted.reader,
            block=f"{value}, K = {key}",
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
            block=mode,
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
            _key_settings(value, "V + fact") | {"recall.context_tokens": str(budget)},
            level=value,
            asks=wanted.reader,
            prompts=True,
            block=f"{budget:,} tokens",
            is_found_before=budget != BUDGETS[0],
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
    if wanted.from_memory:
        return _prompts_from_memory(wanted)
    if not wanted.reader:
        raise UsageError(
            "fig6 lets a language model read the evidence alone (--reader MODEL@URL); "
            "--from-memory records the assistant's prompts instead"
        )
    cells = [
        Cell(
            _slug(f"evidence {layout} {'notes' if notes else 'direct'}"),
            _prompt_in_words(layout, notes=notes),
            asks=True,
            mode="oracle",
            notes=notes,
            layout=layout,
        )
        for layout in _LAYOUTS
        for notes in (False, True)
    ]
    about = "Four prompts with the evidence alone that differ in notes and format alone."
    return Grid("fig6", "Notes and format", about, cells)


def _prompts_from_memory(wanted: AtHand) -> Grid:
    cells = [
        Cell(
            _slug(f"{layout} {mode}"),
            _prompt_in_words(layout, notes=mode == "chain-of-note"),
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
        for layout in _LAYOUTS
        for mode in ("direct", "chain-of-note")
    ]
    about = (
        "The assistant's own prompts over the same rounds, with and without notes, in two formats."
    )
    return Grid("fig6", "Notes and format", about, cells)


def _prompt_in_words(layout: str, *, notes: bool) -> str:
    return f"{'JSON' if layout == 'json' else layout}, {'notes' if notes else 'direct'}"


def _key_settings(value: str, key: str, time: str = "off") -> dict[str, str]:
    keys = _KEYS[key]
    return {
        "design": "longmemeval",
        "choices.value": value,
        "choices.keys": "[" + ", ".join(f'"{key}"' for key in keys) + "]",
        "choices.merged": str(len(keys) > 1).lower(),
        "choices.time": time,
    }


def _time_in_words(time: str, reads: str) -> str:
    return "no time" if time == "off" else f"{time} by {reads}"


def _slug(text: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in text).split()
    return "-".join(words)
