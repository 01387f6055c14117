"""What can go wrong in the assistant, sorted by who must act. Each error knows its OpenAI shape."""


class AssistantError(Exception):
    """Base of every error the assistant raises on purpose.

    `status` is the HTTP status, `kind` OpenAI's error type, `code` a stable name for programs.
    """

    status = 500
    kind = "server_error"
    code = "internal_error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.param = param
        self.retry_after = retry_after


class InvalidRequest(AssistantError):
    """The caller sent something that cannot be understood (caller acts)."""

    status, kind, code = 400, "invalid_request_error", "invalid_value"


class CallRefused(AssistantError):
    """A request that a tool made was refused (the caller of the tool acts, or whoever the message
    names). `code` is that of the refusal."""


class Unauthenticated(AssistantError):
    """The caller sent no API key, or one that opens nothing (caller acts)."""

    status, kind, code = 401, "authentication_error", "invalid_api_key"


class Forbidden(AssistantError):
    """The caller's API key does not allow this (caller acts, or who gave out the key)."""

    status, kind, code = 403, "permission_error", "forbidden"


class ReindexRefused(AssistantError):
    """The memory cannot be indexed anew by this server (operator acts)."""

    status, kind, code = 409, "invalid_request_error", "reindex_refused"


class NotFound(AssistantError):
    """The caller named something that does not exist for this user (caller acts)."""

    status, kind, code = 404, "not_found_error", "not_found"


class RequestTimeout(AssistantError):
    """The request came too slowly, or not to its end (caller tries again)."""

    status, kind, code = 408, "invalid_request_error", "request_timeout"


class RequestTooLarge(AssistantError):
    """The body is larger than the server accepts (caller acts)."""

    status, kind, code = 413, "invalid_request_error", "request_too_large"


class HeadTooLarge(AssistantError):
    """The request line and the headers are larger than the server accepts (caller acts)."""

    status, kind, code = 431, "invalid_request_error", "head_too_large"


class TooManyRequests(AssistantError):
    """The caller asks for more than its share (caller waits)."""

    status, kind, code = 429, "rate_limit_error", "rate_limit_exceeded"


class ConfigError(AssistantError):
    """A setting is wrong, or a model refuses what it is sent (operator acts)."""

    status, kind, code = 500, "server_error", "model_misconfigured"


class ExtraMissing(ConfigError):
    """What is asked for needs an optional part that is not installed (operator acts)."""

    status, code = 501, "extra_missing"


class PromptRefused(ConfigError):
    """The model refuses this very request: too long, not allowed (operator acts)."""

    code = "prompt_refused"


class FieldRefused(PromptRefused):
    """The model refuses a request that was passed on unchanged (caller acts)."""

    status, kind = 400, "invalid_request_error"


class PromptTooLong(PromptRefused):
    """The request is longer than the model can read (caller sends less)."""

    status, kind, code = 400, "invalid_request_error", "context_length_exceeded"


class ModelUnavailable(AssistantError):
    """The language model cannot be reached or is overloaded (upstream)."""

    status, kind, code = 503, "server_error", "model_unavailable"


class ShuttingDown(AssistantError):
    """The server ends and takes nothing new (caller tries again, or another server)."""

    status, kind, code = 503, "server_error", "shutting_down"


class TooManyConnections(AssistantError):
    """The server has as many connections open as it allows (caller tries again)."""

    status, kind, code = 503, "server_error", "too_many_connections"


class ModelRateLimited(ModelUnavailable):
    """The language model's provider asks to wait (upstream)."""

    status, kind, code = 429, "rate_limit_error", "rate_limited"


class ModelTimeout(ModelUnavailable):
    """The language model did not answer in time (upstream)."""

    status, kind, code = 504, "server_error", "model_timeout"


class ReplyUnfinished(ModelTimeout):
    """The language model was still writing when its time was over (upstream). The same request
    again would take as long."""

    code = "reply_unfinished"


class BadModelReply(AssistantError):
    """The language model answered with something unusable (model)."""

    status, kind, code = 502, "server_error", "bad_model_reply"
