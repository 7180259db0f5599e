"""A handler that ends the program: what it has seen is sent, nothing more is read, and the driver ends the mirror.

A script raises SystemExit at a record. Java ends the process, on any thread, so its end is held up until the engine is
done; where the engine's own thread is in that call, it is done for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from legacy_mm.base.errors import ChannelError
from legacy_mm.base.reports import Frame
from legacy_mm.runtime.channel.frames import Exit, Stopped

_CODE_TIMEOUT = 20.0
"""Java's other shutdown hooks may take so long before its code is known."""


class HandlerExit:
    """The end of the program that a handler asks for."""

    def __init__(self, prove_sent: Callable[[], None], report: Callable[[Frame], None]) -> None:
        """Take what the engine is to do where its own thread never comes back: report as safe what was sent."""
        self.asked = False
        self._prove_sent = prove_sent
        self._report = report
        self._code = 0
        self._reported = self._stuck = False
        self._engine_done, self._code_known = threading.Event(), threading.Event()
        self._code_known.set()

    def ask(self, code: int) -> None:
        """Ask the engine to end, since a script has ended the program."""
        self._code = code
        self.asked = True

    def report(self) -> None:
        """Tell the driver, once: all that the handler has seen is sent."""
        if not self._reported:
            self._reported = True
            self._report(Exit(self._code))

    def wait_for_code(self) -> None:
        """Wait for Java's exit code after the engine is done."""
        self.engine_is_done()
        self._code_known.wait(_CODE_TIMEOUT)

    def engine_is_done(self) -> None:
        """Let Java end. Without this word, also of an engine that has failed, the other tasks of its JVM wait, too."""
        self._engine_done.set()

    def begun(self, *, stuck: bool) -> None:
        """Block Java's shutdown until this returns."""
        self._code_known.clear()
        self._stuck = stuck
        if stuck:
            self._prove_sent()
            self.report()
        else:
            self.asked = True
            self._engine_done.wait()

    def ended(self, code: int) -> None:
        """Note that Java has ended with this code."""
        with suppress(ChannelError):  # the engine has ended without the code
            self._report(Exit(code))
            if self._stuck:
                self._report(Stopped({}))
        self._code_known.set()
