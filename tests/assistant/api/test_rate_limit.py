"""Who asks for more than a user's share is told so, and when to come again."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import pytest
from calls import assert_error, chat
from served import served

from assistant import Settings, create_app
from assistant.settings.groups import LimitSettings

PER_MINUTE = 2


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[httpx.Client]:
    limits = LimitSettings(requests_per_minute=PER_MINUTE)
    settings = Settings(embedder="hash", data_dir=tmp_path, limits=limits)
    with served(create_app(settings)) as url, httpx.Client(base_url=url) as client:
        yield client


@pytest.mark.parametrize("stream", [False, True])
def test_too_many_requests(limited: httpx.Client, stream: bool) -> None:
    for _ in range(PER_MINUTE):
        assert chat(limited, "ann", "hi", stream=stream).status_code == 200
    refused = chat(limited, "ann", "hi", stream=stream)
    error = assert_error(refused, 429, "rate_limit_error", "rate_limit_exceeded")
    assert f"rate limit: {PER_MINUTE} requests per minute" in error["message"]
    # Two a minute: there is one more within half a minute.
    assert 1 <= int(refused.headers["retry-after"]) <= 30
    assert chat(limited, "bob", "hi").status_code == 200
    assert limited.get("/health").status_code == 200


def test_openais_client_knows_the_error(limited: httpx.Client) -> None:
    for _ in range(PER_MINUTE):
        chat(limited, "ann", "hi")
    with (
        openai.OpenAI(base_url=f"{limited.base_url}/v1", api_key="x", max_retries=0) as client,
        pytest.raises(openai.RateLimitError) as refused,
    ):
        client.chat.completions.create(
            model="aide-memoire", user="ann", messages=[{"role": "user", "content": "hi"}]
        )
    assert (refused.value.code, refused.value.type) == ("rate_limit_exceeded", "rate_limit_error")
    assert int(refused.value.response.headers["retry-after"]) >= 1
