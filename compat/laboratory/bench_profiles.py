"""Profiles of data and the tools that copy it, for the bench.

Rule: rows, and how to start one.

Settings are those of an unchanged deployment; a profile adds only what its producer file contains.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compat.laboratory.handlers import SAMPLES
from compat.laboratory.tools import STANDARD_JVM, legacy_mirror_maker, mirror_maker_2, our_mirror_maker
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.base.errors import UsageError

# The start scripts' own heaps.
LEGACY_HEAP, MM2_HEAP = "256M", "2G"
KEY_BYTES = len(b"key-00000000")  # keys that `load` writes
LEGACY, OURS, MM2, LEGACY_1G = "legacy", "ours", "mm2", "legacy-1g"
# The order of one round. One after the other, so that noise of the host hits all alike.
TOOLS = (LEGACY, OURS, MM2, LEGACY_1G)
ONE_HOP = "one-hop"  # no copy: the latency to a consumer at the source, which every tool's latency includes
# With a handler that renames; ratios are to the first.
LEGACY_JAR, OURS_JAR, OURS_PYTHON, OURS_STEP = "legacy-jar", "ours-jar", "ours-python", "ours-step"
HANDLER_TOOLS = (LEGACY_JAR, OURS_JAR, OURS_PYTHON, OURS_STEP)
HANDLER_PROFILES = "100B,1KB"
# Committed exactly once; ratios are to the first, which copies at least once.
OURS_ONCE, MM2_ONCE = "ours-exactly-once", "mm2-exactly-once"
EXACTLY_ONCE_TOOLS = (OURS, OURS_ONCE, MM2_ONCE)
EXACTLY_ONCE_PROFILES = "100B-one,100B,100B-many"
# With the admin port open, and scraped each second; the ratio is to the same without it.
OURS_SCRAPED = "ours-scraped"
ADMIN_PORT_TOOLS = (OURS, OURS_SCRAPED)
RENAMED = "copy."
LEAST_RECORDS = 1_000
MANY_PARTITIONS = 1_000


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of data and line; `records` fill at least 5 s between 20 % and 90 % on two cores."""

    name: str
    records: int
    size: int
    codec: str = "none"
    partitions: int = 4
    streams: tuple[int, ...] = (1, 4)
    producer: Mapping[str, str] = field(default_factory=dict)
    round_trip_ms: int = 0  # to the target
    batch_bytes: int = 0  # the most of a source batch, uncompressed; 0: enough for good speed

    @property
    def topic(self) -> str:
        """Profiles with the same data share a source topic."""
        batches = f"-{self.batch_bytes}" if self.batch_bytes else ""
        return f"bench-{self.size}-{self.codec}-{self.partitions}{batches}"

    @property
    def one_by_one(self) -> bool:
        """Return True if partitions are filled one after the other: batches for thousands would hold two records."""
        return self.partitions >= MANY_PARTITIONS

    @property
    def record_bytes(self) -> int:
        """Key and value, uncompressed: what MB/s counts."""
        return KEY_BYTES + self.size

    @property
    def producer_settings(self) -> dict[str, str]:
        """The producer file without its bootstrap.servers."""
        codec = {} if self.codec == "none" else {"compression.type": self.codec}
        return {**codec, **self.producer}

    def scaled_records(self, scale: float) -> int:
        """Return the number of records at `--records-scale`."""
        return max(LEAST_RECORDS, round(self.records * scale))


SPELLED_OUT = {"max.in.flight.requests.per.connection": "1", "batch.size": "16384"}

PROFILES = (
    Profile("100B", 3_000_000, 100),
    Profile("100B-one", 3_000_000, 100, partitions=1, streams=(1,)),
    Profile("100B-many", 3_000_000, 100, partitions=24, streams=(1,)),
    Profile("100B-wide", 3_000_000, 100, partitions=72, streams=(40,)),
    Profile("1KB", 800_000, 1_000),
    Profile("1KB-lz4", 800_000, 1_000, "lz4"),
    # As a Java producer with its default batch.size fills a topic: sixteen records in a batch.
    Profile("1KB-little", 800_000, 1_000, batch_bytes=16_384),
    # Of producers that send what they have at once: ten records in a batch, and one.
    Profile("100B-tens", 1_000_000, 100, batch_bytes=1_250),
    Profile("100B-single", 300_000, 100, batch_bytes=130),
    Profile("100B-single-lz4", 300_000, 100, "lz4", batch_bytes=130),
    Profile("10KB-zstd", 80_000, 10_000, "zstd"),
    # The legacy tool copies about 7,500 records/s here: its runs end at the bench's time limit.
    Profile("long-line", 400_000, 1_000, partitions=24, streams=(1,), round_trip_ms=40),
    Profile(
        "long-line-explicit",
        400_000,
        1_000,
        partitions=24,
        streams=(1,),
        producer=SPELLED_OUT,
        round_trip_ms=40,
    ),
)

