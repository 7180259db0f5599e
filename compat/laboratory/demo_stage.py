"""The stage of all demos: two clusters, and between them the mirror of `samples/legacy/quickstart`.

Rule: every process that is started here ends with the stack that was given.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from compat.laboratory.checkout import COMMANDS, SAMPLES
from compat.laboratory.cluster import Cluster
from compat.laboratory.demo_progress import ProgressDisplay, TargetWatch, Written
from compat.laboratory.demo_table import TopicResult, table
from compat.laboratory.jars import jars_folder, kafka_jars
from compat.laboratory.releases import CURRENT, find_release
from legacy_mm.audit.cluster_access import all_ends, committed
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import LegacyMMError
from legacy_mm.runtime.jvm.java_home import find_java

MIRROR_TIMEOUT = 300.0  # 10 s were measured on two cores
STOP_TIMEOUT = 60.0
FOLLOW_TIMEOUT = 5.0
LOOK_INTERVAL = 0.4
STOPPED_BY_SIGTERM = 128 + signal.SIGTERM
TAIL_LINES = 8
TAIL_WIDTH = 240  # a line that names a record may be as long as the record
SCRIPT = "run.sh"


def say(line: str) -> None:
    print(line, flush=True)


def fetch_kafka() -> None:
    """Fetch Kafka's jars, if they are not there yet."""
    find_java()
    folder = jars_folder(find_release(CURRENT))
    if not folder.is_dir():
        say(f"Fetching Kafka {CURRENT} from Maven Central into {folder} (first time only, a minute or two)")
    kafka_jars(CURRENT)


def start_clusters(
    stack: ExitStack, source: Cluster, target: Cluster, names: tuple[str, str] = ("source", "target")
) -> None:
    """Start both clusters in parallel; they stop with the stack."""
    both = dict(zip(names, (source, target), strict=True))
    for cluster in both.values():
        stack.callback(cluster.stop)
    with ThreadPoolExecutor(len(both)) as pool:  # each takes seconds, most of them waiting
        for _ in pool.map(Cluster.start, both.values()):
            pass
    addresses = ", ".join(f"{name} at {cluster.bootstrap}" for name, cluster in both.items())
    say(f"Two Kafka {CURRENT} clusters: {addresses}")


