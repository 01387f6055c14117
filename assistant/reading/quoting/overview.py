"""Overviews without a model: what the user told, oldest first, for a summary or an order."""

from collections.abc import Sequence

from assistant.reading.quoting.passages import passages
from assistant.reading.quoting.selection import distinct, near_the_best
from assistant.reading.statements import Statement, told_in_order
from memory_store import Language, Speaker, named_terms

_MOST = 20
# The words that ask for an overview of anything; others name what it is wanted of.
_ASKING_TERMS = set(
    named_terms(
        """
        give show tell make write get list can could would will you your please me us i my we our
        a an the in of to for from on about with and or what which how when did do does have has
        had was were is are been be it its them they that this these those there all everything
        anything thing things stuff so far up until till now today lately recently last latest
        recent previous earlier past summary
        summaries summarize summarise summarized summarised summarizing overview recap sum short
        brief quick full whole order sequence chronological chronologically timeline talk talked
        talking chat chats chatted conversation conversations discuss discussed discussion
        discussions say said saying told mention mentioned bring brought raise raised cover
        covered introduce introduced ask asked topic topics subject subjects different various
        session sessions memory memories remember know
        """
    )
)


def names_topic(question: str) -> bool:
    """Whether an overview is wanted of something, not of all that was told."""
    return not _ASKING_TERMS.issuperset(named_terms(question))


def overview(
    near: Sequence[Statement], language: Language, *, of_topic: bool
) -> tuple[list[Statement], bool]:
    """Of statements, nearest first, what is told of the topic, or else what was told last, oldest
    first; and whether more was told."""
    own = [one for one in near if one.speaker is Speaker.USER]
    if of_topic and own:
        own = near_the_best(sorted(own, key=lambda one: -one.closeness))
    else:
        own = told_in_order(own)[::-1]
    told = distinct(passages(own, language, replies=False))
    return told_in_order(told[:_MOST]), len(told) > _MOST
