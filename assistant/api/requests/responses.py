"""The body of OpenAI's Responses API, and the same request as a chat, which language models take.

Items become messages: a call of a tool belongs to the assistant's message, its result is a message
of its own. What chats have no place for is refused, and never dropped: tools that only OpenAI's own
servers run, and prompts, files and responses that they keep.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from assistant.api.requests import Many, Request, Time
from assistant.api.requests.chat import Tokens
from assistant.errors import InvalidRequest

_OURS = tuple(
    """model input messages instructions conversation previous_response_id stream stream_options
    metadata store background include truncation text tools tool_choice reasoning max_output_tokens
    top_logprobs""".split()
)
"""Fields that are for us, or that have another form in chats; all others are passed on."""
_REFUSED = ("prompt", "background", "max_tool_calls")
_RESULTS = ("function_call_output", "custom_tool_call_output")
_LOGPROBS = "message.output_text.logprobs"


class Conversation(Request):
    """A conversation by its id."""

    id: str


class ResponseItem(Request):
    """One item of a response's input: a message, a call of a tool, or its result."""

    type: str | None = None
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | Many[dict[str, Any]] | None = None
    timestamp: Time = None


class TextOptions(Request):
    """What the text of a response is to be like."""

    format: dict[str, Any] | None = None
    verbosity: str | None = None


class Reasoning(Request):
    """How hard a language model is asked to think."""

    effort: str | None = None


class ResponseRequest(Request):
    """`POST /v1/responses`."""

    model: str | None = None
    input: str | Many[ResponseItem]
    instructions: str | None = None
    conversation: str | Conversation | None = None
    previous_response_id: str | None = None
    stream: bool | None = None
    metadata: dict[str, Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: Tokens | None = None
    reasoning: Reasoning | None = None
    text: TextOptions | None = None
    include: Many[str] | None = None
    tools: Many[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    example: ClassVar[Mapping[str, Any]] = {
        "model": "aide-memoire",
        "input": "Where do I live?",
        "metadata": {"user_id": "ann", "memory": "read_only"},
    }


def chat_options(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The options for the language model, in the form of a chat's. Raises `InvalidRequest`."""
    for name in _REFUSED:
        if sent.get(name):
            raise InvalidRequest(f"{name} is not supported here", param=name)
    options = {name: value for name, value in sent.items() if name not in _OURS}
    text = sent.get("text") or {}
    renamed = {
        "max_completion_tokens": sent.get("max_output_tokens"),
        "reasoning_effort": (sent.get("reasoning") or {}).get("effort"),
        "verbosity": text.get("verbosity"),
        "tools": [_tool(tool) for tool in sent.get("tools") or ()] or None,
        "tool_choice": _choice(sent.get("tool_choice")),
        "response_format": _format(text.get("format") or {}),
    }
    if _LOGPROBS in (sent.get("include") or ()):
        renamed |= {"logprobs": True, "top_logprobs": sent.get("top_logprobs")}
    return options | {name: value for name, value in renamed.items() if value is not None}


def chat_messages(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The items as messages of a chat. Reasoning of other models is left out: it is theirs alone.
    Raises `InvalidRequest` for an item that a chat cannot hold."""
    messages: list[dict[str, Any]] = []
    for item in items:
        kind = item.get("type") or "message"
        if kind == "message":
            messages.append(_message(item))
        elif kind in ("function_call", "custom_tool_call"):
            _assistants(messages).setdefault("tool_calls", []).append(_call(item, kind))
        elif kind in _RESULTS:
            called = item.get("call_id")
            told = {"role": "tool", "tool_call_id": called, "content": _output(item)}
            messages.append(told)
        elif kind != "reasoning":
            raise InvalidRequest(
                f"input items of type {kind[:40]!r} need OpenAI's own server", param="input"
            )
    return messages


def _output(item: Mapping[str, Any]) -> Any:
    given = item.get("output")
    if not isinstance(given, str | list):
        raise InvalidRequest(f"the output of a {item['type']} must be text or parts", param="input")
    return _content(given)


def _message(item: Mapping[str, Any]) -> dict[str, Any]:
    role = {"developer": "system"}.get(str(item.get("role")), item.get("role") or "user")
    message = {"role": role, "content": _content(item.get("content"))}
    return message | {name: item[name] for name in ("timestamp",) if name in item}


def _assistants(messages: list[dict[str, Any]]) -> dict[str, Any]:
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    return messages[-1]


def _call(item: Mapping[str, Any], kind: str) -> dict[str, Any]:
    id = item.get("call_id")
    if kind == "custom_tool_call":
        custom = {"name": item.get("name"), "input": item.get("input")}
        return {"id": id, "type": "custom", "custom": custom}
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"id": id, "type": "function", "function": function}


def _content(content: Any) -> Any:
    """The content of a message, its parts as chats have them."""
    if not isinstance(content, list):
        return content
    if not all(isinstance(part, Mapping) for part in content):
        raise InvalidRequest("content parts must be objects", param="input")
    parts = [_part(part) for part in content]
    texts = [part["text"] for part in parts if part.get("type") == "text" and len(part) == 2]
    return "\n".join(texts) if len(texts) == len(parts) else parts


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return {"type": "text", "text": part.get("text", "")}
        case "refusal":
            return {"type": "text", "text": part.get("refusal", "")}
        case "input_image" if part.get("image_url"):
            image = {"url": part["image_url"]}
            if part.get("detail"):
                image["detail"] = part["detail"]
            return {"type": "image_url", "image_url": image}
        case "input_file" if not part.get("file_url"):
            file = {
                name: part[name] for name in ("file_id", "filename", "file_data") if name in part
            }
            return {"type": "file", "file": file}
        case "input_audio":
            return dict(part)
    kind = str(part.get("type"))[:40]
    raise InvalidRequest(f"content parts of type {kind!r} cannot be passed on", param="input")


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    kind = tool.get("type")
    if kind not in ("function", "custom"):
        raise InvalidRequest(
            f"tools of type {str(kind)[:40]!r} need OpenAI's own server: use functions",
            code="unsupported_tool",
            param="tools",
        )
    return {"type": kind, kind: {name: told for name, told in tool.items() if name != "type"}}


def _choice(choice: Any) -> Any:
    """Which tool is to be called; the words for any, none and one are the same in chats."""
    if not isinstance(choice, Mapping):
        return choice
    kind = choice.get("type")
    if kind in ("function", "custom"):
        return {"type": kind, kind: {"name": choice.get("name")}}
    if kind == "allowed_tools":
        tools = [_choice(tool) for tool in choice.get("tools") or ()]
        allowed = {"mode": choice.get("mode", "auto"), "tools": tools}
        return {"type": kind, kind: allowed}
    raise InvalidRequest(f"tool_choice {str(kind)[:40]!r} is not supported", param="tool_choice")


def _format(form: Mapping[str, Any]) -> dict[str, Any] | None:
    """The format of a reply; None for plain text."""
    if form.get("type") in (None, "text"):
        return None
    if form["type"] != "json_schema":
        return dict(form)
    schema = {name: told for name, told in form.items() if name != "type"}
    return {"type": "json_schema", "json_schema": schema}
