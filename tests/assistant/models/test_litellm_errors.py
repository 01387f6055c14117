"""Every exception litellm exports becomes one of ours: a new one has to be looked at."""

import inspect
from types import ModuleType

import pytest

from assistant.errors import (
    AssistantError,
    BadModelReply,
    ConfigError,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
    PromptRefused,
    PromptTooLong,
)
from assistant.models.litellm_model import explained, load_litellm

EXPECTED: dict[type[AssistantError], str] = {
    ModelRateLimited: "RateLimitError",
    ModelTimeout: "Timeout",
    BadModelReply: "APIResponseValidationError JSONSchemaValidationError",
    ConfigError: """
        AuthenticationError PermissionDeniedError NotFoundError LiteLLMUnknownProvider
        PaymentRequiredError BudgetExceededError ModelNotMappedError""",
    PromptTooLong: "ContextWindowExceededError",
    PromptRefused: """
        BadRequestError InvalidRequestError UnprocessableEntityError UnsupportedParamsError
        ContentPolicyViolationError ImageFetchError
        VectorStoreSearchError RejectedRequestError""",
    ModelUnavailable: """
        APIConnectionError APIError BadGatewayError InternalServerError MidStreamFallbackError
        MockException OpenAIError ServiceUnavailableError BlockedPiiEntityError
        GuardrailRaisedException ModifyResponseException SensitiveDataRouteException""",
}
_UNSET = dict.fromkeys(("num_retries", "max_retries", "original_exception"))
KINDS = {name: kind for kind, names in EXPECTED.items() for name in names.split()}


@pytest.fixture(scope="module")
def litellm() -> ModuleType:
    return load_litellm()


@pytest.fixture(scope="module")
def exported(litellm: ModuleType) -> dict[str, type[Exception]]:
    classes = inspect.getmembers(litellm.exceptions, inspect.isclass)
    return {name: kind for name, kind in classes if issubclass(kind, Exception)}


def test_none_is_new_and_none_is_gone(exported: dict[str, type[Exception]]) -> None:
    assert sorted(exported) == sorted(KINDS)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_each_becomes_ours(
    litellm: ModuleType, exported: dict[str, type[Exception]], name: str
) -> None:
    # Their constructors differ in what they ask for; only the class counts here.
    error = exported[name].__new__(exported[name])
    vars(error).update(message="what happened", **_UNSET)
    assert type(explained(litellm, "openai/fake", error)) is KINDS[name]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RuntimeError("who knows"), ModelUnavailable),
        (ValueError("cannot be decoded"), BadModelReply),
        (ConnectionResetError(), ModelUnavailable),
    ],
)
def test_other_failures(litellm: ModuleType, error: Exception, kind: type[AssistantError]) -> None:
    found = explained(litellm, "openai/fake", error)
    assert type(found) is kind
    assert found.message.startswith("the model openai/fake failed: ")


def test_causes_that_go_round_end(litellm: ModuleType) -> None:
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__context__, second.__context__ = second, first
    assert type(explained(litellm, "m", first)) is ModelUnavailable


def test_only_the_first_line_is_repeated(litellm: ModuleType) -> None:
    found = explained(litellm, "m", RuntimeError("short\n" + "long traceback " * 500))
    assert found.message == "the model m failed: short"
