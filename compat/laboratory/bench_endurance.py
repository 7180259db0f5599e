"""`bin/bench --memory-limit --minutes N`: one stream in the legacy tool's container, at a steady rate, for long.

Rule: the container is a real cgroup, and what is written is bounded by retention, so that the disk does not matter.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

from compat.laboratory.bench_cases import say
from compat.laboratory.bench_measure import BROKER, FIRST_RECORD_TIMEOUT, Site
from compat.laboratory.bench_profiles import OURS, Profile, start_tool
from compat.laboratory.cgroup import Cgroup
from compat.laboratory.steady_load import SteadyLoad
from compat.laboratory.topic_ends import TopicEnds
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until

BROKER_OF_LONG_RUNS = {
    **BROKER,
    "log.retention.bytes": str(256 << 20),
    "log.segment.bytes": str(64 << 20),
    "log.retention.check.interval.ms": "5000",
}
_TEMPLATE, _TOPIC = "endurance-template", "endurance"
_TEMPLATE_RECORDS = 20_000
_LOOK_INTERVAL, _SAY_SECONDS = 1.0, 60.0
_STOP_TIMEOUT = 45.0


@dataclass(frozen=True, slots=True)
class Endured:
    """The result of a long run; bytes are PSS of the process tree, lag is what was written and not yet copied."""

    seconds: float
    written: int
    copied: int
    most_lag: int
    peak_bytes: int
    peak_tasks: int
    killed: int
    exit_code: int


def endure(site: Site, profile: Profile, cgroup: Cgroup, *, minutes: float, mb_per_second: float) -> Endured:
    """Write at this rate for so many minutes while one stream copies in the cgroup; then stop it and count."""
    source, target = site.source.bootstrap, site.target.bootstrap
    load(source, _TEMPLATE, _TEMPLATE_RECORDS, profile.size, partitions=profile.partitions, idempotent=False)
    for bootstrap in (source, target):
        create_topic(bootstrap, _TOPIC, profile.partitions)
    TopicEnds(source, _TOPIC, profile.partitions).count()  # now its leaders know it
    writer = SteadyLoad(source, _TEMPLATE, _TOPIC, profile.partitions, mb_per_second * 1e6 / profile.record_bytes)
    ends = TopicEnds(target, _TOPIC, profile.partitions)
    order = site.order(OURS, profile, 1, _TOPIC)
    with start_tool(OURS, order) as process:
        cgroup.join(process.pid)
        writer.start()
        begin = said = time.monotonic()
        wait_until(ends.count, FIRST_RECORD_TIMEOUT, "the first record")
        lag = peak = tasks = 0
        while process.running() and (now := time.monotonic()) - begin < minutes * 60:
            lag = max(lag, writer.written - ends.count())
            peak, tasks = max(peak, process.tree.memory_bytes()), max(tasks, process.tree.tasks())
            if now - said >= _SAY_SECONDS:
                said = now
                rate = writer.written * profile.record_bytes / (now - begin) / 1e6
                minute = f"{(now - begin) / 60:.0f} min"
                say(f"{minute}: {rate:.1f} MB/s, most lag {lag:,}, peak {peak / 1e6:.0f} MB, {tasks} tasks")
            time.sleep(_LOOK_INTERVAL)
        seconds = time.monotonic() - begin
        writer.stop()
        with contextlib.suppress(TimeoutError):  # then the numbers tell what is missing
            wait_until(lambda: ends.count() >= writer.written or not process.running(), _STOP_TIMEOUT, "the rest")
        code = process.stop(_STOP_TIMEOUT) if process.running() else process.wait(1)
        return Endured(seconds, writer.written, ends.count(), lag, peak, tasks, cgroup.killed(), code)
