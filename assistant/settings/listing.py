"""The settings by name: which there are, which are in use, and names that are none."""

import ast
import inspect
import json
import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from dotenv import dotenv_values
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from assistant.settings.settings import Settings, load_settings
from assistant.settings.sources import FLAT_NAMES, REMOVED, SettingSource, given

SettingPath = tuple[str, ...]
"""A setting by the names that lead to it: `("recall", "rounds")`."""


def setting_fields(
    model: type[BaseModel], above: SettingPath = ()
) -> Iterator[tuple[SettingPath, FieldInfo]]:
    """Each setting of a model and what is declared of it, in the order of the declarations."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from setting_fields(inner, (*above, name))
        else:
            yield (*above, name), field


def setting_meanings(model: type[BaseModel], above: SettingPath = ()) -> dict[SettingPath, str]:
    """The docstring after each setting or group of a model, by the setting's path.

    They are read here, because pydantic would read them in the source at every start.
    """
    found: dict[SettingPath, str] = {}
    for declaring in reversed(model.__mro__):
        if issubclass(declaring, BaseModel) and declaring is not BaseModel:
            found |= {(*above, name): said for name, said in _docstrings(declaring)}
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= setting_meanings(inner, (*above, name))
    return found


def _docstrings(declaring: type[BaseModel]) -> Iterator[tuple[str, str]]:
    (written,) = ast.parse(inspect.getsource(declaring)).body
    assert isinstance(written, ast.ClassDef)
    for pair in pairwise(written.body):
        match pair:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(str(said))):
                yield name, inspect.cleandoc(said)


_ABOUT_THE_FILE = """\
# Settings of the assistant, as they are without this file. To change one, take the "# " before
# its name away and give it another value. One that ends in "=" is not set.
"""


class SettingInUse(NamedTuple):
    """A setting by its dotted name; the value as JSON, a secret masked."""

    name: str
    value: Any
    source: SettingSource


def settings_in_use(**flags: Any) -> list[SettingInUse]:
    """All settings; flags that are None were not given. Raises `ConfigError`."""
    settings = load_settings(**flags)
    values = settings.public() | {"config_file": str(settings.config_file)}
    sources = list(given(Settings, {k: v for k, v in flags.items() if v is not None}))
    return [
        SettingInUse(".".join(path), _at(values, path), _source(sources, path))
        for path, _ in setting_fields(Settings)
    ]


def default_file() -> str:
    """A settings file (TOML) with each setting, its meaning and its default as comments."""
    # A group's header ends the group before: the settings of no group come first.
    fields = sorted(
        ((path, field) for path, field in setting_fields(Settings) if path != ("config_file",)),
        key=lambda one: len(one[0]) > 1,
    )
    meanings = setting_meanings(Settings)
    parts = [_ABOUT_THE_FILE]
    for group, members in groupby(fields, key=lambda one: one[0][:-1]):
        if group:
            about = meanings.get(group)
            parts.append((f"# {about}\n" if about else "") + f"[{'.'.join(group)}]\n")
        parts += (_commented(path[-1], field, meanings.get(path, "")) for path, field in members)
    return "\n".join(parts)


def _commented(name: str, field: FieldInfo, meaning: str) -> str:
    lines = textwrap.fill(meaning, 98, initial_indent="# ", subsequent_indent="# ")
    default = field.get_default(call_default_factory=True)
    # JSON of a text, a number, a list or an empty mapping is TOML, too.
    shown = "" if default is None else f" {json.dumps(default, default=str)}"
    return f"{lines}\n# {name} ={shown}\n"


def _source(
    sources: list[tuple[SettingSource, dict[str, Any]]], path: SettingPath
) -> SettingSource:
    """The first source that gives this setting."""
    return next((name for name, values in sources if _is_in(values, path)), SettingSource.DEFAULT)


def _is_in(values: Any, path: SettingPath) -> bool:
    return not path or (
        isinstance(values, Mapping) and path[0] in values and _is_in(values[path[0]], path[1:])
    )


def _at(values: Mapping[str, Any], path: SettingPath) -> Any:
    value: Any = values
    for name in path:
        value = value[name]
    return value


_PREFIX, _NESTED = "ASSISTANT_", "__"
_OTHERS = ("ASSISTANT_URL", "ASSISTANT_USER")
"""Variables of the commands that talk to a running assistant."""


def warnings_about_names() -> list[str]:
    """A line for each name that is no setting, with the nearest one that is, and without values."""
    file = str(Settings.model_config["env_file"])
    in_file = dotenv_values(file) if Path(file).is_file() else {}
    return [*_warnings(os.environ, "the environment"), *_warnings(in_file, file)]


def _warnings(names: Iterable[str], where: str) -> Iterator[str]:
    fields = setting_fields(Settings)
    names_of_settings = [*FLAT_NAMES, *(_NESTED.join(path) for path, _ in fields)]
    known = [*(_PREFIX + one.upper() for one in names_of_settings), *_OTHERS]
    for name in sorted(names):
        if name.upper().startswith(_PREFIX) and not _is_known(name.upper(), known):
            # Compared without the prefix, which would make all names alike.
            given, ends = name.upper()[len(_PREFIX) :], [one[len(_PREFIX) :] for one in known]
            if given.lower().replace(_NESTED, ".") in REMOVED:
                yield f"{name} in {where} is no longer a setting and counts for nothing"
                continue
            nearest = get_close_matches(given, ends, n=1)
            hint = f"; did you mean {_PREFIX}{nearest[0]}?" if nearest else ""
            yield f"{name} in {where} is no setting and counts for nothing{hint}"


def _is_known(name: str, known: Iterable[str]) -> bool:
    """A variable may also hold a whole group of settings as JSON, or an entry of a mapping."""
    return any(
        one == name or one.startswith(name + _NESTED) or name.startswith(one + _NESTED)
        for one in known
    )
