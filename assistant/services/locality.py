"""Which models and embedders are local, and so may get what must not leave this computer."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from assistant.settings import LITELLM_EMBEDDER, LanguageModel, Settings
from memory_store import Reach, ReachRule

MCP_CLIENTS = "mcp"
"""The name in the setting `reach.local` by which an operator trusts the clients of MCP."""


def reach_of_model(settings: Settings, model: LanguageModel) -> Reach:
    """The closest reach of the memories that a language model may read. Without a model, quotes are
    made on this computer."""
    is_local = not model.name or _is_trusted(settings, model.name, model.base_url)
    return Reach.THIS_COMPUTER if is_local else Reach.ANYWHERE


def reach_of_mcp(settings: Settings) -> Reach:
    """The closest reach of the memories that the clients of MCP may read."""
    return Reach.THIS_COMPUTER if MCP_CLIENTS in settings.reach.local else Reach.ANYWHERE


def embeds_here(settings: Settings) -> bool:
    """Whether texts are embedded on this computer, or where the operator trusts it as much."""
    url = settings.embedder_server.base_url
    if not url and not settings.embedder.startswith(LITELLM_EMBEDDER):
        return True
    return _is_trusted(settings, settings.embedder, url)


def reach_rules(settings: Settings) -> list[ReachRule]:
    """The rules of the settings that limit where memories may go."""
    how = settings.reach
    both = (
        (Reach.THIS_COMPUTER, how.this_computer),
        (Reach.NEVER_IN_ANSWERS, how.never_in_answers),
    )
    return [
        ReachRule(reach, tuple(rule.words), rule.labels, frozenset(rule.spaces))
        for reach, rule in both
    ]


def _is_trusted(settings: Settings, name: str, base_url: str) -> bool:
    how = settings.reach
    return name in how.local or (how.loopback and _is_loopback(base_url))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
