"""`bin/bench`: the legacy tool, MirrorMaker 2 and ours, each alone on the same brokers. Rule: order, options, printing.

Order: (1) brokers, (2) runs that are not counted, (3) for each profile and number of streams: load if not loaded,
then rounds of legacy, ours, mm2, so that noise of the host hits all alike, and last the latency of no tool at all;
(4) medians, as a table and as JSON lines.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from confluent_kafka import KafkaException

from compat.laboratory.bench_cases import Case, load_data, run_cases
from compat.laboratory.bench_endurance import BROKER_OF_LONG_RUNS, endure
from compat.laboratory.bench_growth import BROKER_HEAP, GROWTH_BROKER, REPORTS, run_growth
from compat.laboratory.bench_growth import LIMIT_TIMEOUT as CELL_SECONDS
from compat.laboratory.bench_measure import (
    BROKER,
    Site,
    measure_sizes,
    measure_start_up,
    measure_throughput,
    steady_cluster,
)
from compat.laboratory.bench_pages import PARTITIONS, measure_pages
from compat.laboratory.bench_profiles import (
    ADMIN_PORT_TOOLS,
    EXACTLY_ONCE_PROFILES,
    EXACTLY_ONCE_TOOLS,
    GROWTH_PROFILES,
    GROWTH_TOOLS,
    HANDLER_PROFILES,
    HANDLER_TOOLS,
    LEGACY_1G,
    LEGACY_HEAP,
    MM2,
    OURS,
    PROFILES,
    TOOLS,
    Profile,
    choose_profiles,
    choose_tools,
)
from compat.laboratory.bench_report import (
    Metrics,
    medians,
    table,
)
from compat.laboratory.bench_take_over import SESSION_SECONDS, TAKE_OVER_TOOLS, measure_take_over
from compat.laboratory.cgroup import small_cgroup
from compat.laboratory.cluster import Cluster
from compat.laboratory.handlers import SOURCES, compiled
from compat.laboratory.ports import LOOPBACK, Ports
from compat.laboratory.releases import CURRENT, OLD
from legacy_mm.audit.spawn import spawn
from legacy_mm.audit.stop_signals import StoppedBySignal, StopSignals
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import LegacyMMError, UsageError

LIMIT_MIB, LIMIT_CORES, LIMIT_TASKS = 512, 1, 128
LIMIT_TIMEOUT = 60.0
STEADY_MB = 50.0
SHOWN_LETTERS = 60
REBALANCE_DELAYS = ("0", "3000")
START_UP_PROFILE = Profile("start-up", 1_000, 100, streams=(1,))


def main(words: Sequence[str] | None = None) -> int:
    """Exit status: 0, 1 when a run failed or nothing could be run, 128 + n after signal n."""
    options = _parser().parse_args(words)
    options.repetitions = options.repetitions or (1 if options.growth else 3)
    options.limit_seconds = options.limit_seconds or (CELL_SECONDS if options.growth else LIMIT_TIMEOUT)
    try:
        profiles, tools = _chosen(options)
        if options.folder is not None:
            options.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="legacy-mm-bench-", dir=options.folder) as folder, StopSignals():
            return _run_all(Path(folder), options, profiles, tools)
    except LegacyMMError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code
    except (OSError, KafkaException) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except StoppedBySignal as stopped:
        print("bench: stopped", file=sys.stderr)
        return stopped.exit_code


def _chosen(options: argparse.Namespace) -> tuple[Sequence[Profile], Sequence[str]]:
    """Return profiles with their numbers of streams, and tools; with `--handler` only the throughput of one stream."""
    if options.growth:
        profiles, tools = choose_profiles(options.profiles, GROWTH_PROFILES), choose_tools(options.tools, GROWTH_TOOLS)
    elif options.handler:
        options.streams, options.latency_seconds = "1", 0
        profiles, tools = choose_profiles(options.profiles or HANDLER_PROFILES), list(HANDLER_TOOLS)
    elif options.admin_port:
        options.streams, options.latency_seconds = "1", 0
        profiles, tools = choose_profiles(options.profiles or "100B"), list(ADMIN_PORT_TOOLS)
    elif options.take_over:
        profiles, tools = choose_profiles("100B"), choose_tools(options.tools, TAKE_OVER_TOOLS)
    elif options.exactly_once:
        options.streams = "1"
        profiles = choose_profiles(options.profiles or EXACTLY_ONCE_PROFILES)
        tools = choose_tools(options.tools, EXACTLY_ONCE_TOOLS)
    else:
        profiles, tools = choose_profiles(options.profiles), choose_tools(options.tools)
    found = [replace(profile, streams=_streams(profile, options.streams)) for profile in profiles]
    if not any(profile.streams for profile in found):
        known = sorted({number for profile in profiles for number in profile.streams})
        raise UsageError(f"--streams {options.streams}: these profiles are run with {', '.join(map(str, known))}")
    return found, tools


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description="Measure the legacy tool, MirrorMaker 2 and ours.")
    names = ",".join(profile.name for profile in PROFILES)
    parser.add_argument("--profiles", metavar="A,B", help=f"of {names} (default: all)")
    parser.add_argument("--tools", metavar="A,B", help=f"of {','.join(TOOLS)} (default: all; legacy-1g runs once)")
    parser.add_argument("--streams", metavar="N,M", help="only these numbers of streams (default: 1,4)")
    parser.add_argument("--repetitions", type=int, help="default: 3, with --growth 1")
    parser.add_argument("--records-scale", type=float, default=1.0, help="0.1 for a quick look")
    parser.add_argument("--latency-seconds", type=int, default=20, help="0 leaves latency out")
    limit = f"a run ends so long after its first record (default: {LIMIT_TIMEOUT:g}, with --growth {CELL_SECONDS:g})"
    parser.add_argument("--limit-seconds", type=float, help=limit)
    parser.add_argument("--heap", default=LEGACY_HEAP, help="-Xmx of the legacy tool (%(default)s, its script's)")
    parser.add_argument(
        "--ours-arguments",
        dest="ours",
        type=lambda text: tuple(shlex.split(text)),
        default=(),
        metavar="WORDS",
        help="further words for ours, such as '--preserve.partitions true'",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the JSON lines to this file as well")
    parser.add_argument("--folder", type=Path, help="put the brokers' data below this folder")
    parser.add_argument("--handler", action="store_true", help="a handler that renames: a jar on both, Python, a step")
    parser.add_argument("--exactly-once", action="store_true", help="ours with it and without, MirrorMaker 2 with it")
    parser.add_argument("--admin-port", action="store_true", help="ours without it, and with it, scraped each second")
    parser.add_argument(
        "--pages", action="store_true", help=f"only the admin port's answers at {PARTITIONS:,} partitions"
    )
    parser.add_argument("--take-over", action="store_true", help="only the seconds after one of two mirrors is killed")
    parser.add_argument("--start-up", action="store_true", help="only the seconds to the first record")
    parser.add_argument("--growth", action="store_true", help="1 to 5,000 partitions, records of 10 B to 1 MB")
    parser.add_argument("--reports", type=Path, default=REPORTS, help="where --growth writes its report")
    parser.add_argument("--processes", action="store_true", help="only MB and tasks by process, after a copy")
    parser.add_argument("--memory-limit", action="store_true", help="only one stream in a small cgroup")
    long = f"with --memory-limit: at {STEADY_MB:g} MB/s for so long, instead of once over loaded records"
    parser.add_argument("--minutes", type=float, help=long)
    return parser


def _run_all(folder: Path, options: argparse.Namespace, profiles: Sequence[Profile], tools: Sequence[str]) -> int:
    print(f"host: {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}; legacy {OLD}, MirrorMaker 2 {CURRENT}")
    if options.json is not None:
        options.json.write_text("", encoding="utf-8")
    if options.pages:
        return _pages(folder, options)
    if options.growth:
        return _growth(folder, options, profiles, tools)
    with contextlib.ExitStack() as stack:
        far = any(profile.round_trip_ms for profile in profiles)
        target = stack.enter_context(_target(folder, profiles if far else (), _broker(options)))
        if options.start_up:
            return _start_up(folder, target, options, tools)
        source = stack.enter_context(steady_cluster(folder / "source", properties=_broker(options)))
        jar = compiled(SOURCES)["Rename"] if options.handler else None
        site = Site(source, target, folder / "tools", options.heap, options.limit_seconds, jar, options.ours)
        if options.memory_limit:
            return _endurance(site, options) if options.minutes else _memory_limit(site, options)
        if options.take_over:
            return _take_over(site, options.repetitions, tools)
        if options.processes:
            return _processes(site, options, profiles, tools)
        return _cases(site, options, profiles, tools)


def _broker(options: argparse.Namespace) -> Mapping[str, str]:
    return BROKER_OF_LONG_RUNS if options.minutes else BROKER


@contextlib.contextmanager
def _target(folder: Path, profiles: Sequence[Profile], properties: Mapping[str, str]) -> Iterator[Cluster]:
    """Return the target cluster; for a round trip, with a delaying proxy before a second listener."""
    round_trip = max((profile.round_trip_ms for profile in profiles), default=0)
    ports = Ports()
    proxies = []

    def advertise(port: int) -> tuple[str, int]:
        listen = ports.reserve()
        words = [sys.executable, "-P", "-m", "compat.laboratory.proxy", str(listen), str(port)]
        output = folder / f"proxy-{listen}.log"
        command = [*words, "--delay-ms", str(round_trip / 2)]
        proxies.append(spawn(command, folder=folder, output=output))
        wait_until(lambda: output.read_text(encoding="utf-8").startswith("ready"), 30.0, "the proxy")
        return LOOPBACK, listen

    try:
        front = advertise if round_trip else None
        with steady_cluster(folder / "target", properties=properties, advertise=front) as cluster:
            yield cluster
    finally:
        for proxy in proxies:
            proxy.kill()
            proxy.wait()
        ports.release()


def _pages(folder: Path, options: argparse.Namespace) -> int:
    """Print how long each address of the admin port takes."""
    with (
        steady_cluster(folder / "source", properties=GROWTH_BROKER, heap=BROKER_HEAP) as source,
        steady_cluster(folder / "target", properties=GROWTH_BROKER, heap=BROKER_HEAP) as target,
    ):
        rows = measure_pages(Site(source, target, folder / "tools", ours=options.ours))
    print(table([["address", "median ms", "longest ms", "bytes"], *rows]))
    return 0


def _growth(folder: Path, options: argparse.Namespace, profiles: Sequence[Profile], tools: Sequence[str]) -> int:
    with (
        steady_cluster(folder / "source", properties=GROWTH_BROKER, heap=BROKER_HEAP) as source,
        steady_cluster(folder / "target", properties=GROWTH_BROKER, heap=BROKER_HEAP) as target,
    ):
        site = Site(source, target, folder / "tools", options.heap, options.limit_seconds, ours=options.ours)
        failed = run_growth(
            site,
            profiles,
            tools,
            repetitions=options.repetitions,
            scale=options.records_scale,
            reports=options.reports,
        )
    return int(failed)


def _cases(site: Site, options: argparse.Namespace, profiles: Sequence[Profile], tools: Sequence[str]) -> int:
    cases = [
        Case(profile, streams, profile.scaled_records(options.records_scale), tools)
        for profile in profiles
        for streams in profile.streams
    ]
    _, failed = run_cases(
        site,
        cases,
        repetitions=options.repetitions,
        latency_seconds=options.latency_seconds,
        file=options.json,
    )
    return int(failed)


def _streams(profile: Profile, chosen: str | None) -> tuple[int, ...]:
    if chosen is None:
        return profile.streams
    try:
        wanted = {int(word) for word in chosen.split(",")}
    except ValueError:
        raise UsageError(f"--streams wants numbers, not {chosen!r}") from None
    return tuple(number for number in profile.streams if number in wanted)


def _start_up(folder: Path, target: Cluster, options: argparse.Namespace, tools: Sequence[str]) -> int:
    """Print the seconds from the call to the first record, for the brokers' two usual rebalance delays."""
    chosen = [tool for tool in tools if tool not in (MM2, LEGACY_1G)]  # mm2 joins no group
    lines = [["group.initial.rebalance.delay.ms", *(f"{tool} s" for tool in chosen)]]
    for delay in REBALANCE_DELAYS:
        properties = {**BROKER, "group.initial.rebalance.delay.ms": delay}
        with steady_cluster(folder / f"source-{delay}", properties=properties) as source:
            site = Site(source, target, folder / "tools", options.heap, options.limit_seconds, ours=options.ours)
            load_data(site, START_UP_PROFILE, START_UP_PROFILE.records)
            measure_start_up(site, chosen[0], START_UP_PROFILE)  # not counted: the group's own topic is made
            runs: list[Metrics] = [
                {tool: measure_start_up(site, tool, START_UP_PROFILE) for tool in chosen}
                for _ in range(options.repetitions)
            ]
        middle = medians(runs)
        lines.append([delay, *(f"{middle[tool]:.2f}" for tool in chosen)])
    print(table(lines))
    return 0


