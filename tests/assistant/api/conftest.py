"""The official client of an assistant that answers."""

from collections.abc import Iterator

import httpx
import openai
import pytest


@pytest.fixture
def official(answering: httpx.Client) -> Iterator[openai.OpenAI]:
    """OpenAI's own client, with nothing changed but its address."""
    url = answering.base_url.join("/v1")
    with openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client:
        yield client
