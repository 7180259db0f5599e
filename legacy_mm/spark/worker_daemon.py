"""Spark's Python daemon, made deaf to TERM, INT and QUIT (`spark.python.daemon.module`).

systemd, `timeout`, terminals and `kill -- -PGID` signal every process of the tree, but only the main process may
react: it stops the tasks in order. HUP stays as pyspark has it, because it is how the daemon ends its workers when
the JVM is gone. What LEGACY_MM_PRELOAD names (`module`, or `module:function` to be called) is done once here instead
of in every worker.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
from types import SimpleNamespace
from typing import Any

import pyspark.daemon

_DEAF = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


def _install(number: int, handler: Any) -> Any:
    return signal.signal(number, signal.SIG_IGN if number in _DEAF else handler)


if __name__ == "__main__":
    for deaf in _DEAF:
        signal.signal(deaf, signal.SIG_IGN)
    vars(pyspark.daemon)["signal"] = SimpleNamespace(**{**vars(signal), "signal": _install})
    gc.disable()  # half of the time of the imports below, and pages that workers would copy
    for name in os.environ.get("LEGACY_MM_PRELOAD", "").split():
        module, _, function = name.partition(":")
        loaded = importlib.import_module(module)
        if function:
            getattr(loaded, function)()
    gc.freeze()
    gc.enable()
    pyspark.daemon.manager()
