"""Prompt files: loaded once, rendered strictly, named by a hash that reports can show."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from string import Template

_FOLDER = "assistant.prompts"


@dataclass(frozen=True)
class Prompt:
    """One prompt file, with `$name` where a value goes. A changed prompt is a changed system."""

    name: str
    text: str

    @cached_property
    def hash(self) -> str:
        """Twelve hexadecimal digits of the file's SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    def render(self, **values: str) -> str:
        """Fill in the values; one too many or too few is a `ValueError`.

        Values are not expanded again, so `$` in what people said stays as it is.
        """
        wanted = set(Template(self.text).get_identifiers())
        if wanted != set(values):
            raise ValueError(f"prompt {self.name!r} takes {sorted(wanted)}, got {sorted(values)}")
        return Template(self.text).substitute(values)


def load_prompt(name: str) -> Prompt:
    """The prompt in `<name>.md`."""
    return Prompt(name, (files(_FOLDER) / f"{name}.md").read_text(encoding="utf-8").strip())


def all_prompts() -> list[Prompt]:
    """Every prompt file, by name."""
    names = sorted(path.name for path in files(_FOLDER).iterdir() if path.name.endswith(".md"))
    return [load_prompt(name.removesuffix(".md")) for name in names]


def explained(marks: Collection[str]) -> str:
    """What these marks of a memory mean, to follow a sentence; an unknown one is a `ValueError`."""
    known = _explanations()
    if unknown := set(marks) - set(known):
        raise ValueError(f"no line of marks.md explains {sorted(unknown)}")
    return "".join(f" {text}" for mark, text in known.items() if mark in marks)


@cache
def _explanations() -> Mapping[str, str]:
    """What each mark means, by its name, in the order of `marks.md`; its first line is a title."""
    lines = load_prompt("marks").text.splitlines()[1:]
    return dict(line.split(": ", 1) for line in lines if line)
