"""`bin/demo`: two real clusters, the unchanged command of an old deployment, and a comparison at the end.

Steps: (1) fetch Kafka, (2) start a source and a target, (3) fill the source, (4) start the mirror, (5) watch
it until nothing is left, (6) stop it by SIGTERM, (7) compare. Rule: whatever happens, nothing is left behind.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn

from confluent_kafka import KafkaException

from legacy_mm.clock import monotonic
from legacy_mm.errors import LegacyMMError
from legacy_mm.spark.java import find_java
from legacy_mm.testbed.cluster import Cluster
from legacy_mm.testbed.demo_data import TopicRow, read_rows, write_topic
from legacy_mm.testbed.demo_progress import ProgressDisplay, TargetWatch, Written
from legacy_mm.testbed.demo_table import TopicResult, contents, table
from legacy_mm.testbed.jars import jars_folder, kafka_jars
from legacy_mm.testbed.records import committed, end_offsets, list_topics, read_all, same_records
from legacy_mm.testbed.releases import CURRENT, find_release
from legacy_mm.testbed.samples import command_folder, samples_folder
from legacy_mm.testbed.tools import ToolProcess
from legacy_mm.testbed.waiting import wait_until

MIRROR_SECONDS = 300.0  # 10 s were measured on two cores
STOP_SECONDS = 60.0
FOLLOW_SECONDS = 5.0
STOPPED_BY_SIGTERM = 128 + signal.SIGTERM
TAIL_LINES = 8
TAIL_WIDTH = 240  # a line that names a record may be as long as the record
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Demo:
    """One run in a temporary folder; the stack undoes what was done, last first."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._rows = read_rows(samples_folder() / "demo" / "topics.toml")
        self._mirrored = [row for row in self._rows if row.mirrored]
        self._source = Cluster(folder / "source")
        self._target = Cluster(folder / "target")

    def run(self) -> bool:
        """True when the target holds exactly what it ought to and the mirror stopped as it ought to."""
        self._fetch_kafka()  # 1
        self._start_clusters()  # 2
        written = self._fill_source()  # 3
        mirror = self._start_mirror()  # 4
        self._watch(mirror, written)  # 5
        stopped = self._stop(mirror)  # 6
        return self._compare() and stopped  # 7

    def _fetch_kafka(self) -> None:
        find_java()
        folder = jars_folder(find_release(CURRENT))
        if not folder.is_dir():
            say(f"Fetching Kafka {CURRENT} from Maven Central into {folder} (first time only, a minute or two)")
        kafka_jars(CURRENT)

    def _start_clusters(self) -> None:
        both = {"source": self._source, "target": self._target}
        for cluster in both.values():
            self._stack.callback(cluster.stop)
        with ThreadPoolExecutor(len(both)) as pool:  # each takes seconds, most of them waiting
            for _ in pool.map(Cluster.start, both.values()):
                pass
        addresses = ", ".join(f"{name} at {cluster.bootstrap}" for name, cluster in both.items())
        say(f"Two Kafka {CURRENT} clusters: {addresses}")

    def _fill_source(self) -> dict[str, Written]:
        say(f"Writing {sum(row.records for row in self._rows):,} records to the source:")
        written = {}
        for row in self._rows:
            written[row.name] = Written(row.records, write_topic(self._source.bootstrap, row))
            say(f"  {row.records:>9,} {row}")
        return {row.name: written[row.name] for row in self._mirrored}

    def _start_mirror(self) -> ToolProcess:
        original = samples_folder() / "legacy" / "quickstart"
        copy = shutil.copytree(original, self._folder / "quickstart")
        point_to(copy / "consumer.properties", self._source.bootstrap)
        point_to(copy / "producer.properties", self._target.bootstrap)
        say(f"Starting {original / 'run.sh'} (copied; only the two bootstrap.servers are replaced):")
        say(f"  $ {last_line(copy / 'run.sh').removeprefix('exec ')}")
        temporary = self._folder / "tmp"  # so that even a killed mirror leaves nothing outside
        temporary.mkdir()
        path = os.pathsep.join([str(command_folder()), os.environ.get("PATH", os.defpath)])
        environment = {"PATH": path, "TMPDIR": str(temporary)}
        return self._stack.enter_context(ToolProcess([str(copy / "run.sh")], copy, environment))

    def _watch(self, mirror: ToolProcess, written: Mapping[str, Written]) -> None:
        watch = TargetWatch(self._target.bootstrap, written)
        display = ProgressDisplay(sys.stdout)

        def finished() -> bool:
            if not mirror.running():
                raise LegacyMMError(f"the mirror ended by itself, status {mirror.wait(0)}:\n{tail(mirror)}")
            if not display.due(watch.seconds):
                return False
            mirror.tree.pids()  # it remembers them, also those whose parent ends
            now = watch.read()
            display.show(now)
            return now.lag <= 0

        try:
            wait_until(finished, MIRROR_SECONDS, "the target to hold everything")
        except TimeoutError as error:
            raise LegacyMMError(f"{error}; the mirror said:\n{tail(mirror)}") from error
        finally:
            display.close()

    def _stop(self, mirror: ToolProcess) -> bool:
        start = monotonic()
        mirror.signal(signal.SIGTERM)
        status = mirror.wait(STOP_SECONDS)
        seconds = monotonic() - start
        left = left_running(mirror)
        topics = [row.name for row in self._mirrored]
        source = self._source.bootstrap
        ends = {(topic, n): end for topic in topics for n, end in end_offsets(source, topic).items()}
        group = property_of(self._folder / "quickstart" / "consumer.properties", "group.id")
        offsets = committed(source, group, topics)
        behind = [place for place, end in ends.items() if offsets.get(place, 0) != end]
        say(f"Stopped it by SIGTERM: exit status {status} after {seconds:.1f} s, {len(left)} of its processes left")
        say(f"Group {group}: committed offset = end offset in {len(ends) - len(behind)} of {len(ends)} partitions")
        good = status == STOPPED_BY_SIGTERM and not behind and not left
        if not good:
            say(f"The stop is NOT as it ought to be (status {STOPPED_BY_SIGTERM}); it said:\n{tail(mirror)}")
        return good

    def _compare(self) -> bool:
        there = list_topics(self._target.bootstrap)
        results = [self._result(row, there.get(row.name)) for row in self._rows]
        say("Both clusters, read back (checksum: key, value, headers and timestamp of every record):")
        for line in table(results):
            say(f"  {line}")
        copied = [each for each in results if each.mirrored]
        wrong = [each.topic for each in results if not each.right]
        if wrong:
            say(f"NOT EQUAL: {', '.join(wrong)}")
            return False
        count = sum(each.source.records for each in copied)
        others = ", ".join(each.topic for each in results if not each.mirrored)
        say(
            f"EQUAL: {count:,} records in {len(copied)} topics, each once, in order, in its key's partition;"
            f" not copied, as asked: {others}"
        )
        return True

    def _result(self, row: TopicRow, partitions: int | None) -> TopicResult:
        source = read_all(self._source.bootstrap, row.name)
        if partitions is None:
            return TopicResult(row.name, row.mirrored, contents(source), None, [])
        target = read_all(self._target.bootstrap, row.name)
        differences = same_records(source, target, target_partitions=partitions)
        return TopicResult(row.name, row.mirrored, contents(source), contents(target), differences)


