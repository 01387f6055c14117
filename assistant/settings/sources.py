"""Where settings come from: the sources in their order, and what each of them gives."""

import logging
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

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

REMOVED = frozenset({"embedder_path"})
"""Settings of earlier versions: one that is still given counts for nothing and stops no start."""


class Source(StrEnum):
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
    """The sources in the order of `Source`. Raises `ConfigError` for a wrong settings file."""
    above = (flags, environment, dotenv)
    return *above, _SettingsFile(settings_cls, _settings_file(*above))


def given(
    settings_cls: type[BaseSettings], flags: Mapping[str, Any]
) -> Iterator[tuple[Source, dict[str, Any]]]:
    """What each source gives, groups of settings as dictionaries, the first wins."""
    sources = in_order(
        settings_cls,
        InitSettingsSource(settings_cls, init_kwargs=dict(flags)),
        EnvSettingsSource(settings_cls),
        DotEnvSettingsSource(settings_cls),
    )
    for name, source in zip(Source, sources, strict=False):
        yield name, source()


class _SettingsFile(TomlConfigSettingsSource):
    """The settings file; a name in it that is no setting is refused, unlike in the environment."""

    def __init__(self, settings_cls: type[BaseSettings], file: Path) -> None:
        try:
            super().__init__(settings_cls, file)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"cannot read {file}: {error}", code="wrong_setting") from error
        for name in sorted(REMOVED & set(self.toml_data)):
            _log.warning("%s in %s is no longer a setting and counts for nothing", name, file)
        if unknown := sorted(set(self.toml_data) - set(settings_cls.model_fields) - REMOVED):
            raise ConfigError(
                f"wrong setting: {', '.join(unknown)} in {file} is not a setting of the assistant",
                code="wrong_setting",
            )


def _settings_file(*sources: PydanticBaseSettingsSource) -> Path:
    """The settings file: the one a source names, which must be there, or the default one."""
    for source in sources:
        if (named := source().get("config_file")) is not None:
            if not Path(named).is_file():
                raise ConfigError(f"there is no settings file {named}", code="wrong_setting")
            return Path(named)
    return Path("assistant.toml")
