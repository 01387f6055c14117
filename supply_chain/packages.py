"""What the parts of the project install, and under which licence, as the packages say themselves.

Read from the environment that `make test` makes, and from the lock.
"""

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from supply_chain.lock import IMAGE, LOCK, ROOT, Locked

# Taken by torch's build for graphics cards alone, which no part needs.
_CUDA = re.compile(r"triton|(nvidia|cuda)-.*")
_EXPRESSION = re.compile(r"[\w.-]+( (AND|OR) [\w.-]+)*")
# Where a package has no licence expression, its classifier names the licence.
_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# By the licence file of a package whose metadata leaves open which one, or whether one may choose.
_READ = {
    "fastuuid": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "mpmath": "BSD-3-Clause",
    "patsy": "BSD-2-Clause",
    "prompt-toolkit": "BSD-3-Clause",
    "protobuf": "BSD-3-Clause",
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",
    "scipy": "BSD-3-Clause",
    "sniffio": "MIT OR Apache-2.0",
    "sympy": "BSD-3-Clause",
    "tiktoken": "MIT",
    "transformers": "Apache-2.0",
    "uvloop": "MIT OR Apache-2.0",
}


class Package(NamedTuple):
    """A package of the lock, and the parts of the project that take it."""

    name: str
    version: str
    licence: str
    parts: tuple[str, ...]
    hashes: frozenset[str]


def shipped() -> list[Package]:
    """Every package that the image, the assistant or the harness takes, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    harness = tomllib.loads((ROOT / "harness/pyproject.toml").read_text())
    takers = {
        "image": image_packages(),
        "assistant": _closure(project["project"]["dependencies"]),
        "harness": _closure(harness["project"]["dependencies"]),
        **{
            extra: _closure(project["project"]["optional-dependencies"][extra])
            for extra in ("mcp", "otel", "designs")
        },
    }
    locked = Locked.read(LOCK.read_text())
    return [
        Package(
            name,
            locked[name][0],
            licence_of(name),
            tuple(part for part, names in takers.items() if name in names),
            locked[name][1],
        )
        for name in sorted(set().union(*takers.values()))
    ]


def image_packages() -> set[str]:
    """The names in image.txt."""
    lines = IMAGE.read_text().splitlines()
    return {line.split("==")[0] for line in lines if not line.startswith("#")}


def _closure(requirements: Iterable[str]) -> set[str]:
    """The packages that satisfy these, and what they need in turn, on this machine."""
    found: set[tuple[str, str]] = set()
    waiting = [(Requirement(one), "") for one in requirements]
    while waiting:
        wanted, extra = waiting.pop()
        if wanted.marker and not wanted.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(wanted.name)
        for taken in {"", *wanted.extras}:
            if (name, taken) not in found and not _CUDA.fullmatch(name):
                found.add((name, taken))
                needs = distribution(name).requires or []
                waiting += [(Requirement(one), taken) for one in needs]
    return {name for name, _ in found}


def licence_of(name: str) -> str:
    """The licence as an SPDX expression, "unknown" where the package does not tell."""
    if name in _READ:
        return _READ[name]
    about = distribution(name).metadata.json
    if "license_expression" in about:
        return str(about["license_expression"])
    names = (one.split(" :: ")[-1] for one in about.get("classifier", []))
    known = [_CLASSIFIERS[one] for one in names if one in _CLASSIFIERS]
    written = str(about.get("license", ""))
    return known[0] if known else written if _EXPRESSION.fullmatch(written) else "unknown"
