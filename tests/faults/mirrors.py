"""Mirrors that copy one topic exactly once, or at least once, to compare."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.audit.cluster_access import committed
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults.test_recovery import workers
from tests.fixtures.clusters import NamedKafka
from tests.fixtures.exactly_once import PATIENCE, CopiedOnce

SHORT_MS = "10000"
"""The session's time-out, and the transaction's."""
BUSY = 500
"""Records in open transactions."""


class Mirrors:
    """Mirrors of one group that copy one topic."""

    def __init__(
        self, copy: CopiedOnce, start: Callable[..., ToolProcess], source: str, target: str, *, once: bool = True
    ) -> None:
        """Take the copy, and the addresses for mirrors."""
        self.copy, self.once = copy, once
        self._start, self._source, self._target = start, NamedKafka(source), target

    def start(self) -> ToolProcess:
        """Start one."""
        read = {
            "bootstrap.servers": self._source.bootstrap,
            "group.id": self.copy.flow.group,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": SHORT_MS,
            "heartbeat.interval.ms": "1000",
        }
        words = ["--whitelist", self.copy.topic, "--offset.commit.interval.ms", "3000"]
        if self.once:
            words += ["--exactly.once", "true", "--exactly.once.transaction.timeout.ms", SHORT_MS]
        return self._start(read, {"bootstrap.servers": self._target}, *words)

    def committed(self) -> int:
        """Return the sum of the group's offsets."""
        return sum(committed(self.copy.source.bootstrap, self.copy.flow.group, [self.copy.topic]).values())

    def wait_busy(self) -> None:
        """Wait until records are at the target whose offsets are committed nowhere."""
        open_ = self.copy.unstable if self.once else lambda: self.copy.written() - self.committed()
        wait_until(lambda: open_() > BUSY, PATIENCE, "open transactions, or records without a commit")

    def wait_committed(self, count: int) -> None:
        """Wait until the group's offsets are so far."""
        wait_until(lambda: self.committed() >= count, PATIENCE, f"{count} committed records")

    def wait_copied(self) -> None:
        """Wait until everything is copied and committed."""
        self.wait_committed(self.copy.total)

    def judge(self) -> None:
        """Check what committed readers see, now that no mirror runs. The fault was one that doubles records."""
        if self.once:
            assert self.copy.differences() == []
            assert self.copy.aborted() > 0, "nothing was open, so the test shows nothing"
        else:
            assert self.copy.duplicates() > 0, "nothing is doubled, so the test shows nothing"

    def copying(self, tool: ToolProcess) -> list[int]:
        """Return the processes of a mirror that are at the source, beside its driver."""
        return [pid for pid in workers(tool, self._source) if pid != tool.pid]
