"""Work on whole memories: move, reindex, back up, restore. For operators only."""

from memory_store.transfer._backup import (
    BackedUp,
    LinesSum,
    Mended,
    Restored,
    back_up,
    repair,
    restore,
)
from memory_store.transfer._filling import Progress
from memory_store.transfer._migrating import Migrated, migrate
from memory_store.transfer._records import ending, exported, from_lines, header, to_line, to_lines
from memory_store.transfer._reindexing import Reindexed, cancel_reindex, reindex

__all__ = [
    "BackedUp",
    "LinesSum",
    "Mended",
    "Migrated",
    "Progress",
    "Reindexed",
    "Restored",
    "back_up",
    "cancel_reindex",
    "ending",
    "exported",
    "from_lines",
    "header",
    "migrate",
    "reindex",
    "repair",
    "restore",
    "to_line",
    "to_lines",
]
