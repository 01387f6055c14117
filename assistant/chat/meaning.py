"""Which act a message wants: something forgotten, nothing kept of it, or a few polite words.

The model of kinds decides, and only where it is sure. A request is short and in the user's own
words: what is quoted or pasted asks for nothing.
"""

import re

from memory_store import Kind, named_terms, shipped_kinds

# Of 23,302 messages of people who asked for nothing of the kind, the model is so sure of none.
_SURE_FORGETS = 0.7
# Keeping what was refused is worse than not keeping, and saying so.
_SURE_KEEPS_OUT = 0.5
_SURE_EITHER = 0.6
_SURE_POLITE = 0.6
_POLITE = (Kind.GREETS, Kind.THANKS, Kind.SMALL_TALK, Kind.ABOUT_ASSISTANT)
_LONGEST_REQUEST = 300
_LONGEST_POLITE = 100
# One part of a message may refuse all of it; so many are looked at, from either end.
_PARTS = 24
_PART_ENDS = re.compile(r"[.,;:!?\n–—，。：；！？]|\s-\s")
# What the words of a refusal leave to the model: these few decide what a private thing becomes.
_MAY_KEEP_OUT = 0.05
_NEGATION = (
    r"(?:(?<!\bi )\b(?:don'?t|do not|not|never|no|didn'?t|nicht|kein\w*|nie|ne|pas|nunca"
    r"|jamais)\b|\bn'|不要|不用|别|请勿)"
)
_KEEPING = (
    r"(?:sav(?:e|ed|ing)|stor(?:e|ed|ing|age)|remember(?:ed)?|memor\w+|keep(?:ing)?|kept|record\w*"
    r"|log|retain\w*|(?:writ(?:e|ten)|note)\b(?: \w+)? down|(?:ge|ab)?speicher\w*|merk\w*"
    r"|behalt\w*|notier\w*|aufschreib\w*|guard\w*|recuerd\w*|memori\w*|regist\w*|apunt\w*"
    r"|almacen\w*|acuerd\w*|retien\w*|reten\w*|enregistr\w*|garde\w*|mémoris\w*|note[rz]?"
    r"|sauvegard\w*|souvien\w*|记|保存|存)"
)
_CONFIDENCE = (
    r"off the record|between (?:us|you and me)|unter uns|entre nous|entre nosotros|entre t[uú] y yo"
    r"|vergiss das gleich|(?:after|as soon as|once)(?: you)?(?: have)? read|保密"
)
_REFUSAL = re.compile(
    rf"{_NEGATION}(?:\s*[\w']+){{0,3}}?[\s']*{_KEEPING}"
    rf"|\bmerk\w*(?: \w+){{0,3}}? nicht\b|{_CONFIDENCE}",
    re.I,
)
_READ = 4000
_BARE = re.compile(
    r"(?:(?:please|pls|ok(?:ay)?|sorry|actually|bitte|por favor|s'il te plaît|请|把)[\s,]*)*"
    r"(?:forget|delete|erase|remove|vergiss|lösche?|olvida|borra|elimina|oublie|efface|supprime"
    r"|忘|删)",
    re.I,
)
# "Please forget my pen name" can mean nothing else, whatever the name is of.
_FORGET_MINE = re.compile(
    r"(?:\A|[.!?]\s+)(?:(?:please|pls|ok(?:ay)?|sorry|actually|now)[\s,]*)*forget\s+(?:about\s+)?"
    r"(?:my|our)\s+\w",
    re.I,
)
_FOREIGN = re.compile(
    r"```.*?(?:```|\Z)|^\s*>.*$|[“„«»].*?[”“»«]|\"[^\"]*\"|(?<!\w)'[^'\n]*'(?!\w)", re.M | re.S
)


def own_words(text: str) -> str:
    """The message without what is quoted in it; of a long one the beginning and the end."""
    if len(text) > 2 * _READ:
        text = f"{text[:_READ]}\n{text[-_READ:]}"
    return _FOREIGN.sub(" ", text).strip()


def wants_forgotten(text: str) -> bool:
    """Whether it surely asks to forget something that was told."""
    own = own_words(text)
    if not own or len(own) > _LONGEST_REQUEST:
        return False
    # "Forget that" says nothing but this, too short for the model to be sure.
    is_bare = _BARE.match(own) is not None and not topic_of(own)
    if is_bare or _FORGET_MINE.search(own):
        return True
    return _shares(own)[Kind.FORGETS] >= _SURE_FORGETS


def keeps_out(text: str) -> bool:
    """Whether it, or a part of it, says that it is not to be remembered."""
    own = own_words(text)
    parts = [part for part in _PART_ENDS.split(own) if part.strip()]
    if len(parts) > 2 * _PARTS:
        parts = [*parts[:_PARTS], *parts[-_PARTS:]]
    wholes = [own] if len(own) <= _LONGEST_REQUEST else []
    return any(map(_refuses, [*wholes, *parts]))


