"""Makes `memory_store/language/authorship.json` from the labelled examples. These are patterns, in
one file for each language, which are expanded to sentences."""

import json
import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

import harness.datasets.sample
import memory_store.language.authorship
from memory_store.language.authorship import Judgement, features, words_of
from memory_store.language.sentences import TextUnit, units_of

FOLDER = Path(__file__).parent / "examples"
LABELS: Mapping[str, float] = {"own": 0.0, "unclear": 0.3, "foreign": 1.0}
# Expansions of one pattern: enough to see its words, few enough that no pattern outweighs others.
_EXPANSIONS = 72
_BREAK = "¶"
ANYTHING = ("zzqx", "龘")
"""Unknown words, one for languages with spaces and one for languages without."""
_NAMES = re.compile(r"(?:name|town|firm) = (.+)")
SAMPLE = Path(harness.datasets.sample.__file__).parent
"""The folder of the sample histories, whose users' messages are also examples of own words."""
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
    """The names of people, towns and firms in the examples, by which nothing shall be judged."""
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
    """Decide the innermost alternatives of the pattern until there are none left."""

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


NUMBERS = Path(memory_store.language.authorship.__file__).parent / "authorship.json"
# A word of fewer patterns than this says more about the patterns than about its writers.
_PATTERNS = 2
# Words of fewer patterns than this are dropped at this rate, since other people use other words.
_COMMON, _DROPPED = 60, 0.5
_STRENGTH = 2.0
_DIGITS = 3
_CJK = "\u3000"


def trained(of: Sequence[GradedSentence]) -> Judgement:
    """The judgement that follows from these examples; the same from the same ones."""
    patterns = _patterns(of)
    named = names()
    known = frozenset(
        word
        for word, seen in patterns.items()
        if word not in ANYTHING and (word >= _CJK or (len(seen) >= _PATTERNS and word not in named))
    )
    rare = {word for word, seen in patterns.items() if len(seen) < _COMMON}
    units, labels, weights = _rows(of, rare)
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform([dict.fromkeys(features(u, known), 1.0) for u in units])
    matrix.indices, matrix.indptr = (a.astype("int32") for a in (matrix.indices, matrix.indptr))
    model = LogisticRegression(
        C=_STRENGTH, solver="liblinear", l1_ratio=1.0, max_iter=3000, random_state=0
    )
    model.fit(matrix, labels, sample_weight=weights)
    by_name = dict(zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True))
    rounded = {name: round(float(weight), _DIGITS) for name, weight in sorted(by_name.items())}
    return Judgement(
        known,
        {name: weight for name, weight in rounded.items() if weight},
        round(float(model.intercept_[0]), _DIGITS),
    )


def to_json(judgement: Judgement) -> str:
    """The numbers as text for the file; equal judgements give equal bytes."""
    plain: dict[str, Any] = {
        "bias": judgement.bias,
        "known": sorted(judgement.known),
        "weights": dict(sorted(judgement.weights.items())),
    }
    return json.dumps(plain, ensure_ascii=False, indent=0) + "\n"


def _patterns(of: Sequence[GradedSentence]) -> dict[str, set[str]]:
    """In which patterns each word occurs."""
    patterns: defaultdict[str, set[str]] = defaultdict(set)
    for example in of:
        for word in words_of(example.unit.text):
            patterns[word].add(example.pattern)
    return patterns


def _rows(
    of: Sequence[GradedSentence], rare: Collection[str]
) -> tuple[list[TextUnit], list[int], "np.ndarray[Any, np.dtype[np.float64]]"]:
    """Each example as it is and with words dropped. An unclear example counts partly for each
    label."""
    drawn = random.Random(1)
    rows = [
        (unit, label, example.weight * share)
        for example in of
        for unit in (example.unit, _dropped(example.unit, rare, drawn))
        for label, share in _shares(example.foreign)
    ]
    labels = np.array([label for _, label, _ in rows])
    weights = np.array([weight for *_, weight in rows])
    # Both sides weigh the same, and an example weighs one on average.
    weights[labels == 0] *= weights[labels == 1].sum() / weights[labels == 0].sum()
    weights *= len(weights) / weights.sum()
    return [unit for unit, *_ in rows], labels.tolist(), weights


def _shares(foreign: float) -> Iterator[tuple[int, float]]:
    if foreign:
        yield 1, foreign
    if foreign < 1:
        yield 0, 1 - foreign


def _dropped(unit: TextUnit, rare: Collection[str], drawn: random.Random) -> TextUnit:
    """The unit with some of its rare words replaced by an unknown word."""
    words = [
        ANYTHING[0]
        if word.isalpha() and word.lower() in rare and drawn.random() < _DROPPED
        else word
        for word in unit.text.split(" ")
    ]
    return TextUnit(" ".join(words), unit.breaks)


def main() -> None:
    """Write the numbers."""
    NUMBERS.write_text(to_json(trained(list(examples()))), "utf-8")


if __name__ == "__main__":
    main()
