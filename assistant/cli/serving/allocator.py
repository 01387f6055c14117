"""Keeps the process small: tells glibc's allocator to give memory back.

Encoding allocates and frees large buffers in several threads for hours. By default glibc keeps an
arena a thread, raises its own thresholds until such buffers live on the heap, and returns little of
it; a long import then ends several hundred megabytes above what is in use.
"""

import ctypes
import sys

# From glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_LARGE = 256 * 1024


def keep_small() -> None:
    """Few arenas, large buffers straight from the system; does nothing where there is no glibc."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    mallopt(_M_ARENA_MAX, 2)
    mallopt(_M_MMAP_THRESHOLD, _LARGE)
    mallopt(_M_TRIM_THRESHOLD, _LARGE)
