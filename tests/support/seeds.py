"""How many draws a test has: a few always, and the others with the slow tests."""

from typing import Any

import pytest


def seeds(few: int, all_of_them: int) -> list[Any]:
    """The first seeds, and those after them marked as slow."""
    slow = pytest.mark.slow
    return [*range(few), *(pytest.param(n, marks=slow) for n in range(few, all_of_them))]
