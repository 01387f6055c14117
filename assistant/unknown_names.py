"""Names in the environment and in `.env` that look like settings and are none: mistyped ones."""

import os
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from dotenv import dotenv_values

from assistant.setting_names import setting_fields
from assistant.setting_sources import REMOVED
from assistant.settings import Settings

_PREFIX, _NESTED = "ASSISTANT_", "__"
_OTHERS = ("ASSISTANT_URL", "ASSISTANT_USER")
"""Variables of the commands that talk to a running assistant."""


def warnings_about_names() -> list[str]:
    """A line for each name that is no setting, with the nearest that is one. No values."""
    file = str(Settings.model_config["env_file"])
    in_file = dotenv_values(file) if Path(file).is_file() else {}
    return [*_warnings(os.environ, "the environment"), *_warnings(in_file, file)]


def _warnings(names: Iterable[str], where: str) -> Iterator[str]:
    fields = setting_fields(Settings)
    known = [*(_PREFIX + _NESTED.join(path).upper() for path, _ in fields), *_OTHERS]
    for name in sorted(names):
        if name.upper().startswith(_PREFIX) and not _is_known(name.upper(), known):
            # The prefix is left out: with it everything is alike.
            given, ends = name.upper()[len(_PREFIX) :], [one[len(_PREFIX) :] for one in known]
            if given.lower() in REMOVED:
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