def _refuses(part: str) -> bool:
    shares = _shares(part)
    if shares[Kind.KEEPS_OUT] >= _SURE_KEEPS_OUT:
        return True
    meant = shares[Kind.KEEPS_OUT] + shares[Kind.FORGETS]
    if len(part) <= _LONGEST_REQUEST and meant >= _SURE_EITHER:
        return True
    wanted = meant + shares[Kind.INSTRUCTS]
    return wanted >= _MAY_KEEP_OUT and _REFUSAL.search(part) is not None


def politeness(text: str) -> Kind | None:
    """The kind of a message that wants no more than a few words back."""
    if len(text) > _LONGEST_POLITE:
        return None
    shares = _shares(text)
    kind = max(_POLITE, key=lambda kind: shares[kind])
    return kind if shares[kind] >= _SURE_POLITE else None


_YES = "yes|ja|s[ií]|oui|是的?|好的?"
_DELETE = (
    "delete|forget|remove|erase|l[oö]schen?|vergessen|vergiss|borrar|b[oó]rral[oa]s?|eliminar"
    "|olvidar|supprimer?|supprime|effacer?|efface|oublier?|删除|忘掉|忘记"
)
_WHAT = "it|them|that|those|this|es|sie|das|lo|los|la|las|le|les|ça|吧|它们?"
_CONFIRMS = re.compile(
    rf"(?:{_YES})[\s,，.!]*(?:(?:please|bitte|por favor)[\s,]+)?(?:{_WHAT})?\s*(?:{_DELETE})"
    rf"[\s-]*(?:{_WHAT})?[\s.!。！]*",
    re.I,
)
_JUST_YES = re.compile(
    rf"(?:{_YES}|yep|yeah|ok(?:ay)?|sure|do it|go ahead)(?:[\s,]+(?:please|bitte))?[\s.!。！]*",
    re.I,
)


def confirms(text: str) -> bool:
    """Whether the whole message says yes, and to delete."""
    return _CONFIRMS.fullmatch(text.strip()) is not None


def nearly_confirms(text: str) -> bool:
    """Whether it says yes, and not to what."""
    return _JUST_YES.fullmatch(text.strip()) is not None


def _shares(text: str) -> dict[Kind, float]:
    return shipped_kinds().shares(text)


# The words of requests, in five languages; what is left is the topic.
_ASKING = """
forget delete remove erase wipe drop clear scrub scratch strike bin undo discard purge lose ditch
please kindly pls plz can could would will you u ur your yours i me my mine we us our im ive id
want wanna need like dont do not no longer anymore any more never mind nevermind just
said say says saying told tell mentioned mention gave wrote write sent typed shared know knew
remember remembered memory memories memo stored store saved save kept keep record records data
everything anything all every each trace stuff things thing bits bit part parts info information
details detail about abt regarding concerning on of off out from for to in at with up away rid get
take go gone have has had be been is are was were the a an and or that this those these it its them
there here what which who when where whole entire last latest previous recent message messages msg
one ones note notes back minute moment second nvm
so ok okay hey oh sorry actually again before earlier now today yesterday ago
vergiss vergessen vergesst lösche lösch löschen entferne entfernen streich streiche alles was ich
dir über von zu zum zur gesagt erzählt bitte das den die der dem es mir mich mein meine meinen
meiner meinem meines letzte letzten nachricht und auch doch mal kannst du nicht mehr wieder
aus raus weg ist war habe hab gerade eben soeben
olvida olvidar olvídate borra borrar bórralo elimina eliminar quita quitar todo toda lo que te dije
conté sobre de del la el los las mi mis por favor eso esto esa ese último última mensaje acerca he
dicho puedes acabo acabas decir recién
oublie oublier efface effacer supprime supprimer enlève enlever retire tout tous ce que je t ai
te dit sur mon ma mes le les des du au aux s'il vous plaît stp svp ça cela dernier dernière peux tu
viens dire juste
j c est
""".split()
_ASKING_TERMS = set(named_terms(" ".join(_ASKING)))
# Chinese is written without spaces.
_ASKING_CHINESE = """
请 把 关于 有关 我 你 的 所有 全部 一切 删除 删掉 删了 忘记 忘掉 忘了 清除 去掉 记录 信息 内容 事情
说过 说的 告诉 刚才 刚刚 那些 这些 那个 这个 那条 这条 上一条 消息 都 吧 了 掉 话 说 事 不要 记住
""".split()


def topic_of(request: str) -> str:
    """What is to be forgotten, in the words of the request; empty where it only points at it."""
    for word in sorted(_ASKING_CHINESE, key=len, reverse=True):
        request = request.replace(word, " ")
    words = named_terms(request)
    return " ".join(word for term, word in words.items() if term not in _ASKING_TERMS)


_POINTS = re.compile(r"\b(?:that|this|it)\b", re.I)
_EVERYTHING = re.compile(r"\b(?:everything|all|alles|todo|tout)\b|所有|全部|一切", re.I)


def is_everything(request: str) -> bool:
    """Whether a request that names no topic means all that is kept, and not what was just said."""
    return bool(_EVERYTHING.search(request)) and not _POINTS.search(request)
