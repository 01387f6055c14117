"""The OpenAPI document against the server: generated requests, each reply as described."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from openapi_document import openapi_document
from pydantic import SecretStr
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    negative_data_rejection,
    positive_data_acceptance,
)
from served import served

from assistant import Settings, create_app

KEY = "a key for the tests of the schema"
_AUTHORIZATION = {"Authorization": f"Bearer {KEY}"}
# Not asked: whether whatever the schema allows is accepted. It cannot say that the last message
# is the user's, that ids hold no control characters, that a range of days does not end too early.
# Nor whether what it does not name is refused: it is ignored. And `messages` may end an id of a
# session, so that its path has the methods of a session, too.
_LEFT_OUT = [positive_data_acceptance, negative_data_rejection, allow_header_conformance]


@schemathesis.serializer("application/x-ndjson")
def lines(_: object, value: object) -> bytes:
    """Generated text as the lines of an export."""
    return str(value).encode("utf-8", "replace")


schema = schemathesis.openapi.from_dict(openapi_document())
_UNHURRIED = [
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.data_too_large,
    HealthCheck.function_scoped_fixture,
]


@pytest.fixture(scope="module")
def keyed_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An assistant that needs a key."""
    data_dir = tmp_path_factory.mktemp("schema")
    with served(
        create_app(Settings(embedder="hash", data_dir=data_dir, api_key=SecretStr(KEY)))
    ) as url:
        yield url


def check(case: Case, url: str) -> None:
    case.call_and_validate(
        base_url=url, headers=_AUTHORIZATION, timeout=30, excluded_checks=_LEFT_OUT
    )


# Each operation is a test of its own: xdist counts tests of the same id as one.
EVERY = pytest.mark.parametrize(
    "operation",
    [found.ok() for found in schema.get_all_operations()],
    ids=lambda operation: operation.label,
)


@EVERY
def test_replies_are_as_described(operation: APIOperation, keyed_url: str) -> None:
    settled = settings(
        max_examples=5,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=_UNHURRIED,
    )
    settled(given(requests_to(operation))(lambda case: check(case, keyed_url)))()


@pytest.mark.slow
@EVERY
def test_many_replies_are_as_described(operation: APIOperation, keyed_url: str) -> None:
    settled = settings(max_examples=300, deadline=None, suppress_health_check=_UNHURRIED)
    settled(given(requests_to(operation))(lambda case: check(case, keyed_url)))()


def requests_to(operation: APIOperation) -> SearchStrategy[Case]:
    """Requests that the schema allows, and some that it does not."""
    return operation.as_strategy(GenerationMode.POSITIVE) | operation.as_strategy(
        GenerationMode.NEGATIVE
    )
