"""Prompts: files in a package, rendered strictly, named by a hash that reports show."""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from string import Template

# What opens a tag or a special token (`<|im_end|>`, `</s>`, `<start_of_turn>`), and closes one even
# with a space; neither `a < b` nor an arrow. Mistral's, GLM's and BERT's kind write `[INST]`.
_OPENS = re.compile(r"<(?=[^\s\d<>=-]|\s+/)")
_OPENS_IN_BRACKETS = re.compile(r"\[(?=/?(?:[A-Z][A-Z0-9_]+|[gs]MASK|control_\d+)\])")
_LINE_ENDS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True)
class Prompt:
    """One prompt file with `$name` where a value goes, between tags that fence it off; a text of
    somebody else's, which has no such tags, takes values as they are (`fences` is false).
    """

    name: str
    text: str
    fences: bool = True

    @cached_property
    def hash(self) -> str:
        """Twelve hexadecimal digits of the file's SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    def render(self, **values: str) -> str:
        """Fill in the values; one too many or too few is a `ValueError`.

        Nothing in a value opens a tag or a special token of a model, so that no text can close its
        fence and speak as the one who asks.
        """
        wanted = set(Template(self.text).get_identifiers())
        if wanted != set(values):
            raise ValueError(f"prompt {self.name!r} takes {sorted(wanted)}, got {sorted(values)}")
        if self.fences:
            values = {name: fenced(text) for name, text in values.items()}
        return Template(self.text).substitute(values)


def fenced(text: str) -> str:
    """A text with what opens a tag or a token written as in HTML, and Unicode's own ends of lines
    as ordinary ones."""
    plain = _LINE_ENDS.sub("\n", text)
    return _OPENS_IN_BRACKETS.sub("&#91;", _OPENS.sub("&lt;", plain))


def load_prompts(package: str) -> dict[str, Prompt]:
    """Every `<name>.md` of a package, by name."""
    paths = [path for path in files(package).iterdir() if path.name.endswith(".md")]
    return {
        name: Prompt(name, path.read_text(encoding="utf-8").strip())
        for path in sorted(paths, key=lambda path: path.name)
        for name in (path.name.removesuffix(".md"),)
    }
