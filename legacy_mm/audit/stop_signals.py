"""Signals that end a command of the testbed: what it has started and made goes first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import NoReturn

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StoppedBySignal(BaseException):
    """A signal asked us to end; like KeyboardInterrupt no Exception, so that nothing swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class StopSignals:
    """SIGINT, SIGTERM and SIGHUP raise `StoppedBySignal` in the block, and are ignored once it is left."""

    def __init__(self) -> None:
        self._received: int | None = None

    def __enter__(self) -> None:
        for number in STOP_SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup, and & in sh, ignore some
                signal.signal(number, self._raise)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if self._received is not None and not isinstance(error, StoppedBySignal):
            # Raised in a callback of confluent_kafka's C code, it comes out as a SystemError.
            raise StoppedBySignal(self._received) from error

    def _raise(self, number: int, frame: FrameType | None) -> NoReturn:
        self._received = number
        raise StoppedBySignal(number)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore these signals in the block, so that its clean-up runs to the end."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
