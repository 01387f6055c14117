"""The benchmarks' own judge texts, from files of whoever runs the judge: some licences forbid
shipping them. One folder for each judge, one file for each of its prompts:
`longmemeval/temporal.txt`.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import Template

from harness.errors import UsageError
from harness.prompt import Prompt

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
    """Where in the folder a judge's prompt is looked for."""
    return f"{rubric}/{prompt}.txt"


def read_given(
    folder: Path, rubric: str, names: Iterable[str], required: Iterable[str]
) -> dict[str, Prompt]:
    """The prompts of these names that the folder holds; raises `UsageError` for a required one
    that is not there, and for every one that cannot be used.

    Values go in as they are, as in the benchmarks' scripts: nothing is fenced off.
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
    """What is wrong with a file ('' for nothing), and its text without the last line's end."""
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
