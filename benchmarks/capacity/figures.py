"""The figures that predictions rest on: measured, public or assumed, each with its source."""

import json
from pathlib import Path
from typing import Any

import numpy as np

_FILE = Path(__file__).parent / "figures.json"


class KnownFigures:
    """The numbers of `figures.json`; the caller's values replace some of them."""

    def __init__(self, **others: float) -> None:
        self.all: dict[str, Any] = json.loads(_FILE.read_text("utf-8"))
        for name, value in others.items():
            self.all[name] = {"value": value, "kind": "given", "from": "the command line"}

    def __getitem__(self, name: str) -> float:
        """A single number."""
        return float(self.all[name]["value"])

    def range(self, name: str) -> tuple[float, float]:
        """A low and a high number."""
        low, high = self.all[name]["value"]
        return float(low), float(high)

    def at(self, name: str, place: float) -> float:
        """The value at a place of a table: interpolated between its points, and beyond the last
        point extrapolated by the slope of the last two."""
        places, values = np.asarray(self.all[name]["value"], float).T
        if place <= places[-1]:
            return float(np.interp(place, places, values))
        slope = (values[-1] - values[-2]) / (places[-1] - places[-2])
        return float(values[-1] + slope * (place - places[-1]))
