"""`bin/demo`: two real clusters, the unchanged command of an old deployment, and a comparison at the end.

Steps: (1) fetch Kafka, (2) start a source and a target, (3) fill the source, (4) start the mirror, (5) watch
it until nothing is left, (6) stop it by SIGTERM, (7) compare. Rule: whatever happens, nothing is left behind.
`bin/demo upgrade` is in `upgrade_demo.py`, `bin/demo active-active` in `active_active_demo.py`.
`bin/demo clusters` only starts the clusters, for docs/tutorial.md.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import KafkaException

from compat.laboratory.active_active_demo import active_active
from compat.laboratory.checkout import SAMPLES
from compat.laboratory.cluster import Cluster
from compat.laboratory.demo_data import TopicRow, read_rows, write_topic
from compat.laboratory.demo_progress import Written
from compat.laboratory.demo_stage import STOPPED_BY_SIGTERM, QuickStart, fetch_kafka, judge, say, start_clusters
from compat.laboratory.demo_table import TopicResult, contents
from compat.laboratory.upgrade_demo import upgrade
from legacy_mm.audit.cluster_access import list_topics, read_all, same_records
from legacy_mm.audit.stop_signals import StoppedBySignal, StopSignals
from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import LegacyMMError, UsageError

READER = "group.id=mirror\nauto.offset.reset=earliest\n"
"""The rest of the consumer file that `bin/demo clusters` writes."""


class Demo:
    """One run in a temporary folder; the stack undoes the steps, last first."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._rows = read_rows(SAMPLES / "demo" / "topics.toml")
        self._mirrored = [row for row in self._rows if row.mirrored]
        self._source = Cluster(folder / "source")
        self._target = Cluster(folder / "target")

    def run(self) -> bool:
        """Return True if the target holds exactly the expected records and the mirror stopped as it should."""
        fetch_kafka()  # 1
        start_clusters(self._stack, self._source, self._target)  # 2
        written = self._fill_source()  # 3
        mirror = self._start_mirror()  # 4
        mirror.watch(written)  # 5
        stopped = self._stop(mirror)  # 6
        return self._compare() and stopped  # 7

    def _fill_source(self) -> dict[str, Written]:
        say(f"Writing {sum(row.records for row in self._rows):,} records to the source:")
        written = {}
        for row in self._rows:
            written[row.name] = Written(row.records, write_topic(self._source.bootstrap, row))
            say(f"  {row.records:>9,} {row}")
        return {row.name: written[row.name] for row in self._mirrored}

    def _start_mirror(self) -> QuickStart:
        mirror = QuickStart(self._folder, self._stack, self._source.bootstrap, self._target.bootstrap)
        say(f"Starting {mirror.original / 'run.sh'} (copied; only the two bootstrap.servers are replaced):")
        say(f"  $ {mirror.line}")
        mirror.start()
        return mirror

    def _stop(self, mirror: QuickStart) -> bool:
        end = mirror.stop([row.name for row in self._mirrored])
        there, left = end.partitions - len(end.behind), len(end.left)
        say(f"Stopped it by SIGTERM: exit status {end.status} after {end.seconds:.1f} s, {left} of its processes left")
        say(f"Group {mirror.group}: committed offset = end offset in {there} of {end.partitions} partitions")
        if not end.good:
            say(f"The stop is NOT as it ought to be (status {STOPPED_BY_SIGTERM}); it said:\n{mirror.tail()}")
        return end.good

    def _compare(self) -> bool:
        there = list_topics(self._target.bootstrap)
        results = [self._result(row, there.get(row.name)) for row in self._rows]
        return judge(results, "each once, in order, in its key's partition")

    def _result(self, row: TopicRow, partitions: int | None) -> TopicResult:
        source = read_all(self._source.bootstrap, row.name)
        if partitions is None:
            return TopicResult(row.name, row.mirrored, contents(source), None, [])
        target = read_all(self._target.bootstrap, row.name)
        differences = same_records(source, target, target_partitions=partitions)
        return TopicResult(row.name, row.mirrored, contents(source), contents(target), differences)


def keep_clusters(folder: Path, stack: ExitStack) -> bool:
    """Start two empty clusters, write client files for them into the current folder, and wait for a signal.

    New topics have 6 partitions at the source and 4 at the target, so that `topic.creation` shows a difference.

    Raises UsageError if one of these files exists.
    """
    client_files = {
        Path("consumer.properties"): Cluster(folder / "source", properties={"num.partitions": "6"}),
        Path("producer.properties"): Cluster(folder / "target"),
    }
    for path in client_files:
        if path.exists():
            raise UsageError(f"{path} exists in {Path.cwd()}: run bin/demo clusters in an empty folder")
    fetch_kafka()
    source, target = client_files.values()
    start_clusters(stack, source, target)
    for (path, cluster), rest in zip(client_files.items(), (READER, ""), strict=True):
        path.write_text(f"bootstrap.servers={cluster.bootstrap}\n{rest}", encoding="ascii")
        stack.callback(path.unlink, missing_ok=True)
    say(f"Wrote {' and '.join(map(str, client_files))} into {Path.cwd()}. Both clusters run until you press Ctrl-C.")
    while True:
        signal.pause()


DEMOS: Mapping[str, Callable[[Path, ExitStack], bool]] = {
    "": lambda folder, stack: Demo(folder, stack).run(),
    "upgrade": upgrade,
    "clusters": keep_clusters,
    "active-active": active_active,
}


def main(words: Sequence[str]) -> int:
    """Return the exit code: 0 if all is equal, 1 if not or if it could not run, 128 + n after signal n."""
    start = monotonic()
    try:
        run = _chosen(words)
        with tempfile.TemporaryDirectory(prefix="legacy_mm-demo-") as folder, ExitStack() as stack, StopSignals():
            equal = run(Path(folder), stack)
    except StoppedBySignal as stopped:
        say("\nStopped; nothing is left running.")
        return stopped.exit_code
    except (LegacyMMError, OSError, KafkaException) as error:
        print(f"bin/demo: {error}", file=sys.stderr, flush=True)
        return 1
    say(f"Took {monotonic() - start:.0f} s; everything is stopped and removed.")
    return 0 if equal else 1


def _chosen(words: Sequence[str]) -> Callable[[Path, ExitStack], bool]:
    parser = argparse.ArgumentParser(
        prog="bin/demo", description="Mirror records between two real Kafka clusters on this host."
    )
    parser.add_argument(
        "demo",
        nargs="?",
        default="",
        help="nothing: copy once and compare; upgrade: turn on one feature flag after the other, and back; "
        "clusters: start two empty clusters and keep them until Ctrl-C; active-active: both directions in one process, "
        "and a consumer group that moves and comes back",
    )
    name = parser.parse_args(words).demo
    if name not in DEMOS:
        raise UsageError(f"there is no demo {name!r}; there is: {', '.join(filter(None, DEMOS))}, or no word at all")
    return DEMOS[name]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
