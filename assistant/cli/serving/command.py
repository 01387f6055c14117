"""`assistant serve`: in this process, or in several workers."""

import asyncio

import typer

from assistant.access.doorkeeper import check_reachable, is_loopback
from assistant.cli.serving.allocator import keep_small
from assistant.cli.serving.process import listen, say_starting, serve_at
from assistant.cli.serving.workers import check_workers, run_workers
from assistant.observing.logs import configure_logs
from assistant.services import shared_keys
from assistant.settings import Settings


def run_server(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; running requests are finished first.

    Raises `ConfigError` for an address that cannot be used, and what `open_services` raises.
    """
    shared = () if is_loopback(settings.host) else asyncio.run(shared_keys(settings))
    check_reachable(settings, shared)
    check_workers(settings)
    configure_logs(settings.logs)
    if settings.workers > 1:
        run_workers(settings)
        return
    keep_small()
    with listen(settings) as listening:
        say_starting(settings)
        serve_at(listening, settings, typer.echo)
