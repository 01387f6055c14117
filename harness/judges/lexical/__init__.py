"""The judge that needs no model: features of text, and a threshold fitted on judged answers."""

from harness.judges.lexical.judge import LexicalJudge, decide
from harness.judges.lexical.words import is_refusal

__all__ = ["LexicalJudge", "decide", "is_refusal"]
