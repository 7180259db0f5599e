"""Spark's Python daemon, made deaf to TERM, INT and QUIT (`spark.python.daemon.module`).

systemd, `timeout`, terminals and `kill -- -PGID` signal every process of the tree, but only the main process may
react: it stops the tasks in order. HUP stays as pyspark has it, because it is how the daemon ends its workers when
the JVM is gone. What LEGACY_MM_PRELOAD names (`module`, or `module:function` to be called) is done once here instead
of in every worker.

Embedded, the imports are done while the JVM still starts, by a process that `prepared_daemon.py` has started. The
daemon that Spark starts then hands its pipes, words and environment over to that one, and waits until it ends.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

_DEAF = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
_PIPES = (0, 1, 2)
_HANDED_OVER = b"+"
_NAME = "daemon"
_CONSOLE = "LEGACY_MM_CONSOLE"
"""A variable of workers: the descriptors by which they reach what the mirror itself prints to."""


def at_socket(folder: str, act: Callable[[str], None]) -> None:
    """Bind or connect to the socket in a folder, whose own path may be longer than a socket's address can be."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        act(f"/proc/self/fd/{descriptor}/{_NAME}")
    finally:
        os.close(descriptor)


def main() -> None:
    """Prepare and wait (`--prepare DESCRIPTOR`), or be the daemon, or let the prepared one be it."""
    for deaf in _DEAF:
        signal.signal(deaf, signal.SIG_IGN)
    if sys.argv[1:2] == ["--prepare"]:
        _take_over(socket.socket(fileno=int(sys.argv[2])))
    elif not _hand_over(os.environ.get("LEGACY_MM_PREPARED_DAEMON")):
        _preload()
        _serve()


def _preload() -> None:
    gc.disable()  # half of the time of the imports below, and pages that workers would copy
    for name in ["pyspark.daemon", "pyspark.worker", *os.environ.get("LEGACY_MM_PRELOAD", "").split()]:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()


def _serve() -> None:
    import pyspark.daemon

    vars(pyspark.daemon)["signal"] = SimpleNamespace(**{**vars(signal), "signal": _install})
    pyspark.daemon.manager()


def _install(number: int, handler: Any) -> Any:
    return signal.signal(number, signal.SIG_IGN if number in _DEAF else handler)


def _hand_over(folder: str | None) -> bool:
    """Yield the role to another process; return True if it was the daemon until its end."""
    if not folder:
        return False
    taken = b""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as line:
        at_socket(folder, line.connect)
        socket.send_fds(line, [_HANDED_OVER], _PIPES)
        line.sendall(json.dumps({"words": sys.argv, "environment": dict(os.environ)}).encode())
        line.shutdown(socket.SHUT_WR)
        taken = line.recv(1)
        if taken == _HANDED_OVER:
            _wait_for_end(line)
    return taken == _HANDED_OVER


def _wait_for_end(line: socket.socket) -> None:
    """Wait until the other process ends, as a program without an interpreter: that takes 10 MB less."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number, waiting in zip(_PIPES, (line.fileno(), nowhere, nowhere), strict=True):
        os.dup2(waiting, number)
    with suppress(OSError):  # a host without it waits here
        os.execvp("cat", ["cat"])
    line.recv(1)


def _take_over(listener: socket.socket) -> None:
    """Take over as the daemon for any client; end when none can connect any more, because our own standard input
    closed.
    """
    _preload()
    readable, _, _ = select.select([0, listener.fileno()], [], [])
    if listener.fileno() not in readable:
        return
    line, _ = listener.accept()
    listener.close()
    _, pipes, *_ = socket.recv_fds(line, len(_HANDED_OVER), len(_PIPES))
    with line.makefile(encoding="utf-8") as handed:
        words = json.load(handed)
    console = [os.dup(number) for number in _PIPES[1:]]
    for number, pipe in zip(_PIPES, pipes, strict=True):
        os.dup2(pipe, number)
        os.close(pipe)
    sys.argv[:] = words["words"]
    os.environ.clear()
    os.environ.update(words["environment"])
    os.environ[_CONSOLE] = " ".join(map(str, console))
    line.sendall(_HANDED_OVER)
    _serve()


def print_with_the_mirror() -> None:
    """Print this worker's output through the mirror from now on; without a mirror on this host, through Spark."""
    if not (console := os.environ.get(_CONSOLE, "").split()):
        return
    for own, number in zip(console, _PIPES[1:], strict=True):
        os.dup2(int(own), number)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # a copy task does not come to its end


if __name__ == "__main__":
    main()
