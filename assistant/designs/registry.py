"""Designs by name: the product's own, those of the literature, and those of other packages."""

import importlib
from dataclasses import fields
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any, TypeGuard

from assistant.answering.plan import Mode
from assistant.designs import published
from assistant.designs.control_points import AIDE_MEMOIRE, Choices, KeySource, Retrieval
from assistant.designs.design import Design
from assistant.errors import ConfigError
from memory_store import TimeUse

# Named by their files, because some need libraries that are installed with an extra only.
PUBLISHED = tuple(module.name.replace("_", "-") for module in iter_modules(published.__path__))
"""The designs of the literature: a file each, with one class, in `assistant.designs.published`."""

ENTRY_POINTS = "aide_memoire.designs"
"""The group of entry points in which other packages name their designs."""
# The control points that have settings of their own, whatever the design.
_READING = ("mode", "layout")


class AideMemoire(Design):
    """The product's own design. It has no view: the store itself recalls."""

    name = AIDE_MEMOIRE
    choices = Choices(
        keys=(KeySource.VALUE, KeySource.FACT),
        time=TimeUse.LIFT,
        retrieval=Retrieval.BOTH,
        mode=Mode.CHAIN_OF_NOTE,
    )
    fixed = ("value", "keys", "merged", "query")


def choices_of(name: str, chosen: dict[str, Any]) -> Choices:
    """The choices of a design with those made in the settings. Raises `ConfigError` for a choice
    that the design does not allow."""
    design = class_of(name)
    made = {point: choice for point, choice in chosen.items() if choice is not None}
    if others := sorted(made.keys() & set(design.fixed)):
        free = [
            point.name for point in fields(Choices) if point.name not in design.fixed + _READING
        ]
        raise ConfigError(
            f"design {name} has a choice of {' and '.join(free)} only, not of {', '.join(others)}: "
            "set design=longmemeval, or another one, to choose these",
            code="wrong_setting",
        )
    choices = design.choices.with_chosen(made)
    allowed = dict.fromkeys((design.choices.retrieval, *design.retrievals))
    if choices.retrieval not in allowed:
        raise ConfigError(
            f"design {name} does not find by {choices.retrieval}: choose {', '.join(allowed)}",
            code="wrong_setting",
        )
    return choices


def class_of(name: str) -> type[Design]:
    """The class of a design. Raises `ConfigError`."""
    if name == AIDE_MEMOIRE:
        return AideMemoire
    of_others = {one.name: one.value for one in entry_points(group=ENTRY_POINTS)}
    place = of_others.get(name, name) if name not in PUBLISHED else name
    module, colon, attribute = place.rpartition(":")
    if not (colon or name in PUBLISHED):
        known = ", ".join((AIDE_MEMOIRE, *PUBLISHED, *of_others))
        raise ConfigError(
            f"there is no design {name[:80]!r}: choose one of {known}, or module:Class",
            code="wrong_setting",
        )
    try:
        if colon:
            found: object = getattr(importlib.import_module(module), attribute)
        else:
            found = _class_in(f"{published.__name__}.{name.replace('-', '_')}")
    except ImportError as error:
        wants = "is it installed?" if colon else "pip install 'aide-memoire[designs]'"
        raise ConfigError(f"design {name}: {error}; {wants}", code="wrong_setting") from error
    except AttributeError as error:
        raise ConfigError(f"design {name}: {error}", code="wrong_setting") from error
    if not _is_design(found):
        raise ConfigError(f"design {name} is no class below Design", code="wrong_setting")
    return found


def _class_in(module: str) -> object:
    named = vars(importlib.import_module(module)).values()
    return next(
        one for one in named if getattr(one, "__module__", "") == module and _is_design(one)
    )


def _is_design(found: Any) -> TypeGuard[type[Design]]:
    return isinstance(found, type) and issubclass(found, Design)