def _take_over(site: Site, repetitions: int, tools: Sequence[str]) -> int:
    """Print the seconds from the kill of one of two mirrors until every partition has moved again."""
    runs: list[Metrics] = [{tool: measure_take_over(site, tool) for tool in tools} for _ in range(repetitions)]
    middle = medians(runs)
    print(table([[f"session of {SESSION_SECONDS:g} s", "s"], *([tool, f"{middle[tool]:.1f}"] for tool in tools)]))
    return 0


def _memory_limit(site: Site, options: argparse.Namespace) -> int:
    """Copy 1 KB records with one stream in a cgroup of 512 MiB, one core and 128 tasks.

    Return 1 if the kernel killed a process.
    """
    profile = choose_profiles("1KB")[0]
    records = profile.scaled_records(options.records_scale)
    with small_cgroup(LIMIT_MIB, LIMIT_CORES, LIMIT_TASKS) as cgroup:
        load_data(site, profile, records)
        found = measure_throughput(site, OURS, profile, 1, records, started=cgroup.join)
        killed = cgroup.killed()
    print(
        f"one stream in {LIMIT_MIB} MiB and {LIMIT_CORES} core: {found['records_per_s'] or 0:,.0f} records/s, "
        f"peak {found['peak_mb']:,.0f} MB, {killed} processes killed"
    )
    return int(killed > 0)