def judge(results: Sequence[TopicResult], how: str) -> bool:
    """Tell what both clusters hold; True when it is what they ought to hold. `how` says in which way it is equal."""
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
    say(f"EQUAL: {count:,} records in {len(copied)} topics, {how}; not copied, as asked: {others}")
    return True


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a mirror: exit status and remaining processes."""

    status: int
    seconds: float
    left: Sequence[int]
    """Processes of the mirror that still run."""
    partitions: int
    behind: Sequence[tuple[str, int]]
    """Partitions whose committed offset is not their end offset."""

    @property
    def good(self) -> bool:
        return self.status == STOPPED_BY_SIGTERM and not self.behind and not self.left


def tail_of(tool: ToolProcess) -> str:
    """Return the last different lines that a tool printed."""
    lines = dict.fromkeys(line[:TAIL_WIDTH] for line in tool.output().splitlines())
    return "\n".join(f"  {line}" for line in list(lines)[-TAIL_LINES:]) or "  (nothing)"


class QuickStart:
    """The sample's files, copied and pointed to both clusters, and the mirror that they start."""

    def __init__(self, folder: Path, stack: ExitStack, source: str, target: str) -> None:
        self.original = SAMPLES / "legacy" / "quickstart"
        self.folder = shutil.copytree(self.original, folder / "quickstart")
        point_to(self.folder / "consumer.properties", source)
        point_to(self.folder / "producer.properties", target)
        self._source, self._target = source, target
        self._output = folder / "mirror"
        self._mirror: ToolProcess | None = None
        stack.callback(self._kill)

    @property
    def line(self) -> str:
        """The command that the script ends with."""
        return last_line(self.folder / SCRIPT).removeprefix("exec ")

    @property
    def group(self) -> str:
        return property_of(self.folder / "consumer.properties", "group.id")

    def start(self, *options: str) -> None:
        """Start the script, its command followed by these options."""
        self._kill()
        path = self.folder / SCRIPT
        if options:
            text = path.read_text(encoding="utf-8").rstrip()
            path = path.with_name(f"features-{SCRIPT}")
            path.write_text(f"{text} {shlex.join(options)}\n", encoding="utf-8")
            path.chmod(0o700)
        self._mirror = ToolProcess([str(path)], self._output, self._environment())

    def watch(self, written: Mapping[str, Written], held: Mapping[str, int] | None = None, pause: float = 1.0) -> None:
        """Watch until the target holds these records beside those that it `held`; raises LegacyMMError if it never
        does.

        `pause`: seconds between two lines of progress that are not for a terminal.
        """
        watch, looked = TargetWatch(self._target, written, held), 0.0
        display = ProgressDisplay(sys.stdout, pause)

        def finished() -> bool:
            nonlocal looked
            self._check_running()
            if watch.seconds - looked < LOOK_INTERVAL:
                return False
            now = watch.read()
            looked = watch.seconds
            if now.lag <= 0 or display.due(now.seconds):
                display.show(now)
            return now.lag <= 0

        try:
            wait_until(finished, MIRROR_TIMEOUT, "the target to hold everything")
        except TimeoutError as error:
            raise LegacyMMError(f"{error}; the mirror said:\n{self.tail()}") from error
        finally:
            display.close()

    def stop(self, topics: Sequence[str]) -> Ending:
        """Stop the mirror with SIGTERM; `topics` are those that it copies."""
        mirror, start = self._running(), monotonic()
        mirror.signal(signal.SIGTERM)
        status = mirror.wait(STOP_TIMEOUT)
        seconds = monotonic() - start
        left = left_running(mirror)
        logs = all_ends(self._source, topics)
        ends = {(topic, number): end for topic, log in logs.items() for number, end in log.items()}
        offsets = committed(self._source, self.group, topics)
        behind = [place for place, end in ends.items() if offsets.get(place, 0) != end]
        return Ending(status, seconds, left, len(ends), behind)

    def command(self, words: Sequence[str], timeout: float) -> tuple[int, str]:
        """Run another command of ours in the folder of the files; return exit status and output."""
        command = [str(COMMANDS / words[0]), *words[1:]]
        with ToolProcess(command, self.folder, self._environment()) as tool:
            return tool.wait(timeout), tool.output()

    def tail(self) -> str:
        """Return the last different lines that the mirror printed."""
        return tail_of(self._running())

    def _check_running(self) -> None:
        mirror = self._running()
        if not mirror.running():
            raise LegacyMMError(f"the mirror ended unexpectedly, status {mirror.wait(0)}:\n{self.tail()}")
        mirror.tree.pids()  # the tree remembers processes, also those whose parent ends

    def _running(self) -> ToolProcess:
        if self._mirror is None:
            raise LegacyMMError("no mirror was started")
        return self._mirror

    def _kill(self) -> None:
        if self._mirror is not None:
            self._mirror.kill_tree()

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(COMMANDS), os.environ.get("PATH", os.defpath)])
        return {"PATH": path}


def point_to(path: Path, bootstrap: str, key: str = "bootstrap.servers") -> None:
    """Replace the line with the servers of a properties file, and nothing else."""
    line, count = re.compile(rf"^{re.escape(key)} ?=.*$", re.MULTILINE), 1
    text, found = line.subn(f"{key}={bootstrap}", path.read_text(encoding="ascii"))
    if found != count:
        raise LegacyMMError(f"{path.name} of the sample has {found} {key} lines, not {count}")
    path.write_text(text, encoding="ascii")


def property_of(path: Path, key: str) -> str:
    """Return a value of a properties file without escapes, as the sample's are."""
    found = re.search(rf"^{re.escape(key)}=(.*)$", path.read_text(encoding="ascii"), re.MULTILINE)
    if found is None:
        raise LegacyMMError(f"{path.name} of the sample has no {key}")
    return found[1]


def last_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").rstrip().splitlines()[-1]


def left_running(mirror: ToolProcess) -> list[int]:
    """Return the processes left of an ended mirror; its Java and workers may need a moment to follow it."""
    with suppress(TimeoutError):
        wait_until(lambda: not mirror.tree.pids(), FOLLOW_TIMEOUT, "its processes to end")
    return mirror.tree.pids()
