"""Knowledge updates: what a statement gives a value for, whose words it is, and what it replaces.

Pure functions. Nothing is ever deleted: an older fact is linked to the one that holds now.
"""

from memory_store.updates.asked import asked_slot
from memory_store.updates.authorship import AMONG_PEOPLE, RULE, Authorship, authorship
from memory_store.updates.chains import Unlinking, linked, may_be_one
from memory_store.updates.others import replacements
from memory_store.updates.slots import Stated, stated
from memory_store.updates.standing import Standing, link_targets, superseded_parts

__all__ = [
    "AMONG_PEOPLE",
    "RULE",
    "Authorship",
    "Standing",
    "Stated",
    "Unlinking",
    "asked_slot",
    "authorship",
    "link_targets",
    "linked",
    "may_be_one",
    "replacements",
    "stated",
    "superseded_parts",
]
