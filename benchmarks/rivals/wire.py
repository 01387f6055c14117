"""Calls of servers on this machine, with Python's standard library alone."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
_SECONDS = 120.0
# Proxies of the environment are not for servers on this machine.
_OPENER = build_opener(ProxyHandler({}))


def post(url: str, body: Any) -> Any:
    """The JSON that a server replies to a JSON request. Raises `OSError`."""
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with _OPENER.open(request, timeout=_SECONDS) as reply:
        return json.load(reply)


def embedded(base_url: str, texts: Sequence[str]) -> list[list[float]]:
    """A vector a text, from the OpenAI-compatible server of the packaged MiniLM."""
    reply = post(f"{base_url}/embeddings", {"model": MODEL, "input": list(texts)})
    return [item["embedding"] for item in reply["data"]]
