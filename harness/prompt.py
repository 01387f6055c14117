"""Prompts: files in a package, rendered strictly, named by a hash that reports show."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from string import Template


@dataclass(frozen=True)
class Prompt:
    """One prompt file with `$name` where a value goes, and the tags that fence values off."""

    name: str
    text: str
    tags: tuple[str, ...]

    @cached_property
    def hash(self) -> str:
        """Twelve hexadecimal digits of the file's SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    def render(self, **values: str) -> str:
        """Fill in the values; one too many or too few is a `ValueError`.

        The tags that fence values off are taken out of the values, so that no text can close its
        fence and speak as the one who asks.
        """
        wanted = set(Template(self.text).get_identifiers())
        if wanted != set(values):
            raise ValueError(f"prompt {self.name!r} takes {sorted(wanted)}, got {sorted(values)}")
        fence = re.compile(rf"<(/?(?:{'|'.join(self.tags)}))>", re.IGNORECASE)
        fenced = {name: fence.sub(r"[\1]", value) for name, value in values.items()}
        return Template(self.text).substitute(fenced)


def load_prompts(package: str, tags: Iterable[str]) -> dict[str, Prompt]:
    """Every `<name>.md` of a package, by name."""
    paths = [path for path in files(package).iterdir() if path.name.endswith(".md")]
    return {
        name: Prompt(name, path.read_text(encoding="utf-8").strip(), tuple(tags))
        for path in sorted(paths, key=lambda path: path.name)
        for name in (path.name.removesuffix(".md"),)
    }
