"""Sentences, and how much of a text is read for them. The one splitter that facts, quotes and
questions share; linear in the length of the text."""

import re

from memory_store.language.word_lists import word_list

LONGEST_READ = 65_536
"""Characters that rules read for facts, their days and slots, and for what a question asks and
which sentences answer it. The longest message of the histories that we know has 42,000; a search
may ask in half as many. All of a text is kept, shown, and found by its words."""

LONGEST_QUERY = 2000
"""Characters of a question that are embedded: text beyond this adds nothing to a query."""

# Each stands before a name or an example; its full stop ends nothing.
_NO_ABBREVIATION = "".join(
    rf"(?<!\b{re.escape(word)}\.)" for word in word_list("english", "abbreviations")
)
# A long line that goes on in lower case was wrapped, as e-mails are. Short ones are lists, or the
# statements of somebody who writes no capitals, not even "I".
_WRAPPED = r"(?<=[^\n]{39}[\w,]\n)(?!i\b)[a-z]"
# A sentence ends with closing punctuation followed by space, or at the end of a line. Written to
# begin with the characters it can begin with, which are looked for fast.
_SENTENCE_END = re.compile(rf"[.!?\n](?:(?<=\n)(?!{_WRAPPED})\n*|{_NO_ABBREVIATION}[\"')\]]*\s+)")


def sentences(text: str) -> list[str]:
    """Split text into trimmed, non-empty sentences."""
    ends = list(_SENTENCE_END.finditer(text))
    starts = [0, *(end.end() for end in ends)]
    stops = [*(end.start() + 1 for end in ends), len(text)]
    parts = (text[start:stop].strip() for start, stop in zip(starts, stops, strict=True))
    return [part for part in parts if part]


def read_sentences(text: str) -> list[str]:
    """The sentences of as much of a text as is read, without one that goes on beyond that."""
    parts = sentences(text[:LONGEST_READ])
    return parts if len(text) <= LONGEST_READ else parts[:-1]
