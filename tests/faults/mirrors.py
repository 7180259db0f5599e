"""Mirrors that copy topics exactly once, or at least once, to compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from compat.laboratory.schedule_report import AT_LEAST_ONCE, MIRROR_MAKER_2, ONCE
from legacy_mm.audit.cluster_access import committed
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from tests.faults.test_recovery import spark_jvm, stop, workers
from tests.fixtures.clusters import NamedKafka
from tests.fixtures.exactly_once import COMMITTED, PATIENCE, CopiedOnce

SHORT_MS = "10000"
"""The session's time-out, and the transaction's."""
STILL_SECONDS = 60.0
BUSY = 500
"""Records in open transactions."""


class Mirrors:
    """Mirrors of one group that copy one topic, and others beside it."""

    def __init__(
        self,
        copy: CopiedOnce,
        start: Callable[..., ToolProcess],
        source: str,
        target: str,
        *,
        once: bool = True,
        beside: Sequence[CopiedOnce] = (),
        options: Sequence[str] = (),
    ) -> None:
        """Take the copies, the addresses for mirrors, and further options."""
        self.copy, self.once = copy, once
        self.name = ONCE if once else AT_LEAST_ONCE
        self.copies = (copy, *beside)
        self.remarks: list[str] = []
        """What is to be told about a run, beside its figures."""
        self.commit_ms = "3000"
        """How often the next ones commit for the group."""
        self._options = options
        self._start, self._source, self._target = start, NamedKafka(source), target

    def start(self) -> ToolProcess:
        """Start one."""
        return self._start_with({})

    def start_static(self, instance: str) -> ToolProcess:
        """Start one with this `group.instance.id`."""
        return self._start_with({"group.instance.id": instance})

    def _start_with(self, consumer: Mapping[str, str]) -> ToolProcess:
        read = {
            "bootstrap.servers": self._source.bootstrap,
            "group.id": self.copy.flow.group,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": SHORT_MS,
            "heartbeat.interval.ms": "1000",
            "isolation.level": COMMITTED,
            **consumer,
        }
        topics = "|".join(each.topic for each in self.copies)
        words = ["--whitelist", topics, "--offset.commit.interval.ms", self.commit_ms, *self._options]
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

    def wait_begun(self) -> None:
        """Wait until each topic has records at the target."""
        wait_until(lambda: all(each.written() > 0 for each in self.copies), 2 * PATIENCE, "records of each topic")

    def wait_committed(self, count: int) -> None:
        """Wait until the group's offsets are so far."""
        wait_until(lambda: self.committed() >= count, PATIENCE, f"{count} committed records")

    def wait_copied(self) -> None:
        """Wait until everything is copied and committed."""
        wanted = self.last_offsets()
        wait_until(lambda: self.reached(wanted), PATIENCE, f"the commit of {wanted}")

    def wait_written(self) -> None:
        """Wait until everything is at the target, for good, whatever the group has committed.

        At least once: while nothing is written to the source.
        """
        wanted = self.copy.ends()

        def reached() -> bool:
            if not self.once:
                return self.copy.verdict().count("lost") == 0
            found = self.copy.positions()
            return all(number in found and found[number][-1] >= end for number, end in wanted.items())

        wait_until(reached, PATIENCE, f"records up to {wanted}")

    def last_offsets(self) -> dict[tuple[str, int], int]:
        """Return one past the last record of each source partition."""
        return {(copy.topic, number): end for copy in self.copies for number, end in copy.ends().items()}

    def reached(self, wanted: dict[tuple[str, int], int]) -> bool:
        """Return True if the group's offsets are so far."""
        return not self.missing(wanted)

    def missing(self, wanted: dict[tuple[str, int], int]) -> dict[tuple[str, int], tuple[int, int]]:
        """Return partitions whose offset of the group is not so far yet: that offset, and the wanted one."""
        found = committed(self.copy.source.bootstrap, self.copy.flow.group, [each.topic for each in self.copies])
        offsets = {place: (found.get(place, 0), offset) for place, offset in wanted.items()}
        return {place: (offset, end) for place, (offset, end) in offsets.items() if offset < end}

    def judge(self, *, dies: bool = True) -> None:
        """Check what committed readers see, now that no mirror runs. The fault was one that doubles records.

        A mirror that `dies` leaves an open transaction; one that ends by itself may have committed it.
        """
        if self.once:
            assert self.copy.differences() == []
            assert self.copy.aborted() > 0 or not dies, "nothing was open, so the test shows nothing"
        else:
            assert self.copy.duplicates() > 0, "nothing is doubled, so the test shows nothing"

    def stop(self, tool: ToolProcess) -> None:
        """Stop one cleanly."""
        stop(tool)

    def must_start_anew(self) -> bool:
        """Return True if only new mirrors can copy the rest."""
        return False

    def copying(self, tool: ToolProcess) -> list[int]:
        """Return the processes of a mirror that are at the source, beside its driver."""
        return [pid for pid in workers(tool, self._source) if pid != tool.pid]

    def jvms(self, tool: ToolProcess) -> list[int]:
        """Return the Java process of a mirror's Spark; none while it has none."""
        with suppress(StopIteration, OSError):
            return [spark_jvm(tool)]
        return []


class JavaMirrors(Mirrors):
    """MirrorMaker 2 in dedicated mode, with its exactly-once source support; a mirror is one process."""

    def __init__(
        self, copies: Sequence[CopiedOnce], start: Callable[..., ToolProcess], source: str, target: str
    ) -> None:
        """`start` is called with the addresses and the topics."""
        super().__init__(copies[0], start, source, target, once=False, beside=copies[1:])
        self.name = MIRROR_MAKER_2
        self._still = (0, Deadline.after(STILL_SECONDS))

    def start(self) -> ToolProcess:
        """Start one."""
        return self._start(self._source.bootstrap, self._target, "|".join(each.topic for each in self.copies))

    def reached(self, wanted: dict[tuple[str, int], int]) -> bool:
        """Return True once nothing has come to the target for long; its offsets are its own matter."""
        written = sum(each.written() for each in self.copies)
        if written != self._still[0]:
            self._still = (written, Deadline.after(STILL_SECONDS))
        return self._still[1].expired()

    def stop(self, tool: ToolProcess) -> None:
        """Stop one, whatever its status is."""
        tool.stop(PATIENCE)

    def must_start_anew(self) -> bool:
        """Return True if records are missing: a task that has failed is not started again."""
        missing = sum(copy.verdict().count("lost") for copy in self.copies)
        self._still = (0, Deadline.after(STILL_SECONDS))
        if missing:
            self.remarks.append(f"{missing:,} records were not copied until both processes were started anew")
        return missing > 0

    def copying(self, tool: ToolProcess) -> list[int]:
        """Return its process."""
        return [tool.pid]

    jvms = copying
