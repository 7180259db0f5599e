"""Reports of what copying has done and found: values that clients make and metrics, receipts and positions read.

Some of them travel between driver and copy task by themselves: these are `Frame`s. `runtime/channel` has the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from legacy_mm.base.model import Offsets, TopicPartition

JOB = "job"
"""The `client` of statistics that belong to the copying itself and not to a Kafka client."""
SAMPLE_INTERVAL = 5.0
"""Seconds between two statistics of a client."""
UNKNOWN = -1
"""An unknown target offset: the broker had the records already."""


class Frame:
    """Base of all frames; subclasses are frozen dataclasses."""

    by_name: ClassVar[dict[str, type[Frame]]] = {}

    def __init_subclass__(cls) -> None:
        Frame.by_name[cls.__name__] = cls


@dataclass(frozen=True)
class Started(Frame):
    """Task -> driver: copying from these offsets."""

    offsets: Offsets
    lows: Offsets = field(default_factory=dict)
    """The first offset in the log, for partitions whose start was a logical one."""


@dataclass(frozen=True)
class Gap(Frame):
    """Task -> driver: the wanted offset is not in the log, or belongs to another topic; asks how to continue."""

    topic: str
    partition: int
    wanted: int
    low: int
    """The first offset that the log holds."""
    high: int
    """The next offset to be written."""
    reason: str
    parts_at: int = -1
    """Offset at which a new leader's log differs from what was read; -1: it does not differ, or that is unknown."""
    recreated: bool = False
    """The topic is known to be a recreated one."""

    @property
    def topic_partition(self) -> TopicPartition:
        """Return the partition with the gap."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True)
class TransactionTotals:
    """Transactions of a task since its start."""

    committed: int
    given_up: int
    """Their records were copied again."""
    doubtful: int
    """Committed, although a request of theirs got no answer at first."""
    claims: int
    """Bundles that were claimed; again after each transaction that was given up."""
    claim_seconds: float
    """All of them together, from the question whose the bundle is to the first read."""
    open_seconds: float
    """The age of the oldest transaction that is open now; 0: none is."""


@dataclass(frozen=True)
class Progress(Frame):
    """Task -> driver, about each second: safe offsets that moved, and totals since the start of the task."""

    offsets: Offsets
    records: int
    dropped: Mapping[str, int]
    """Target topic -> records that could not be sent."""
    blocked: bool
    """Alive, but waiting for the target."""
    filtered: int = 0
    """Records that a handler dropped on purpose."""
    quarantined: int = 0
    """Records set aside, because a handler failed on them or the target refused them."""
    unwritable: Mapping[str, str] = field(default_factory=dict)
    """Target topic -> why it cannot be written now, while records wait for it."""
    transactions: TransactionTotals | None = None
    """None: at least once."""


class Portion(NamedTuple):
    """Records of one partition that follow one another, all of them acknowledged or dropped on purpose."""

    topic: str
    partition: int
    begin: int
    end: int
    """One past the last record."""
    records: int
    bytes: int
    """Size of keys and values."""


class CopiedRun(NamedTuple):
    """Acknowledged records that follow one another at the source and at the target."""

    topic: str
    """Topic at the source."""
    partition: int
    upstream: int
    """Source offset of the first record."""
    downstream: int
    """Target offset of the first record, or UNKNOWN."""
    records: int

    def continues(self, upstream: int, downstream: int) -> bool:
        """Return True if a record with these offsets comes right after this run."""
        records = 0 if self.downstream == UNKNOWN else self.records
        return self.upstream == upstream - self.records and self.downstream == downstream - records


class Measured(NamedTuple):
    """Counters of a client at one place: the client itself, a broker, a topic or a partition."""

    level: str
    """`client`, `node`, `topic` or `partition`."""
    name: str
    """Empty, `1`, `orders` or `orders-3`."""
    counters: Mapping[str, float]
    """Totals since the client began."""
    gauges: Mapping[str, float]
    """Current values."""
    spreads: Mapping[str, tuple[float, float, float, float]]
    """Sum, count, maximum and minimum of the measurements since the last report."""
    ages: Mapping[str, float]
    """Seconds since something happened."""


class LogPosition(NamedTuple):
    """The place of a source partition up to which the target has it, and the end of its log, both seen at one time."""

    topic: str
    partition: int
    copied: int
    """Everything below is at the target, or was not copied on purpose."""
    end: int


@dataclass(frozen=True)
class Statistics(Frame):
    """Task -> driver, every few seconds: what changed in one client's numbers."""

    client: str
    """`consumer`, `producer`, `member`, `admin`, or `JOB`."""
    measured: Sequence[Measured]
    number: int = 0
    """Number of the client, if the task has several of this kind."""
    positions: Sequence[LogPosition] = field(default_factory=list)
    """The places in the partitions that a consumer reads."""
