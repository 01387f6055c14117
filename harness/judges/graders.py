"""The graders of a user's own cases, without a model: `exact`, `number` and `program`.

A program is whatever the file of cases names. Whoever runs it gives its author the rights of their
own account, as with any foreign script. So a program runs only where the command line allows it;
otherwise the answers that it grades stay unscored.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from harness.errors import UsageError
from harness.judges import Verdict
from harness.judges.lexical.words import quantities
from harness.records.digest import QuestionDigest

_PROGRAM_SECONDS = 60.0
_SHOWN = 500
_SWITCH = "--run-programs"
# A program gets only these variables of the environment: it must not see keys and other secrets.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")


class GradersJudge:
    """Judges each answer by the grader of its question."""

    id = "graders-1"
    meter = None

    def __init__(self, *, runs_programs: bool = False) -> None:
        self._runs_programs = runs_programs
        # The hash depends on the switch, so that answers left unscored without it are judged again.
        self.hash = "6ade50000002" if runs_programs else "6ade50000001"
        self.account: Mapping[str, Any] = {"kind": "graders", "programs": runs_programs}

    def prompts(self, question: QuestionDigest, hypothesis: str) -> list[int]:
        return []

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        if question.grader is None:
            raise UsageError(
                f"question {question.question_id!r} has no grader: choose another --judge"
            )
        grader: dict[str, Any] = json.loads(question.grader)
        if "exact" in grader:
            return _exact(grader["exact"], hypothesis)
        if "number" in grader:
            return _number(grader["number"], grader["within"], hypothesis)
        if not self._runs_programs:
            return Verdict(None, f"graded by a program, which runs with {_SWITCH} only")
        return await _program(grader["program"], question, hypothesis)

    async def close(self) -> None:
        """There is nothing to close."""


def _exact(answers: list[str], said: str) -> Verdict:
    """Pass a hypothesis that equals an answer; case, spaces and a final full stop do not count."""
    is_right = _plain(said) in map(_plain, answers)
    return Verdict("yes" if is_right else "no", "exactly" if is_right else "in other words")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")


def _number(expected: float, within: float, said: str) -> Verdict:
    """Pass a hypothesis with this number, in digits or words, and no other number."""
    found = {one.value for one in quantities(said)}
    is_right = bool(found) and all(abs(one - expected) <= within + 1e-9 for one in found)
    told = ", ".join(f"{one:g}" for one in sorted(found)) or "no number"
    return Verdict("yes" if is_right else "no", told)


async def _program(path: str, question: QuestionDigest, said: str) -> Verdict:
    """Run the grader's program. It reads a JSON object from its standard input and exits with 0 for
    right and 1 for wrong; every other outcome is no verdict."""
    named = ("question_id", "question", "question_date", "answer")
    asked = {name: getattr(question, name) for name in named} | {"hypothesis": said}
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment,
    )
    try:
        given = json.dumps(asked).encode()
        output, _ = await asyncio.wait_for(process.communicate(given), _PROGRAM_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        return Verdict(None, f"{path}: not done within {_PROGRAM_SECONDS:g} s")
    told = output.decode(errors="replace").strip()[-_SHOWN:]
    if process.returncode not in (0, 1):
        return Verdict(None, f"{path}: exit code {process.returncode}: {told}")
    return Verdict("yes" if process.returncode == 0 else "no", told)
