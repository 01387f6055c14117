"""Answers from the found memories: by a reader's prompt, or as quotes without a reader."""

from collections.abc import Sequence

from benchmarks.rivals.rounds import RecalledRound
from benchmarks.rivals.wire import post

PROMPT_TOKENS = 8000
"""Most tokens of a prompt, at four characters each, instructions and question included."""
_CHARACTERS_A_TOKEN = 4
_QUOTES = 3
_LONGEST_QUOTE = 300
_PROMPT = """\
You are an assistant with a memory. Answer the user's question from these memories of earlier \
conversations, oldest first. If they do not hold the answer, say so.

{memories}

Today is {today}. Question: {question}"""


def quotes(found: Sequence[RecalledRound]) -> str:
    """The answer without a language model: the best memories, dated, cut where they are long."""
    if not found:
        return "I don't know: nothing is remembered."
    return "\n".join(
        f"- On {memory.said[:10]}: “{_cut(memory.text)}”" for memory in found[:_QUOTES]
    )


def prompt(
    question: str, today: str, found: Sequence[RecalledRound], tokens: int = PROMPT_TOKENS
) -> str:
    """The prompt with the best memories that fit, whole, in the order of their dates. Of messages
    of one round, the user's come first.
    """
    empty = _PROMPT.format(memories="", today=today[:10], question=question)
    room = tokens * _CHARACTERS_A_TOKEN - len(empty)
    fitting: list[tuple[str, int, bool, str]] = []
    for memory in found:
        text = f"[{memory.said[:10]}]\n{memory.text}\n\n"
        if len(text) <= room:
            is_reply = memory.text.startswith("assistant: ")
            fitting.append((memory.said, memory.index, is_reply, text))
            room -= len(text)
    memories = "".join(text for *_, text in sorted(fitting)).rstrip()
    return _PROMPT.format(memories=memories, today=today[:10], question=question)


def answered(base_url: str, model: str, prompt: str) -> str:
    """The reader's answer, from any OpenAI-compatible server. Raises `OSError`."""
    body = {"model": model, "messages": [{"role": "user", "content": prompt}]}
    return str(post(f"{base_url}/chat/completions", body)["choices"][0]["message"]["content"])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 1]}…"
