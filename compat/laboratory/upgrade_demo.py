"""`bin/demo upgrade`: a running deployment climbs the ladder of feature flags, rung by rung, and comes back down.

Each step: (1) the source changes, (2) `legacy-mm plan` prints what the step would do, (3) the
mirror is stopped and started with the step's file, (4) records are written, and arrive, (5) what was planned is looked
for at the target, the wave is compared, and the rung proves itself. Rule: a step that breaks its word ends the demo.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from confluent_kafka import KafkaException

from compat.laboratory.checkout import SAMPLES
from compat.laboratory.cluster import Cluster
from compat.laboratory.demo_data import read_rows, write_topic
from compat.laboratory.demo_stage import QuickStart, fetch_kafka, judge, say, start_clusters
from compat.laboratory.demo_table import TopicResult, contents
from compat.laboratory.topic_state import AUTHORIZER, override, overrides
from compat.laboratory.upgrade_files import adapted, combined, entries, sample_of, written
from compat.laboratory.upgrade_rungs import (
    RUNGS,
    SIZE,
    Change,
    NotAsPromised,
    Place,
    Rung,
    in_force,
    missing,
    rules_with,
)
from compat.laboratory.upgrade_waves import Waves
from legacy_mm.audit.cluster_access import all_ends, commit, create_topic, list_topics, read_all
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import LegacyMMError

LESS = 20
"""Factor by which records are fewer than in `bin/demo`."""
WAVE = 300
PLAN_TIMEOUT, THERE_TIMEOUT, PROGRESS_INTERVAL = 300.0, 120.0, 10.0
UNREAD = 3
"""Records of a partition that the groups have not read yet when they commit."""
READERS: Mapping[str, tuple[str, ...]] = {
    "orders-report": ("orders.eu", "orders.us", "orders.audit"),
    "billing": ("orders.eu", "audit"),
}
"""Consumer groups at the source, as the samples name them, and what they read."""
LANDINGS = (5, 4, 0)
"""The steps that are in force on the way down; 0: the old command line."""
SAME_LINE = "kafka-mirror-maker.sh ..."
"""The command line of the beginning, which stays as it is."""
FEATURES, PLAN = "features.properties", "plan.json"
NOTHING, REFUSED, CHANGES = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the features in force from then on."""

    title: str
    rungs: tuple[Rung, ...]
    entries: Mapping[str, str]
    """Content of the features file; empty: there is none."""


