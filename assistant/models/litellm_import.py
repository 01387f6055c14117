"""litellm, loaded when it is first needed, and quiet. It takes seconds to import."""

import logging
import os
from typing import Any

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


def load_litellm() -> Any:
    """The module: no network at import, no telemetry, log lines only through our handlers."""
    # Without this, importing litellm tries to fetch a price table from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    # It brings handlers of its own, which write prompts to the standard output.
    for logger in loggers:
        logger.disabled = True
    import litellm

    for logger in loggers:
        logger.handlers.clear()
        logger.propagate = True
        logger.disabled = False
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.disable_hf_tokenizer_download = True
    # Its own transport leaves connections open behind it (BerriAI/litellm#13251).
    litellm.disable_aiohttp_transport = True
    return litellm
