"""How text is read, one language a package: sentences, statements, slots, questions, days.

`english` has rules; `Language` itself is for every other language and has none. Whose words a
message is (`authorship`) is judged from labelled examples of several languages.
"""

from memory_store.language.english import English
from memory_store.language.language import Language, Stated, replaces

ENGLISH: Language = English()
PLAIN = Language()
LANGUAGES = {language.name: language for language in (ENGLISH, PLAIN)}

__all__ = ["ENGLISH", "LANGUAGES", "PLAIN", "Language", "Stated", "replaces"]
