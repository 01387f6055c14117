"""The models of the roles, as the settings name them."""

from pathlib import Path

from assistant.models.chat_model import ChatModel
from assistant.models.gateway import CallLimits, Gateway
from assistant.models.litellm_data import Prices
from assistant.models.litellm_model import LitellmModel
from assistant.models.reply_cache import ReplyCache
from assistant.models.server_model import ServerModel
from assistant.models.usage import RoleCounts, UsageCounts
from assistant.settings import LanguageModel, Role, Settings

# litellm's prefix of whatever speaks OpenAI's API.
_OPENAI = "openai/"


def gateway(settings: Settings, role: Role, usage: UsageCounts) -> Gateway | None:
    """The gateway of a role; None where no model is configured for it."""
    how = settings.model(role)
    return gateway_to(how, settings, usage.of(role)) if how.name else None


def gateway_to(how: LanguageModel, settings: Settings, usage: RoleCounts) -> Gateway:
    """The gateway to a model, whose calls are counted in `usage`."""
    model = _model(how, settings.models.prices.get(how.name))
    limits = CallLimits(how.retries, seconds=how.timeout)
    return Gateway(model, usage, limits, reply_cache(settings))


def _model(how: LanguageModel, prices: tuple[float, float] | None) -> ChatModel:
    if how.name.startswith(_OPENAI) and how.base_url and how.key:
        return ServerModel(how, Prices.of(how.name, prices))
    return LitellmModel(how, prices)


def reply_cache(settings: Settings) -> ReplyCache | None:
    """Where the replies of all roles are kept; None where they are not."""
    folder = settings.models.cache_dir
    return ReplyCache(Path(folder)) if folder else None
