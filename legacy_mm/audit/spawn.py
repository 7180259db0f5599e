"""Start child processes that cannot outlive us. Rule: every Popen of the testbed is made here.

A child gets its own session, so Ctrl-C and group signals for the tests pass it by; default signal
dispositions, because a JVM keeps ignoring what it inherited as ignored; and SIGKILL when its parent
dies. Linux ties that last one to the *thread* that forked, so one thread that never ends does it.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

QUICK_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Options for a JVM that lives for a minute: a broker is up with half the CPU."""
PR_SET_PDEATHSIG = 1
DEFAULT_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGPIPE)

_libc = ctypes.CDLL(None, use_errno=True)


class _Order(NamedTuple):
    command: Sequence[str]
    environment: Mapping[str, str] | None
    folder: Path
    output: Path
    answer: Future[subprocess.Popen[bytes]]


_orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
_starting = threading.Lock()
_thread: threading.Thread | None = None


def spawn(
    command: Sequence[str],
    *,
    folder: Path,
    output: Path,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` in `folder`; stdout and stderr are appended to the file `output`."""
    answer: Future[subprocess.Popen[bytes]] = Future()
    _start_thread()
    _orders.put(_Order(command, environment, folder, output, answer))
    return answer.result()


def die_with_parent() -> None:
    """Let this process get SIGKILL when the thread that forked it ends."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _start_thread() -> None:
    global _thread
    with _starting:
        if _thread is None or not _thread.is_alive():  # not alive: we are a fork of the first user
            _thread = threading.Thread(target=_serve, name="testbed-spawn", daemon=True)
            _thread.start()


def _serve() -> None:
    while True:
        order = _orders.get()
        try:
            order.answer.set_result(_popen(order))
        except BaseException as error:
            order.answer.set_exception(error)


def _popen(order: _Order) -> subprocess.Popen[bytes]:
    parent = os.getpid()

    def prepare() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        for number in DEFAULT_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    with order.output.open("ab") as output:
        return subprocess.Popen(
            list(order.command),
            cwd=order.folder,
            env=None if order.environment is None else dict(order.environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=prepare,
        )
