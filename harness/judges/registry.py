"""Judges by the name given on the command line."""

from harness.errors import UsageError
from harness.judges.base import Judge
from harness.judges.lexical import LexicalJudge

JUDGES = {"lexical": LexicalJudge}


def make_judge(name: str) -> Judge:
    """The judge of that name; raises `UsageError` for any other."""
    try:
        return JUDGES[name]()
    except KeyError:
        known = ", ".join(sorted(JUDGES))
        raise UsageError(f"unknown judge {name!r}, expected one of {known}") from None
