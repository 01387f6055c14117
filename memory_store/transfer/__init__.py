"""Whole memories: moved between engines, indexed anew, written out. For operators only."""

from memory_store.transfer.backup import (
    BackedUp,
    LinesSum,
    Mended,
    Restored,
    back_up,
    repair,
    restore,
)
from memory_store.transfer.filling import Progress
from memory_store.transfer.migrating import Migrated, migrate
from memory_store.transfer.records import ending, exported, from_lines, header, to_line, to_lines
from memory_store.transfer.reindexing import Reindexed, cancel_reindex, reindex

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