# More and more partitions, larger and larger records; a run ends after the bench's limit for these, so each is short.
GROWTH_SIZES = {10: 4_000_000, 100: 3_000_000, 1_000: 600_000, 10_000: 60_000, 100_000: 6_000, 1_000_000: 1_000}
GROWTH_PARTITIONS = {1: (1,), 100: (1, 2, 4), 1_000: (1, 2, 4), 5_000: (1, 2, 4)}
GROWTH_PROFILES = (
    *(
        Profile(f"partitions-{number}", 3_000_000, 100, "none", number, streams)
        for number, streams in GROWTH_PARTITIONS.items()
    ),
    *(Profile(f"bytes-{size}", records, size) for size, records in GROWTH_SIZES.items()),
)
GROWTH_TOOLS = (LEGACY, OURS)


@dataclass(frozen=True, slots=True)
class Order:
    """A tool's task: the words of its command line and the keys of its files."""

    folder: Path
    source: str
    target: str
    topic: str
    streams: int = 1
    producer: Mapping[str, str] = field(default_factory=dict)
    legacy_heap: str = LEGACY_HEAP
    handler_jar: Path | None = None  # for tools with a handler in Java
    ours: tuple[str, ...] = ()  # further words for ours
    admin_port: int = 0  # of the tool that is scraped

    def arrives_in(self, tool: str) -> str:
        """Return the topic at the target."""
        return RENAMED + self.topic if tool in HANDLER_TOOLS else self.topic


def start_tool(tool: str, order: Order) -> ToolProcess:
    """Start a tool as an unchanged deployment would; its group id is new, so it begins at the start."""
    if tool in (MM2, MM2_ONCE):
        once = {"dst.exactly.once.source.support": "enabled", "dedicated.mode.enable.internal.rest": "true"}
        return mirror_maker_2(
            order.folder,
            order.source,
            order.target,
            order.topic,
            tasks=order.streams,
            heap=MM2_HEAP,
            jvm=STANDARD_JVM,
            properties={f"dst.producer.{key}": text for key, text in order.producer.items()}
            | (once if tool == MM2_ONCE else {}),
        )
    consumer = {
        "bootstrap.servers": order.source,
        "group.id": f"bench-{uuid.uuid4().hex[:12]}",
        "auto.offset.reset": "earliest",
    }
    producer = {"bootstrap.servers": order.target, **order.producer}
    options: tuple[str, ...] = ("--whitelist", order.topic, "--num.streams", str(order.streams))
    classpath = [order.handler_jar] if order.handler_jar and tool not in (OURS_PYTHON, OURS_STEP) else []
    if tool in (LEGACY_JAR, OURS_JAR):
        options = (*options, "--message.handler", "handlers.Rename", "--message.handler.args", RENAMED)
    elif tool == OURS_PYTHON:
        script = f"{SAMPLES / 'handlers.py'}:Rename"
        options = (*options, "--message.handler", script, "--message.handler.args", RENAMED)
    elif tool == OURS_STEP:
        options = (*options, "--handler.step", f"rename.prefix={RENAMED}")
    elif tool == OURS_ONCE:
        options = (*options, "--exactly.once", "true")
    elif tool == OURS_SCRAPED:
        options = (*options, "--admin.port", str(order.admin_port))
    if tool in (OURS, OURS_JAR, OURS_PYTHON, OURS_STEP, OURS_ONCE, OURS_SCRAPED):
        return our_mirror_maker(order.folder, consumer, producer, *options, *order.ours, classpath=classpath)
    heap = "1G" if tool == LEGACY_1G else order.legacy_heap
    return legacy_mirror_maker(order.folder, consumer, producer, *options, heap=heap, classpath=classpath)


def choose_profiles(names: str | None, among: Iterable[Profile] = PROFILES) -> list[Profile]:
    """Return profiles by their names, comma-separated; None means all. UsageError for an unknown name."""
    known = {profile.name: profile for profile in among}
    return [known[name] for name in _chosen(names, known, "profile")]


def choose_tools(names: str | None, among: Sequence[str] = TOOLS) -> list[str]:
    """Return tools by their names, in the order of a round; None means all."""
    chosen = _chosen(names, among, "tool")
    return [tool for tool in among if tool in chosen]


def _chosen(names: str | None, known: Iterable[str], what: str) -> list[str]:
    if names is None:
        return list(known)
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in known:
            raise UsageError(f"no {what} is called {name!r}: choose from {', '.join(known)}")
    return chosen
