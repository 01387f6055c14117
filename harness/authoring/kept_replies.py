"""Every prompt and reply of a model, kept in order the moment it is there; none is paid twice."""

import hashlib
import json
from typing import Any

from harness.judges.openai_chat import Messages, OpenAIChat, Reply
from harness.records.run_dir import LineFile, RunDir
from harness.spending.usage import Usage
from harness.text import tokens_at_least_one

CALLS = LineFile[dict[str, Any]]("calls.jsonl")


class KeptReplies:
    """Asks a model what was not asked before in this folder."""

    def __init__(self, folder: RunDir, chat: OpenAIChat) -> None:
        self._folder = folder
        self._chat = chat
        self._calls = {line["call"]: line for line in folder.records(CALLS, "call")}
        chat.meter.before = self._spent()

    async def ask(self, step: str, item: str, attempt: int, messages: Messages) -> str:
        """The reply's text; raises what `OpenAIChat.ask` does."""
        asked = {"step": step, "item": item, "attempt": attempt, "messages": list(messages)}
        call = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:24]
        if call not in self._calls:
            reply = await self._chat.ask(messages)
            self._calls[call] = {"call": call, **asked, **_kept(reply)}
            self._folder.append(CALLS, self._calls[call])
        return str(self._calls[call]["reply"])

    def _spent(self) -> Usage:
        """What was paid by earlier commands."""
        total = Usage()
        for line in self._calls.values():
            characters = sum(len(message["content"]) for message in line["messages"])
            prompt, completion = line["prompt_tokens"], line["completion_tokens"]
            told = prompt is not None and completion is not None
            total.add(
                Usage(
                    calls=1,
                    estimated_calls=int(not told),
                    prompt_tokens=prompt or tokens_at_least_one(characters),
                    completion_tokens=completion or tokens_at_least_one(len(line["reply"])),
                )
            )
        return total


def _kept(reply: Reply) -> dict[str, Any]:
    return {
        "reply": reply.text,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
    }