class Upgrade:
    """One run in a temporary folder; the stack undoes the steps, last first."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        samples = SAMPLES
        rows = [replace(row, records=row.records // LESS) for row in read_rows(samples / "demo" / "topics.toml")]
        self._other = [row for row in rows if not row.mirrored]
        self._mirrored = [row for row in rows if row.mirrored]
        self._files = [sample_of(samples / "features", n, rung.flag) for n, rung in enumerate(RUNGS, 1)]
        self._samples = [entries(file.read_text(encoding="ascii")) for file in self._files]
        self._source = Cluster(folder / "source", properties=AUTHORIZER)
        self._target = Cluster(folder / "target", properties=AUTHORIZER)
        self.commits: Mapping[str, Mapping[Place, int]] = {}

    def run(self) -> bool:
        """Return True if both clusters are equal in the end; raises LegacyMMError if a step failed its promise."""
        fetch_kafka()
        start_clusters(self._stack, self._source, self._target)
        self.waves = Waves(self._source.bootstrap, self._target.bootstrap, self._mirrored)
        self._mirror = QuickStart(self._folder, self._stack, self._source.bootstrap, self._target.bootstrap)
        timed(Step("The old command line", (), {}), self._begin)
        for number in range(1, len(RUNGS) + 1):
            timed(self._up(number), self._climb)
        for number in LANDINGS:
            timed(self._down(number), self._descend)
        self._stop()
        return self._compare()

    def _begin(self, step: Step) -> None:
        for row in self.waves.rows:
            create_topic(self._source.bootstrap, row.name, row.partitions)
        for row in self._other:
            write_topic(self._source.bootstrap, row)
        for row in (*self.waves.rows, *self._other):
            say(f"  {row.records:>6,} {row}, {row.partitions} partitions")
        say(f"  $ {self._mirror.line}")
        self._mirror.start()
        self._copy(step, {row.name: row.records for row in self.waves.rows})

    def _climb(self, step: Step) -> None:
        rung = step.rungs[-1]
        sample, differences = adapted(self._samples[RUNGS.index(rung)])
        for key, value in sample.items():
            say(f"  + {key}={value}")
        for line in differences:
            say(f"    ({line})")
        if rung.excludes:
            self._show_refusal(rung)
        if rung.beforehand is not None:
            say(f"  beforehand, at the source: {rung.beforehand(self)}")
        self._take(step, rung.planned)
        say(f"  seen: {rung.proof(self)}")

    def _descend(self, step: Step) -> None:
        follows = any(rung.flag == "sync.topic.configs.enabled" for rung in step.rungs)
        if not follows:
            override(self._source.bootstrap, "orders.eu", {SIZE: "3000000"})
            say(f"  beforehand, at the source: orders.eu has {SIZE}=3000000 now")
        self._take(step, frozenset())
        found = overrides(self._target.bootstrap, "orders.eu").get(SIZE)
        if found != "2000000":
            raise NotAsPromised(f"orders.eu has {SIZE}={found} at the target")
        say(f"  seen: the target keeps what it was given, such as {SIZE}={found} of orders.eu")

    def _take(self, step: Step, planned: frozenset[str]) -> None:
        """Plan, start again with the step's file, copy a wave, and look for what was planned."""
        changes = self._plan(step)
        kinds = {str(change["change"]) for change in changes}
        if kinds != planned:
            raise NotAsPromised(f"the plan holds {sorted(kinds)}, not {sorted(planned)}")
        self._stop()
        idle = {topic for rung in RUNGS if rung not in step.rungs for topic in rung.topics}
        before = self._ends(idle)
        self._mirror.start(*self._options(step))
        say(f"  $ {' '.join([SAME_LINE, *self._options(step)])}")
        self._copy(step, {row.name: WAVE for row in self.waves.rows})
        wait_until(lambda: not missing(self._target.bootstrap, changes), THERE_TIMEOUT, "the planned changes")
        if changes:
            say(f"  as planned: {len(changes)} of {len(changes)} changes are at the target")
        if (after := self._ends(idle)) != before:
            raise NotAsPromised(f"a feature that is off has written records: {before} became {after}")
        if before:
            say(f"  switched off, nothing new in {', '.join(sorted(before))}")

    def _plan(self, step: Step) -> list[Change]:
        """Print the output of `legacy-mm plan`; return its changes."""
        if step.entries:
            (self._mirror.folder / FEATURES).write_text(written(step.entries), encoding="ascii")
        status, text = self._ask(["--output", PLAN, *self._options(step)])
        if status not in (NOTHING, CHANGES):
            raise NotAsPromised(f"legacy-mm plan ended with {status}:\n{text}")
        document = json.loads((self._mirror.folder / PLAN).read_text(encoding="utf-8"))
        changes = [change for flow in document["flows"] for duty in flow["duties"] for change in duty["changes"]]
        moves = [group for flow in document["flows"] for group in flow["group_moves"]]
        if (status == CHANGES) != bool(changes or moves):
            raise NotAsPromised(f"legacy-mm plan ended with {status}, but there are {len(changes)} changes")
        return changes

    def _ask(self, options: Sequence[str]) -> tuple[int, str]:
        """Run `legacy-mm plan`, shown as a user types it."""
        say(f"  $ legacy-mm plan {shlex.join(options)} -- {SAME_LINE}")
        words = ["legacy-mm", "plan", *options, "--", *shlex.split(self._mirror.line)]
        status, text = self._mirror.command(words, PLAN_TIMEOUT)
        for line in text.splitlines():
            say(f"    {line}")
        return status, text

    def _show_refusal(self, rung: Rung) -> None:
        """Show that the tool itself refuses the rung beside those before it."""
        together = self._entries(RUNGS[: RUNGS.index(rung) + 1])
        (self._mirror.folder / FEATURES).write_text(written(together), encoding="ascii")
        status, text = self._ask(["--features.config", FEATURES])
        if status != REFUSED or rung.flag not in text:
            raise NotAsPromised(f"{rung.flag} is not refused beside {', '.join(rung.excludes)}")
        say(f"  so it is taken without {' and '.join(rung.excludes)}, and for this step only")

    def _copy(self, step: Step, counts: Mapping[str, int]) -> None:
        """Write a wave while the mirror starts, let the groups read some of it, and compare what arrives."""
        expected = self.waves.write(counts, rules_with(step.rungs))
        self._commit()
        self._mirror.watch(expected, self.waves.held(), PROGRESS_INTERVAL)
        if differences := self.waves.differences():
            raise NotAsPromised("the copies are not equal:\n" + "\n".join(f"  {line}" for line in differences))
        rules = rules_with(step.rungs)
        where = "in the partition of its source" if rules.keeps_partitions else "in its key's partition"
        say(f"  copied: {sum(counts.values()):,} records, equal, each once, in order, {where}")

    def _commit(self) -> None:
        partitions = {each.row.name: each.partitions for each in self.waves.last()}
        self.commits = {
            group: {
                (topic, number): max(begin, end - UNREAD)
                for topic in topics
                for number, (begin, end) in partitions[topic].items()
            }
            for group, topics in READERS.items()
        }
        for group, offsets in self.commits.items():
            commit(self._source.bootstrap, group, offsets)

    def _stop(self) -> None:
        end = self._mirror.stop([row.name for row in self.waves.rows])
        if not end.good:
            raise NotAsPromised(f"its stop is not as it ought to be: {end}; it said:\n{self._mirror.tail()}")
        say(f"  stopped: exit status {end.status} after {end.seconds:.1f} s, all {end.partitions} offsets committed")

    def _compare(self) -> bool:
        there = list_topics(self._target.bootstrap)
        results = [self.waves.result(row) for row in self.waves.rows]
        for row in self._other:
            records = read_all(self._source.bootstrap, row.name)
            copies = contents(read_all(self._target.bootstrap, row.name)) if row.name in there else None
            results.append(TopicResult(row.name, False, contents(records), copies, []))
        return judge(results, "each once, in order, the copies under both names put together")

    def _ends(self, topics: Iterable[str]) -> dict[str, int]:
        """Return the number of records ever written to these topics, if they exist."""
        return {topic: sum(ends.values()) for topic, ends in all_ends(self._target.bootstrap, topics).items()}

    def _up(self, number: int) -> Step:
        rungs = in_force(number)
        title = f"Up, {number} of {len(RUNGS)}: {rungs[-1].flag}=true ({self._files[number - 1].name})"
        return Step(title, rungs, self._entries(rungs))

    def _down(self, number: int) -> Step:
        rungs = in_force(number)
        title = f"back to step {number}, {rungs[-1].flag}" if rungs else "the old command line"
        return Step(f"Down, {title}", rungs, self._entries(rungs))

    def _entries(self, rungs: Sequence[Rung]) -> dict[str, str]:
        samples = [sample for rung, sample in zip(RUNGS, self._samples, strict=True) if rung in rungs]
        return combined(samples, {rung.flag for rung in RUNGS if rung not in rungs})

    def _options(self, step: Step) -> list[str]:
        return ["--features.config", FEATURES] if step.entries else []


def timed(step: Step, act: Callable[[Step], None]) -> None:
    """Perform one step, and print its time; a failure is raised with the step's name, as LegacyMMError."""
    start = monotonic()
    say(f"\n{step.title}")
    try:
        act(step)
    except (LegacyMMError, TimeoutError, KafkaException) as error:
        raise LegacyMMError(f"{step.title}: {error}") from error
    say(f"  took {monotonic() - start:.1f} s")


def upgrade(folder: Path, stack: ExitStack) -> bool:
    """Return True if both clusters are equal in the end; raises LegacyMMError if a step failed its promise."""
    return Upgrade(folder, stack).run()
