"""`python -m benchmarks.encoder.overlap FILE …`: what the examples share with a benchmark.

It prints runs of eight words that stand both in an example and in the files. Usual phrases are
shared by chance; a copied fact or sentence would show as well.
"""

import lzma
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.encoder import examples
from benchmarks.encoder.examples import HELD_OUT, of_lives, pairs
from harness.datasets.lives import LIVES, LONG_LIVES

_RUN = 8
_WORD = re.compile(r"\w+")


def runs(text: str) -> Iterator[tuple[str, ...]]:
    """Every run of words, in lower case."""
    words = _WORD.findall(text.lower())
    return zip(*(words[start:] for start in range(_RUN)), strict=False)


def shared(texts: Iterator[str], with_text: str) -> set[tuple[str, ...]]:
    """The runs of the texts that also stand in `with_text`."""
    ours = {run for text in texts for run in runs(text)}
    return ours.intersection(runs(with_text))


def our_texts() -> Iterator[str]:
    """Every question and message of the examples, trained on or held out."""
    lives = (examples.LIVES, LIVES, LONG_LIVES)
    for one in (*pairs(), *pairs(HELD_OUT), *(one for folder in lives for one in of_lives(folder))):
        yield from (one.question, *one.positives, *one.negatives)


def main() -> None:
    """Print the runs that are shared; exit 1 where there are some."""
    found = set[tuple[str, ...]]()
    for file in map(Path, sys.argv[1:]):
        data = file.read_bytes()
        text = (lzma.decompress(data) if file.suffix == ".xz" else data).decode()
        found |= shared(our_texts(), text)
    for run in sorted(found):
        print(" ".join(run))
    print(f"{len(found)} runs of {_RUN} words are shared")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
