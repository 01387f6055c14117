"""The settings in use, one by one: value and source; and a settings file of the defaults."""

import json
import textwrap
from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple

from pydantic.fields import FieldInfo

from assistant.setting_names import SettingPath, setting_fields
from assistant.setting_sources import Source, given
from assistant.settings import Settings, load_settings

_ABOUT_THE_FILE = """\
# Settings of the assistant, as they are without this file. To change one, take the "# " before
# its name away and give it another value. One that ends in "=" is not set.
"""


class SettingInUse(NamedTuple):
    """A setting by its dotted name; the value as JSON, a secret masked."""

    name: str
    value: Any
    source: Source


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
    parts = [_ABOUT_THE_FILE]
    for group, members in groupby(fields, key=lambda one: one[0][:-1]):
        if group:
            parts.append(f"[{'.'.join(group)}]\n")
        parts += (_commented(path[-1], field) for path, field in members)
    return "\n".join(parts)


def _commented(name: str, field: FieldInfo) -> str:
    meaning = textwrap.fill(
        field.description or "", 98, initial_indent="# ", subsequent_indent="# "
    )
    default = field.get_default(call_default_factory=True)
    # What JSON makes of a text, a number, a list or an empty mapping is TOML, too.
    shown = "" if default is None else f" {json.dumps(default, default=str)}"
    return f"{meaning}\n# {name} ={shown}\n"


def _source(sources: list[tuple[Source, dict[str, Any]]], path: SettingPath) -> Source:
    """The first that gives this setting."""
    return next((name for name, values in sources if _is_in(values, path)), Source.DEFAULT)


def _is_in(values: Any, path: SettingPath) -> bool:
    return not path or (
        isinstance(values, Mapping) and path[0] in values and _is_in(values[path[0]], path[1:])
    )


def _at(values: Mapping[str, Any], path: SettingPath) -> Any:
    value: Any = values
    for name in path:
        value = value[name]
    return value
