"""What a request to forget is about: the words of it that ask for nothing."""

import re

from memory_store import named_terms

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
