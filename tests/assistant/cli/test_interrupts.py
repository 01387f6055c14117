"""Ctrl-C takes effect at once, and is not lost where somebody swallows it."""

import os
import signal
from contextlib import suppress

import pytest

from assistant.cli.terminal import interrupts


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_is_raised_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts():
        ctrl_c()


def test_one_that_was_swallowed_is_raised_again() -> None:
    with interrupts() as again:
        again()
        with suppress(KeyboardInterrupt):
            ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            again()


def test_afterwards_it_is_as_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