def _endurance(site: Site, options: argparse.Namespace) -> int:
    """Copy 1 KB records at a steady rate in the same cgroup; return 1 if one is missing or a process was killed."""
    profile = choose_profiles("1KB")[0]
    with small_cgroup(LIMIT_MIB, LIMIT_CORES, LIMIT_TASKS) as cgroup:
        found = endure(site, profile, cgroup, minutes=options.minutes, mb_per_second=STEADY_MB)
    print(
        f"one stream in {LIMIT_MIB} MiB, {LIMIT_CORES} core and {LIMIT_TASKS} tasks for {found.seconds / 60:.1f} min: "
        f"{found.written:,} records written, {found.copied:,} copied, "
        f"{found.copied * profile.record_bytes / found.seconds / 1e6:.1f} MB/s, most lag {found.most_lag:,}, "
        f"peak {found.peak_bytes / 1e6:,.0f} MB, {found.peak_tasks} tasks, {found.killed} processes killed, "
        f"exit code {found.exit_code}"
    )
    return int(found.killed > 0 or found.copied < found.written)


def _processes(site: Site, options: argparse.Namespace, profiles: Sequence[Profile], tools: Sequence[str]) -> int:
    """Print MB and tasks of each process of each tool right after a copy."""
    for profile in profiles:
        records = profile.scaled_records(options.records_scale)
        load_data(site, profile, records)
        for streams, tool in itertools.product(profile.streams, tools):
            sizes = measure_sizes(site, tool, profile, streams, records)
            total = sum(size.memory for size in sizes), sum(size.tasks for size in sizes)
            lines = [["process", "MB", "tasks"]]
            lines += [[size.command[:SHOWN_LETTERS], f"{size.memory / 1e6:,.0f}", str(size.tasks)] for size in sizes]
            lines.append(["all", f"{total[0] / 1e6:,.0f}", str(total[1])])
            print(f"\n{tool}, {profile.name}, {streams} stream(s)\n{table(lines)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
