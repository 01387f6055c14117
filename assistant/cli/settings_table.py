"""Settings as people read them: a table on a terminal, a line each in a pipe."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assistant.cli.console import one_line
from assistant.cli.memory_table import say
from assistant.settings.listing import SettingInUse
from assistant.settings.sources import SettingSource


def print_settings(console: Console, settings: Sequence[SettingInUse]) -> None:
    """Name, value and source, tabs between in a pipe; a table shows the defaults dimmed."""
    file = next(str(one.value) for one in settings if one.name == "config_file")
    table = Table("setting", "value", "from", box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name, value, source in settings:
        # A settings file goes by its name.
        fields = (
            name,
            _text(value),
            one_line(file) if source is SettingSource.FILE else source.value,
        )
        if not console.is_terminal:
            say(console, "\t".join(fields))
        style = "dim" if source is SettingSource.DEFAULT else ""
        table.add_row(*(Text(field, style, overflow="fold") for field in fields))
    if console.is_terminal:
        console.print(table)


def _text(value: Any) -> str:
    """A value in one line; nothing for what is not set."""
    if value is None:
        return ""
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
