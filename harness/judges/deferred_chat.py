"""A judge's model that is asked elsewhere: its requests are collected, its replies given."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.errors import JudgeReplyAwaited
from harness.judges.openai_chat import ChatEndpoint, Messages, ModelReply, OpenAIChat, ReplyCache
from harness.spending.budget import Meter

ID_BEGINS = "v"


@dataclass(frozen=True, slots=True)
class Correspondence:
    """The replies there are, and the requests that wait for one, by the ids of requests."""

    replies: Mapping[str, ModelReply] = field(default_factory=dict)
    awaited: dict[str, dict[str, Any]] = field(default_factory=dict)


class DeferredChat(OpenAIChat):
    """Answers with what was replied elsewhere, and asks nobody. A reply is kept as one over HTTP
    is, so that a judge of the same name takes either.
    """

    def __init__(
        self,
        endpoint: ChatEndpoint,
        correspondence: Correspondence,
        cache: ReplyCache | None = None,
        meter: Meter | None = None,
        *,
        votes: int = 1,
    ) -> None:
        super().__init__(endpoint, cache, meter)
        self._correspondence = correspondence
        self._votes = votes

    async def ask(self, messages: Messages, *, vote: int = 0) -> ModelReply:
        """The reply; raises `JudgeReplyAwaited` where there is none, and notes the request down.

        Every vote begins with the same messages, so that those of later votes wait as well. What
        is asked after a reply depends on that reply.
        """
        reply = self._known(messages, vote)
        if reply is not None:
            return reply
        is_first = len(messages) == 1
        for number in range(vote, self._votes if is_first else vote + 1):
            if self._known(messages, number) is None:
                name = _request_id(self.identity(messages, number))
                self._correspondence.awaited[name] = self.body(messages)
        raise JudgeReplyAwaited("the judge's prompt waits for its reply: harness verdicts import")

    def _known(self, messages: Messages, vote: int) -> ModelReply | None:
        request = self.identity(messages, vote)
        given = self._correspondence.replies.get(_request_id(request))
        if given is None:
            return self.kept(request)
        self.keep(request, given)
        return given


def _request_id(request: Mapping[str, Any]) -> str:
    text = json.dumps(request, sort_keys=True, ensure_ascii=True)
    return ID_BEGINS + hashlib.sha256(text.encode()).hexdigest()[:24]
