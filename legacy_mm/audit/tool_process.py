"""A tool that runs in a process tree of its own: its output, its signals, its end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from legacy_mm.audit.process_tree import ProcessTree
from legacy_mm.audit.spawn import spawn
from legacy_mm.audit.waiting import wait_until

# Variables of a developer's shell that must not reach a tool; a caller's own `environment` still counts.
FOREIGN = ("KAFKA_", "LEGACY_MM_", "SPARK_", "PYSPARK_", "JMX_PORT", "CLASSPATH", "LOG_DIR")
KEPT = ("LEGACY_MM_CACHE",)
_KILL_TIMEOUT = 30.0
_TAIL = 4_000


class ToolProcess:
    """A tool that runs: its output and its temporary files go to its folder, its process tree ends with `kill_tree`."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        working_folder: Path | None = None,
    ) -> None:
        """Start the command; it also works in `folder`, unless another one is named."""
        temporary = folder / "tmp"  # so that even a killed one leaves nothing outside
        temporary.mkdir(parents=True, exist_ok=True)
        self.command = tuple(command)
        self.name = Path(command[0]).name
        self._output = folder / "output.log"
        self._output.unlink(missing_ok=True)
        variables = {**_clean_environment(), "TMPDIR": str(temporary), **(environment or {})}
        self._popen = spawn(command, folder=working_folder or folder, output=self._output, environment=variables)
        self.tree = ProcessTree(self._popen.pid)

    @property
    def pid(self) -> int:
        """Process id of the tool's main process."""
        return self._popen.pid

    def output(self) -> str:
        """Return the output so far, stdout and stderr."""
        return self._output.read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Signal the main process."""
        self._popen.send_signal(number)

    def running(self) -> bool:
        """Return False once the main process has ended."""
        return self._popen.poll() is None

    def wait(self, timeout: float) -> int:
        """Exit status as a shell shows it (128 + n for death by signal n); TimeoutError with the output."""
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"pid {self.pid} still runs after {timeout:g} s; it printed:\n{self.output()}") from None
        return code if code >= 0 else 128 - code

    def stop(self, timeout: float) -> int:
        """Send SIGTERM, and return its exit status."""
        self.signal(signal.SIGTERM)
        return self.wait(timeout)

    def wait_for_output(self, text: str, timeout: float) -> None:
        """Wait until it has printed `text`; AssertionError with the output if it ended without."""

        def printed() -> bool:
            ended = not self.running()  # asked first: what it printed before its end must count
            if text in self.output():
                return True
            if ended:
                raise AssertionError(f"{self.name} ended without {text!r}; it printed:\n{self.output()[-_TAIL:]}")
            return False

        wait_until(printed, timeout, f"{self.name} to print {text!r}")

    def kill_tree(self) -> None:
        """Send SIGKILL to every process of the tree, and wait until they are gone."""
        if self.running():
            self._popen.send_signal(signal.SIGSTOP)  # or it might start a process that this list misses
        pids = self.tree.pids()
        if self.running():
            self._popen.kill()
        self._popen.wait()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.tree.pids(), _KILL_TIMEOUT, f"the children of {self.name} to be gone")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill_tree()


def _clean_environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name in KEPT or not name.startswith(FOREIGN)}
