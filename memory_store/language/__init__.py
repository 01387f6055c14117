"""How text is read: sentences, statements, slots, questions, days.

There are rules for English and none for other languages. Who wrote the words of a message
(`authorship`) is judged from labelled examples of several languages.
"""

from memory_store.language.asked import Asked
from memory_store.language.conditions import bound_to, is_condition, is_open
from memory_store.language.kinds import ASKING, TELLING, Kind, kinds_of, most_of
from memory_store.language.language import Language
from memory_store.language.languages import languages_of, word_list, wording
from memory_store.language.reading import Reading, Sentence
from memory_store.language.sentences import LONGEST_QUERY, LONGEST_READ, read_sentences, sentences
from memory_store.language.statements import Stated, replaces
from memory_store.language.topics import TOPICS, Rarity, key_phrases, telling_sentences
from memory_store.language.wishes import (
    Wishes,
    confirms,
    confirms_deletion,
    declines,
    is_everything,
    still_holds,
    topic_of,
    wished_reach,
    wishes_of,
    without_lead,
)
from memory_store.language.words import named_terms, shared_with, shared_words, term_counts, terms

ENGLISH = Language("english", has_rules=True)
PLAIN = Language("plain", has_rules=False)
LANGUAGES = {language.name: language for language in (ENGLISH, PLAIN)}

__all__ = [
    "ASKING",
    "ENGLISH",
    "LANGUAGES",
    "LONGEST_QUERY",
    "LONGEST_READ",
    "PLAIN",
    "TELLING",
    "TOPICS",
    "Asked",
    "Kind",
    "Language",
    "Rarity",
    "Reading",
    "Sentence",
    "Stated",
    "Wishes",
    "bound_to",
    "confirms",
    "confirms_deletion",
    "declines",
    "is_condition",
    "is_everything",
    "is_open",
    "key_phrases",
    "kinds_of",
    "languages_of",
    "most_of",
    "named_terms",
    "read_sentences",
    "replaces",
    "sentences",
    "shared_with",
    "shared_words",
    "still_holds",
    "telling_sentences",
    "term_counts",
    "terms",
    "topic_of",
    "wished_reach",
    "wishes_of",
    "without_lead",
    "word_list",
    "wording",
]
