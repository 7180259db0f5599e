"""A Python process that does the workers' imports while Spark's JVM starts, and then is Spark's Python daemon."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

from legacy_mm.base.clock import Deadline
from legacy_mm.runtime.jvm.gateway import IGNORING_SIGNALS, python_executable
from legacy_mm.runtime.spark.worker_daemon import at_socket

_MODULE = "legacy_mm.runtime.spark.worker_daemon"
_LAST_TIMEOUT = 1.0


class PreparedDaemon:
    """Started at once; Spark's own daemon finds it in the folder (LEGACY_MM_PREPARED_DAEMON)."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Create the daemon; `folder` is private: any process that can write there could pose as our daemon."""
        with socket.socket(socket.AF_UNIX) as listener:
            at_socket(str(folder), listener.bind)
            listener.listen(1)
            command = [python_executable(), "-P", "-m", _MODULE, "--prepare", str(listener.fileno())]
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", IGNORING_SIGNALS, "sh", *command],
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
                env=environment,
            )

    def stop(self, deadline: Deadline) -> None:
        """Stop the daemon, which ends once Spark has, or since no client can reach it now; kill it at the deadline,
        but not before it could end its workers.
        """
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(max(_LAST_TIMEOUT, deadline.remaining()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
