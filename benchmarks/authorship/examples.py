"""The labelled examples: patterns in files, a language each, expanded to sentences."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness.datasets.sample
from memory_store.language.authorship import words_of
from memory_store.language.sentences import TextUnit, units_of

FOLDER = Path(__file__).parent / "examples"
LABELS: Mapping[str, float] = {"own": 0.0, "unclear": 0.3, "foreign": 1.0}
# Expansions of one pattern: enough to see its words, few enough that none outweighs the others.
_EXPANSIONS = 72
_BREAK = "¶"
ANYTHING = ("zzqx", "龘")
"""Words that nobody knows, of languages with spaces and without."""
_NAMES = re.compile(r"(?:name|town|firm) = (.+)")
SAMPLE = Path(harness.datasets.sample.__file__).parent
"""What users say in the sample histories is their own, too."""
_ASKS = re.compile(
    r"(?:can|could|would|will|is|are|was|were|do|does|did|isn't|should|what|what's|who|where|which|how"
    r"|how's|why|when|any|know|got|kannst|könntest|können|könnten|würdest|ist|klingt|sind|gibt"
    r"|siehst|was|soll|muss|wer|worum|findest|hältst|kennst|weißt|hast|wo|wie|wann|welche|welches"
    r"|welchen|wirkt|peux|tu peux|pourrais|pouvez|est|c'est|que|qu'est|quel|quelle|qui|y|comment|où"
    r"|combien|quand|connais|as|puedes|podrías|puede|qué|cuál|cómo|dónde|cuándo|cuánto|quién|me"
    r"|conoces|sabes|tienes|hay|te|es|puoi|potresti|mi|ci|cosa|che|come|chi|dove|quando|quanto"
    r"|conosci|sai|hai|c'è|secondo|qual|você|pode|poderia|podes|o que|conhece|como|onde|quem|kan"
    r"|kun|zou|kunt|klopt|zitten|hoe|wat|waar|ken|weet|heb)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class GradedSentence:
    """A sentence with how foreign it is, from 0 to 1; those of one pattern belong together."""

    unit: TextUnit
    foreign: float
    pattern: str
    weight: float
    language: str


def examples(seed: int = 7) -> Iterator[GradedSentence]:
    """All examples, in order; the same seed gives the same ones."""
    for file in sorted(FOLDER.glob("*.txt")):
        yield from _of_file(file, random.Random(f"{seed}{file.stem}"))
    for text in sorted({text for file in SAMPLE.glob("*.json") for text in _said(_read(file))}):
        yield from (GradedSentence(unit, LABELS["own"], text, 1.0, "en") for unit in units_of(text))


def names() -> frozenset[str]:
    """The names of people, towns and firms in the examples: nobody shall be told by these."""
    lines = "\n".join(file.read_text("utf-8") for file in sorted(FOLDER.glob("*.txt")))
    return frozenset(words_of(" ".join(_NAMES.findall(lines)).replace("|", " ")))


def _read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def _said(read: Any) -> Iterator[str]:
    """What users say anywhere in a sample file."""
    if isinstance(read, dict):
        if read.get("role") == "user":
            yield read["content"]
        read = list(read.values())
    if isinstance(read, list):
        for one in read:
            yield from _said(one)


def _of_file(file: Path, drawn: random.Random) -> Iterator[GradedSentence]:
    lists: dict[str, str] = {}
    label = ""
    for line in file.read_text().splitlines():
        if not line.strip():
            continue
        if line.startswith("## "):
            label = line[3:]
        elif not label and line.startswith("# "):
            continue
        elif listed := re.fullmatch(r"(\w+) = (.+)", line):
            lists[listed[1]] = listed[2]
        else:
            yield from _of_pattern(line, label, lists, file.stem, drawn)


def _of_pattern(
    pattern: str, label: str, lists: Mapping[str, str], language: str, drawn: random.Random
) -> Iterator[GradedSentence]:
    anything = ANYTHING[language in ("zh", "ja")]
    texts = {_expanded(pattern, lists, anything, drawn) for _ in range(_EXPANSIONS)}
    for text in sorted(texts):
        unit = _as_written(text, label, language, drawn)
        yield GradedSentence(unit, LABELS[label], pattern, len(texts) ** -0.5, language)


def _expanded(pattern: str, lists: Mapping[str, str], anything: str, drawn: random.Random) -> str:
    """One sentence of the pattern."""
    for _ in range(8):
        before = pattern
        pattern = re.sub(
            r"<(\w+)>",
            lambda m: f"({lists[m[1]]})" if m[1] in lists else m[0],
            pattern,
            count=1,
        )
        pattern = _chosen(pattern, drawn)
        if pattern == before:
            break
    text = pattern.replace("<anything>", anything)
    text = re.sub(r"\s+([,.:;?!¶])", r"\1", re.sub(r" +", " ", text))
    return text.strip()


def _chosen(pattern: str, drawn: random.Random) -> str:
    """The pattern with each innermost alternative decided, until there is none."""

    def decide(match: re.Match[str]) -> str:
        choice = drawn.choice(match["of"].split("|"))
        optional = match["open"] == "[" or match["maybe"]
        return "" if optional and drawn.random() < 0.5 else choice

    inner = re.compile(r"(?P<open>[(\[])(?P<of>[^()\[\]]*)[)\]](?P<maybe>\??)")
    while (changed := inner.sub(decide, pattern)) != pattern:
        pattern = changed
    return pattern


def _as_written(text: str, label: str, language: str, drawn: random.Random) -> TextUnit:
    """The sentence as somebody may have typed it, and what follows it."""
    own = label == "own"
    if text.endswith(_BREAK):
        return TextUnit(_cased(text[:-1], drawn), drawn.choice((1, 1, 2)))
    breaks = drawn.choices((0, 1, 2, 3), (55, 10, 8, 27) if own else (40, 25, 22, 13))[0]
    if text[-1] not in ".?!:,;：，。)":
        text += _mark(text, language, drawn)
    if text[-1] not in ".?!:;：。？！" and breaks == 0:
        breaks = drawn.choice((1, 2, 3))
    return TextUnit(_cased(text, drawn), breaks)


def _mark(text: str, language: str, drawn: random.Random) -> str:
    if language in ("zh", "ja"):
        asks = re.search(r"[吗呢か]$|什么|怎么|哪里|谁", text)
        return drawn.choice(("？", "?", "")) if asks else drawn.choice(("。", "。", "！", ""))
    if _ASKS.match(text):
        return drawn.choice(("?", "?", "?", " ?", ""))
    return drawn.choice((".", ".", ".", "!", "", ""))


def _cased(text: str, drawn: random.Random) -> str:
    how = drawn.random()
    if how < 0.65:
        return text[:1].upper() + text[1:]
    return text.lower() if how < 0.85 else text