def point_to(path: Path, bootstrap: str) -> None:
    """Replace the bootstrap.servers line of a properties file, and nothing else."""
    line, count = re.compile(r"^bootstrap\.servers=.*$", re.MULTILINE), 1
    text, found = line.subn(f"bootstrap.servers={bootstrap}", path.read_text(encoding="ascii"))
    if found != count:
        raise LegacyMMError(f"{path.name} of the sample has {found} bootstrap.servers lines, not {count}")
    path.write_text(text, encoding="ascii")


def property_of(path: Path, key: str) -> str:
    """A value of a properties file without escapes, as the sample's are."""
    found = re.search(rf"^{re.escape(key)}=(.*)$", path.read_text(encoding="ascii"), re.MULTILINE)
    if found is None:
        raise LegacyMMError(f"{path.name} of the sample has no {key}")
    return found[1]


def last_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").rstrip().splitlines()[-1]


def left_running(mirror: ToolProcess) -> list[int]:
    """Processes of a mirror that has ended; its Java and workers may need a moment to follow it."""
    with suppress(TimeoutError):
        wait_until(lambda: not mirror.tree.pids(), FOLLOW_SECONDS, "its processes to end")
    return mirror.tree.pids()


def tail(mirror: ToolProcess) -> str:
    """The last different lines that the mirror printed."""
    lines = dict.fromkeys(line[:TAIL_WIDTH] for line in mirror.output().splitlines())
    return "\n".join(f"  {line}" for line in list(lines)[-TAIL_LINES:]) or "  (nothing)"


def say(line: str) -> None:
    print(line, flush=True)


class Stopped(BaseException):
    """A signal asked us to end; like KeyboardInterrupt no Exception, so that nothing swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class StopSignals:
    """SIGINT, SIGTERM and SIGHUP raise `Stopped` in the block, and are ignored once it is left."""

    def __init__(self) -> None:
        self._received: int | None = None

    def __enter__(self) -> None:
        for number in STOP_SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup, and & in sh, ignore some
                signal.signal(number, self._raise)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if self._received is not None and not isinstance(error, Stopped):
            # Raised in a callback of confluent_kafka's C code, it comes out as a SystemError.
            raise Stopped(self._received) from error

    def _raise(self, number: int, frame: FrameType | None) -> NoReturn:
        self._received = number
        raise Stopped(number)


def main(words: Sequence[str]) -> int:
    """The exit code: 0 if all is equal, 1 if not or if it could not run, 128 + n after signal n."""
    argparse.ArgumentParser(
        prog="bin/demo", description="Mirror records between two real Kafka clusters on this host."
    ).parse_args(words)
    start = monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="legacy_mm-demo-") as folder, ExitStack() as stack, StopSignals():
            equal = Demo(Path(folder), stack).run()
    except Stopped as stopped:
        say("\nStopped; nothing is left running.")
        return stopped.exit_code
    except (LegacyMMError, OSError, KafkaException) as error:
        print(f"bin/demo: {error}", file=sys.stderr, flush=True)
        return 1
    say(f"Took {monotonic() - start:.0f} s; everything is stopped and removed.")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
