"""Tells callers by their keys, and whether a key is needed at all."""

from collections.abc import Sequence
from datetime import UTC, datetime

from assistant.access.caller import ANYBODY, Caller
from assistant.access.hosts import is_loopback
from assistant.access.key_file import KeyFile
from assistant.access.keys import Key, Scope, digest_of, key_of
from assistant.errors import ConfigError, Unauthenticated
from assistant.settings import Settings

_ADVICE = (
    "make one with 'assistant keys create LABEL --user NAME', or give one in the setting api_key "
    "(ASSISTANT_API_KEY)"
)


class Doorkeeper:
    """Who may come in. A server that needed a key once needs one until it ends."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` for keys that cannot be read."""
        self._file = KeyFile(settings.keys_path)
        self._given = _given_key(settings)
        self.shared: tuple[Key, ...] = ()
        """The keys of all assistants on the Qdrant server, as they were last read there."""
        self._needs_key = not is_loopback(settings.host) or bool(self.keys())

    def keys(self) -> tuple[Key, ...]:
        """The keys that open at this moment. Raises `ConfigError` when they cannot be read."""
        return (*self._given, *self._file.keys(), *self.shared)

    @property
    def needs_key(self) -> bool:
        """Whether a request needs a key; from the moment on that there is one."""
        self._needs_key = self._needs_key or bool(self.keys())
        return self._needs_key

    def caller(self, token: str | None) -> Caller:
        """Who sends this token. Raises `Unauthenticated`."""
        if not self.needs_key:
            return ANYBODY
        if token is None:
            raise Unauthenticated(
                "this server needs an API key: send it as 'Authorization: Bearer …'",
            )
        key = key_of(token, self.keys())
        if key is None:
            raise Unauthenticated("this API key is not known, or was revoked")
        return Caller.of(key)


def check_reachable(settings: Settings, shared: Sequence[Key] = ()) -> None:
    """Raises `ConfigError` where others could reach an assistant that needs no key. `shared` are
    the keys of all assistants on the Qdrant server."""
    if not (is_loopback(settings.host) or shared or Doorkeeper(settings).keys()):
        raise ConfigError(
            f"others could reach {settings.host} and there is no API key: {_ADVICE}; "
            "or listen on 127.0.0.1",
            code="wrong_setting",
        )


def _given_key(settings: Settings) -> tuple[Key, ...]:
    """The key out of the settings, which may do everything."""
    token = settings.api_key.get_secret_value() if settings.api_key else ""
    if not token:
        return ()
    start = datetime.fromtimestamp(0, UTC).isoformat()
    return (Key("settings", "api_key", digest_of(token), None, frozenset(Scope), start),)
