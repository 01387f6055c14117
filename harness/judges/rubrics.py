"""Rubrics by name: which prompt a question is judged with, and how its reply is read."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Self

from harness.datasets.benchmark import RubricRules, or_abstention
from harness.datasets.refined import best_first, final_answer
from harness.datasets.registry import BENCHMARKS
from harness.errors import UsageError
from harness.judges import Decision
from harness.records.digest import QuestionDigest
from harness.text import Prompt, load_prompts

VALUES = ("question", "reference", "response")
_HOLDS = "the benchmark's text, with $question, $reference and $response where the values go"
_ASKED_OF: Mapping[str, str] = {
    "contain": "single-session-user, single-session-assistant and multi-session questions",
    "temporal": "temporal-reasoning questions",
    "update": "knowledge-update questions",
    "preference": "single-session-preference questions",
    "abstention": "questions without an answer",
}


def file_name(rubric: str, prompt: str) -> str:
    return f"{rubric}/{prompt}.txt"


def read_given(
    folder: Path, rubric: str, names: Iterable[str], required: Iterable[str]
) -> dict[str, Prompt]:
    """The prompts of these names that the folder holds. Raises `UsageError` if a required prompt is
    missing or a prompt cannot be used.

    Values are inserted without fences around them, as in the benchmarks' scripts.
    """
    found: dict[str, Prompt] = {}
    problems: list[str] = []
    for name in names:
        path = folder / file_name(rubric, name)
        if path.is_file():
            problem, text = _read(path)
            problems += [problem] if problem else []
            found[name] = Prompt(name, text, fences=False)
        elif name in required:
            asked = _ASKED_OF.get(name, "all questions with an answer")
            problems.append(f"{path} is missing: it must hold, for {asked}, {_HOLDS}")
    if problems:
        raise UsageError(f"--judge-prompts: {'; '.join(problems)}")
    return found


def _read(path: Path) -> tuple[str, str]:
    """The problem with a file ('' if there is none), and its text without trailing line ends."""
    try:
        text = path.read_text(encoding="utf-8-sig").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        return f"{path} cannot be read as UTF-8 text ({error}): it must hold {_HOLDS}", ""
    wrong = "; ".join(_faults(text))
    return (f"{path}: {wrong}: it must hold {_HOLDS}" if wrong else ""), text


def _faults(text: str) -> Iterator[str]:
    template = Template(text)
    if not template.is_valid():
        yield "a $ that begins none of these is written $$"
        return
    names = set(template.get_identifiers())
    if missing := [f"${name}" for name in VALUES if name not in names]:
        yield f"it lacks {', '.join(missing)}"
    if others := sorted(names - set(VALUES)):
        yield f"it names ${', $'.join(others)} besides"


@cache
def _prompts() -> dict[str, Prompt]:
    return load_prompts("harness.judges.prompts")


def load_prompt(name: str) -> Prompt:
    return _prompts()[name]


def all_prompts() -> list[Prompt]:
    return list(_prompts().values())


Menu = Mapping[str, Decision]
YES_NO: Menu = {"yes": "yes", "no": "no"}
CORRECT_WRONG: Menu = {"correct": "yes", "wrong": "no"}
_KEYS = ("label", "verdict", "answer")
_THOUGHTS = re.compile(r"^.*</think>", re.DOTALL | re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_PLAIN = re.compile(r"[a-z0-9]+")
# The date at the end of a model's name.
_DAY = re.compile(r"-\d{4}-\d\d-\d\d$")
_OBJECT = re.compile(r"\{[^{}]*\}")


def parse_verdict(reply: str, menu: Menu) -> Decision | None:
    """The verdict that a reply states, None where it states none of the menu, or two of them.

    A JSON object with a label counts wherever it stands, and the last one if there are several.
    Otherwise the first word must be a verdict that the next words do not take back ("yes and no").
    A model's thoughts before `</think>` are not read.
    """
    said = without_thoughts(reply)
    labels = [label for found in json_objects(said) if (label := _label(found)) is not None]
    if labels:
        return menu.get(labels[-1])
    words = _WORD.findall(said.lower())
    if not words or (len(words) > 2 and words[1] in ("and", "or") and words[2] in menu):
        return None
    return menu.get(words[0])


def without_thoughts(reply: str) -> str:
    """A reply without the model's thoughts, which end with `</think>`."""
    return _THOUGHTS.sub("", reply)


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The innermost JSON objects in a text."""
    for match in _OBJECT.finditer(text):
        try:
            found = json.loads(match[0])
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def _label(found: Mapping[str, Any]) -> str | None:
    value = next((found[key] for key in _KEYS if key in found), None)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.strip().lower() if isinstance(value, str) else None


_MENUS = {"lenient": CORRECT_WRONG, "refined": CORRECT_WRONG}


@dataclass(frozen=True, slots=True)
class Rubric(RubricRules):
    """A way of judging with its prompts; `given` prompts come from files and replace our own."""

    given: Mapping[str, Prompt] = field(default_factory=dict)

    @classmethod
    def of(cls, rules: RubricRules) -> Self:
        return cls(*(getattr(rules, one.name) for one in fields(rules)))

    def with_texts(self, folder: Path) -> Self:
        """This rubric with the folder's prompts; raises `UsageError` for what the folder lacks."""
        required = set(self.prompts) - set(self.ours)
        return replace(self, given=read_given(folder, self.name, self.prompts, required))

    @property
    def edition(self) -> str:
        """The edition of the prompts: the version of our own, or a hash of the given ones."""
        if not self.given:
            return str(self.version)
        hashes = json.dumps({name: prompt.hash for name, prompt in sorted(self.given.items())})
        return f"given-{hashlib.sha256(hashes.encode()).hexdigest()[:8]}"

    @property
    def given_files(self) -> dict[str, str]:
        return {file_name(self.name, name): prompt.hash for name, prompt in self.given.items()}

    def prompt(self, question: QuestionDigest) -> Prompt:
        return self._named(self.choose(question))

    def menu(self, question: QuestionDigest) -> Menu:
        return _MENUS.get(self.choose(question), YES_NO)

    @property
    def prompt_hashes(self) -> dict[str, str]:
        return {name: self._named(name).hash for name in self.prompts}

    def cleaned(self, hypothesis: str) -> str:
        return final_answer(hypothesis) if self.cleans else hypothesis

    def compared(self, question: QuestionDigest, said: str) -> Sequence[str]:
        """The answers in the order in which a cleaned hypothesis is compared with them."""
        return best_first(said, question.answers) if self.cleans else question.answers

    def caution(self, model: str) -> str | None:
        """A warning against judging with this model; None if the benchmark recommends the model, or
        recommends none.
        """
        named = tuple(map(_plain, self.recommends))
        if not named or _plain(_DAY.sub("", model)).endswith(named):
            return None
        return (
            f"{self.name} is meant to be judged by {' or '.join(self.recommends)}, not by {model}"
        )

    def _named(self, name: str) -> Prompt:
        return self.given.get(name) or load_prompt(name)


def _plain(model: str) -> str:
    """A model's name without case and signs: `Qwen/Qwen3-14B` and `qwen3_14b` end alike."""
    return "".join(_PLAIN.findall(model.lower()))


# This rubric belongs to no benchmark: it is ours, for answers that must be exact.
_STRICT = RubricRules(
    "strict",
    1,
    ("strict", "strict_abstention"),
    or_abstention("strict", "strict_abstention"),
    ours=("strict", "strict_abstention"),
)
RUBRICS: Mapping[str, Rubric] = {
    rules.name: Rubric.of(rules)
    for rules in (*(rules for one in BENCHMARKS.values() for rules in one.rubrics), _STRICT)
}
