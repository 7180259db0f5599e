"""A Java handler that ends its JVM: what comes before the end, and with which code.

`System.exit` runs Java's shutdown hooks, then ends the whole process, which is the copy task. Order: (1) a hook says
that the end has begun, while Java still answers other threads; when it returns, (2) Java stops, and (3) the C library
tells the code and waits for the callback before the process ends. The hook goes through JPype, because Java runs all
hooks side by side, and JPype's own would take Java away from the threads that still use it.
"""

from __future__ import annotations

import ctypes
from typing import Any, Protocol

from legacy_mm.handlers.java_source import CLASS

_ON_EXIT = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)
_EXITS = ("java.lang.Runtime", "exit")
_kept: list[Any] = []
"""The callbacks of the C library, which must live as long as the process."""


class ProgramExit(Protocol):
    """The receiver of the handler's exit of the program. Each call is on a thread of its own."""

    def begun(self, *, stuck: bool) -> None:
        """Handle the begin of Java's exit; it ends when this returns. `stuck`: the thread that handles records
        called exit and never returns.
        """

    def ended(self, code: int) -> None:
        """Handle the end of Java; the process ends when this returns."""


def watch(jpype: Any, told: ProgramExit) -> None:
    """Tell of an end that the handler asks for."""
    java = jpype.JPackage("java").lang
    begun: list[bool] = []

    def begin() -> None:
        begun.append(True)
        told.begun(stuck=_is_stuck(java))

    def end(code: int, _: object) -> None:
        if begun:
            told.ended(code)

    hook = jpype.JProxy("java.lang.Runnable", {"run": begin})
    java.Runtime.getRuntime().addShutdownHook(java.Thread(hook))
    if (on_exit := getattr(ctypes.CDLL(None), "on_exit", None)) is not None:  # glibc's
        _kept.append(_ON_EXIT(end))
        on_exit(_kept[-1], None)


def _is_stuck(java: Any) -> bool:
    """Return whether a thread that runs the bridge waits for the end of Java."""
    for frames in java.Thread.getAllStackTraces().values():
        calls = [(str(frame.getClassName()), str(frame.getMethodName())) for frame in frames]
        if _EXITS in calls and any(name == CLASS for name, _ in calls):
            return True
    return False
