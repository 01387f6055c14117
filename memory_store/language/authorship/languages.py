"""In which language a sentence is, by its commonest words.

Only for telling that two sentences are not in one language; where that is unclear it says nothing.
"""

import re
import unicodedata

_COMMON = {
    "en": "the and is are was of to in my you it i'm i've that this for with on at have do does can"
    " what how not but so we he she they there here any some please me your his her",
    "de": "der die das und ist sind war ich du er sie es wir ihr mein meine mir mich dir nicht ein"
    " eine einen im den dem zu auf mit für von wie was kannst bitte auch jetzt hier aber so gut",
    "fr": "le la les et est sont je tu il elle nous vous mon ma mes ton ne pas un une des du de au"
    " à en dans pour avec que qui c'est j'ai j'habite ça ce cette peux s'il te plaît maintenant",
    "es": "el los las y es son yo tú él ella mi mis tu no un una de del al en para con que qué está"
    " este esta esto me te lo por favor ahora cómo hay muy puedes",
    "it": "il lo gli e è sono io tu lui lei mio mia non un una di del della al nel per con che cosa"
    " questo questa mi adesso molto puoi dove",
    "pt": "o os as e é são eu você ele ela meu minha não um uma de do da ao no na em para com que"
    " isso este esta me te como muito agora pode está",
    "nl": "de het en is zijn ik je jij hij zij wij mijn niet een van te op met voor dat dit wat hoe"
    " kan kun aan maar ook nu er zo",
}
_LANGUAGES: dict[str, frozenset[str]] = {}
for _name, _words in _COMMON.items():
    for _word in _words.split():
        _LANGUAGES[_word] = _LANGUAGES.get(_word, frozenset()) | {_name}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NOT_LATIN = re.compile(r"(?![_\d])[\u0370-\u1dff\u2c00-\ud7ff]")
_LONGEST = 400
# A word of one language alone, or several that it shares with others.
_ENOUGH = 1.0


def languages_of(text: str) -> set[str]:
    """The language that most of its common words are of, and the script of another alphabet; no
    language where none has most."""
    text = text[:_LONGEST]
    found = {_language_of(text), _script_of(text)}
    return {name for name in found if name}


def _script_of(text: str) -> str | None:
    letter = _NOT_LATIN.search(text)
    if not letter:
        return None
    script = unicodedata.name(letter[0], "?").split(" ")[0]
    return "CJK" if script in ("HIRAGANA", "KATAKANA") else script


def _language_of(text: str) -> str | None:
    found: dict[str, float] = {}
    for word in _WORD.findall(text.lower().replace("’", "'")):
        for name in (names := _LANGUAGES.get(word, frozenset())):
            found[name] = found.get(name, 0.0) + 1 / len(names)
    best = sorted(found, key=lambda name: -found[name])[:2]
    if not best or found[best[0]] < _ENOUGH:
        return None
    if len(best) > 1 and found[best[0]] == found[best[1]]:
        return None
    return best[0]
