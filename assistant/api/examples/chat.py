"""Examples of chats, responses, embeddings and models."""

_ANSWER = "From what we talked about:\n- On 2023-05-20 (Sat) you said: “I live in Ghent.”"
CHAT = {
    "model": "aide-memoire",
    "messages": [{"role": "user", "content": "Where do I live?"}],
    "metadata": {"user_id": "ann", "session_id": "june", "memory": "read_only"},
}
REPLY = {
    "id": "chatcmpl-16b3f9c2e16a406da410b2af973246bc",
    "object": "chat.completion",
    "created": 1686387600,
    "model": "aide-memoire",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": _ANSWER},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 4, "completion_tokens": 20, "total_tokens": 24},
}
STREAMED = (
    'data: {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1686387600, '
    '"model": "aide-memoire", "choices": [{"index": 0, "delta": {"role": "assistant", '
    '"content": "Noted."}, "logprobs": null, "finish_reason": null}]}\n\n'
    "data: [DONE]\n\n"
)
RESPONSE_REQUEST = {
    "model": "aide-memoire",
    "input": "Where do I live?",
    "metadata": {"user_id": "ann", "memory": "read_only"},
}
RESPONSE = {
    "id": "resp_a623ecb1dc3d4010bdde3f1485d8fe22.Y2hhdC0xNDc2YmVjMDdmNzY5MTUwZTRiZTFlNDA",
    "object": "response",
    "created_at": 1686387600,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {"user_id": "ann", "memory": "read_only"},
    "model": "aide-memoire",
    "output": [
        {
            "type": "message",
            "id": "msg_ed6db72080a449e18261d8fed0bec5ee",
            "status": "completed",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": _ANSWER, "annotations": [], "logprobs": []}
            ],
        }
    ],
    "conversation": {"id": "chat-1476bec07f769150e4be1e40"},
    "previous_response_id": None,
    "parallel_tool_calls": False,
    "tool_choice": "none",
    "tools": [],
    "temperature": None,
    "top_p": None,
    "usage": {
        "input_tokens": 4,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 24,
    },
}
RESPONSE_STREAMED = (
    "event: response.output_text.delta\n"
    'data: {"item_id": "msg_1", "output_index": 0, "content_index": 0, "logprobs": [], '
    '"delta": "Noted.", "type": "response.output_text.delta", "sequence_number": 4}\n\n'
)
EMBED = {"model": "aide-memoire-embedding", "input": "I moved to Bruges."}
EMBEDDINGS = {
    "object": "list",
    "model": "hash",
    "usage": {"prompt_tokens": 5, "total_tokens": 5},
    "data": [{"object": "embedding", "index": 0, "embedding": [0.6, 0.0, 0.8]}],
}
PROFILE = {
    "id": "aide-memoire",
    "object": "model",
    "created": 1700000000,
    "owned_by": "aide-memoire",
}
PROFILES = {"object": "list", "data": [PROFILE, PROFILE | {"id": "aide-memoire-nomem"}]}
