"""Where settings come from: the sources in their order, and what each of them gives.

Names of earlier versions are translated here, for each source by itself: what a source says by an
old name wins over what the next source says by the new one.
"""

import logging
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    TomlConfigSettingsSource,
)

from assistant.errors import ConfigError

_log = logging.getLogger(__name__)

REMOVED = frozenset(
    {
        "embedder_path",
        "enrichment.known_facts",
        "enrichment.sessions_at_once",
        "limits.messages",
        "limits.query_characters",
        "models.at_once",
        "qdrant.retries",
        "qdrant.timeout",
        "recall.weights.personal",
    }
)
"""Settings of earlier versions: one that is still given counts for nothing and stops no start."""

_MODELS = ("chat_model", "extract_model", "query_model")
_FIELDS = ("base_url", "api_key", "timeout", "retries")
FLAT_NAMES = {model: (model, "name") for model in _MODELS} | {
    f"{model}_{field}": (model, field) for model in _MODELS for field in _FIELDS
}
"""What may also be given outside its group: `chat_model` alone is the name of the model, and
`chat_model_timeout`, as in earlier versions, its `timeout`."""


class SettingSource(StrEnum):
    """Where the value of a setting comes from; the first that gives one wins."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    DOTENV = ".env"
    FILE = "file"
    DEFAULT = "default"


def in_order(
    settings_cls: type[BaseSettings],
    flags: PydanticBaseSettingsSource,
    environment: PydanticBaseSettingsSource,
    dotenv: PydanticBaseSettingsSource,
) -> tuple[PydanticBaseSettingsSource, ...]:
    """The sources in the order of `SettingSource`. Raises `ConfigError` where a settings file is
    wrong."""
    for variables in (environment, dotenv):
        if isinstance(variables, EnvSettingsSource):
            variables.env_vars = _nested(variables.env_vars, variables.env_prefix.lower())
    above = [_in_todays_names(source()) for source in (flags, environment, dotenv)]
    file = _in_todays_names(_SettingsFile(settings_cls, _settings_file(*above))())
    return tuple(InitSettingsSource(settings_cls, init_kwargs=each) for each in (*above, file))


def given(
    settings_cls: type[BaseSettings], flags: Mapping[str, Any]
) -> Iterator[tuple[SettingSource, dict[str, Any]]]:
    """What each source gives, with groups of settings as dictionaries. The first source wins."""
    sources = in_order(
        settings_cls,
        InitSettingsSource(settings_cls, init_kwargs=dict(flags)),
        EnvSettingsSource(settings_cls),
        DotEnvSettingsSource(settings_cls),
    )
    for name, source in zip(SettingSource, sources, strict=False):
        yield name, source()


def _nested(variables: Mapping[str, str | None], prefix: str) -> dict[str, str | None]:
    """The variables, with those of `FLAT_NAMES` under their nested names. A nested name wins where
    both are given. A whole group may also be JSON."""
    nested = dict(variables)
    for flat, path in FLAT_NAMES.items():
        value = nested.get(prefix + flat)
        if value is None or (flat in _MODELS and value.lstrip().startswith("{")):
            continue
        del nested[prefix + flat]
        name = prefix + "__".join(path)
        # Compose passes a variable that is not set as an empty text.
        nested[name] = nested.get(name) or value
    return nested


def _in_todays_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values in their groups, without what is `REMOVED`."""
    grouped = {name: _as_group(value) for name, value in values.items()}
    for flat, (group, name) in FLAT_NAMES.items():
        if flat not in grouped or (flat in _MODELS and isinstance(grouped[flat], dict)):
            continue
        value = grouped.pop(flat)
        grouped[group] = {name: value} | grouped.get(group, {})
    for path in REMOVED:
        _leave_out(path.split("."), grouped)
    return grouped


def _leave_out(path: Sequence[str], values: dict[str, Any]) -> None:
    name, *inner = path
    if not inner:
        values.pop(name, None)
    elif isinstance(group := _as_group(values.get(name)), dict):
        values[name] = group
        _leave_out(inner, group)


def _as_group(value: Any) -> Any:
    """A copy of a group as a dictionary of what was given in it; any other value as it is."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    return dict(value) if isinstance(value, Mapping) else value


class _SettingsFile(TomlConfigSettingsSource):
    """The settings file; a name in it that is no setting is refused, unlike in the environment."""

    def __init__(self, settings_cls: type[BaseSettings], file: Path) -> None:
        try:
            super().__init__(settings_cls, file)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"cannot read {file}: {error}", code="wrong_setting") from error
        for name in sorted(REMOVED & set(_paths(self.toml_data))):
            _log.warning("%s in %s is no longer a setting and counts for nothing", name, file)
        known = {*settings_cls.model_fields, *FLAT_NAMES, *REMOVED}
        if unknown := sorted(set(self.toml_data) - known):
            raise ConfigError(
                f"wrong setting: {', '.join(unknown)} in {file} is not a setting of the assistant",
                code="wrong_setting",
            )


def _paths(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        yield name
        if isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in value)


def _settings_file(*given: Mapping[str, Any]) -> Path:
    """The settings file: the one a source names, which must be there, or the default one."""
    for values in given:
        if (named := values.get("config_file")) is not None:
            if not Path(named).is_file():
                raise ConfigError(f"there is no settings file {named}", code="wrong_setting")
            return Path(named)
    return Path("assistant.toml")
