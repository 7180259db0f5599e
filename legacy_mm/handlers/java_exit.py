"""A Java handler that ends its JVM: what comes before the end, and with which code.

`System.exit` runs Java's shutdown hooks, then ends the whole process, which has one copy task or several. Order: (1) a
hook for each handler says that the end has begun, while Java still answers other threads; when all have returned, (2)
Java stops, and (3) the C library tells the code and waits for the callback before the process ends. The hooks go
through JPype, because Java runs all hooks side by side, and JPype's own would take Java away from the threads that
still use it.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

from legacy_mm.handlers.java_source import CLASS

_ON_EXIT = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)
_EXITS = ("java.lang.Runtime", "exit")
_begun: list[ProgramExit] = []
"""The receivers that were told of the begin of Java's exit."""


class ProgramExit(Protocol):
    """The receiver of the handler's exit of the program. Each call is on a thread of its own."""

    def begun(self, *, stuck: bool) -> None:
        """Handle the begin of Java's exit; it ends when this returns. `stuck`: the thread that handles records
        called exit and never returns.
        """

    def ended(self, code: int) -> None:
        """Handle the end of Java; must return. The process ends when all that it reports is read."""


def watch(jpype: Any, program_exit: ProgramExit) -> Callable[[], None]:
    """Tell of an end that a handler asks for; return what stops that. Call it in the thread that calls the handler."""
    java = jpype.JPackage("java").lang
    caller = java.Thread.currentThread()

    def begin() -> None:
        _begun.append(program_exit)
        program_exit.begun(stuck=_is_stuck(caller))

    hook = java.Thread(jpype.JProxy("java.lang.Runnable", {"run": begin}))
    java.Runtime.getRuntime().addShutdownHook(hook)
    _tell_of_the_code()

    def stop() -> None:
        if program_exit not in _begun:  # a call of Java would never return then
            with suppress(jpype.JException):  # it begins in this moment, and keeps its hooks
                java.Runtime.getRuntime().removeShutdownHook(hook)

    return stop


@cache
def _tell_of_the_code() -> Any:
    """Ask the C library for the code, once; return the callback, which must live as long as the process."""

    def end(code: int, _: object) -> None:
        for program_exit in _begun:
            program_exit.ended(code)
        if _begun:
            threading.Event().wait()

    callback = _ON_EXIT(end)
    if (on_exit := getattr(ctypes.CDLL(None), "on_exit", None)) is not None:  # glibc's
        on_exit(callback, None)
    return callback


def _is_stuck(thread: Any) -> bool:
    """Return whether a thread waits for the end of Java, which its handler has asked for."""
    calls = [(str(frame.getClassName()), str(frame.getMethodName())) for frame in thread.getStackTrace()]
    return _EXITS in calls and any(name == CLASS for name, _ in calls)
