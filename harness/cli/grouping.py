"""Options that belong together as one dataclass, taken by several commands.

Typer reads a command's options from its signature: `grouped` shows it the fields of every dataclass
among the parameters as options of their own, and puts the dataclasses together for the call.
"""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with every option by itself."""
    hints = get_type_hints(command, include_extras=True)
    del hints["return"]
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @wraps(command)
    def flat(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{one.name: given.pop(one.name) for one in fields(kind)})
        command(**given)

    shown = [
        option
        for name, parameter in signature(command).parameters.items()
        for option in (
            _options(groups[name])
            if name in groups
            else [parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])]
        )
    ]
    flat.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    flat.__annotations__ = {option.name: option.annotation for option in shown}
    return flat


def _options(kind: Any) -> Iterator[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for one in fields(kind):
        yield Parameter(
            one.name, Parameter.KEYWORD_ONLY, default=_default(one), annotation=hints[one.name]
        )


def _default(one: Field[Any]) -> Any:
    return Parameter.empty if one.default is MISSING else one.default
