"""What driver and copy task say to each other: the ticket, the plan and the frames of the control channel.

Wire format, one frame: 4 bytes length (big endian), then UTF-8 JSON: `{"frame": NAME, "flow": .., "stream": ..,
"generation": .., ...fields}`. `Hello` also carries the version of the format. Offsets travel as lists of
`[topic, partition, offset]`. No pickle: a peer can send wrong values, never code.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

from legacy_mm.errors import ChannelError
from legacy_mm.model import Offsets, TopicPartition

VERSION = 1
LEASE_SECONDS = 5.0
"""A task that hears nothing for this long stops writing."""
BEAT_SECONDS = 1.0
JOB = "job"
"""Who counts what belongs to no client, but to the copying itself."""
LENGTH = struct.Struct(">I")
MAX_FRAME = 64 << 20
_OFFSETS = frozenset({"offsets", "lows"})
"""Fields that are `Offsets`."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """All that Spark sees of a copy job: where to fetch the plan, once, and how to prove the right to it."""

    host: str
    port: int
    key: bytes = field(repr=False)
    """HMAC-SHA256 key made for this ticket alone."""
    certificate: str = field(repr=False)
    """PEM of the driver's certificate; empty where the channel never leaves the host."""
    flow: str
    stream: int
    generation: int
    number: int


class Frame:
    """Base of all frames; subclasses are frozen dataclasses."""

    by_name: ClassVar[dict[str, type[Frame]]] = {}

    def __init_subclass__(cls) -> None:
        Frame.by_name[cls.__name__] = cls


@dataclass(frozen=True)
class Challenge(Frame):
    """Driver -> task: sign this nonce (hex)."""

    nonce: str


@dataclass(frozen=True)
class Hello(Frame):
    """Task -> driver: who I am, and the HMAC over the nonce (hex)."""

    number: int
    proof: str
    pid: int
    process_start: int
    """Start time of the process in clock ticks since boot, so that a reused pid is not mistaken for it."""
    host: str
    version: int = VERSION


@dataclass(frozen=True)
class Refused(Frame):
    """Driver -> task: this ticket is used, over or wrong. Exit."""

    reason: str


@dataclass(frozen=True)
class Plan(Frame):
    """Driver -> task, once: everything needed to copy. Holds credentials; exists only in memory and on this channel."""

    offsets: Offsets
    """Where to start; EARLIEST and LATEST are resolved by the task, which answers the actual offsets."""
    names: Mapping[str, str]
    """Source topic -> target topic."""
    source: Mapping[str, str] = field(repr=False)
    target: Mapping[str, str] = field(repr=False)
    barrier_interval: float
    api_timeout: float
    abort_on_send_failure: bool
    synchronous: bool
    receipts: bool = False
    """Report also what was sent, per partition (`Copied`)."""
    engine: str = "records"
    """`batches` or `records`."""
    wire_source: bool = True
    """The `records` engine reads with our own sockets where they can do it; else with librdkafka."""
    engine_required: bool = False
    """The user named it, or what was asked for is better done by it: it does not give way to another one."""
    handler: Mapping[str, Any] | None = field(default=None, repr=False)
    """`HandlerSettings` as a mapping, where records pass through a handler; the engine is then `records`."""
    quarantine: Mapping[str, Any] = field(default_factory=dict)
    """`QuarantineSettings` as a mapping; empty: nothing is set aside."""
    in_place: Sequence[str] = field(default_factory=list)
    """Source topics whose records keep the number of their partition, whatever their keys say."""
    topics_made: bool = False
    """A duty makes their copies at the target."""
    compacted: Sequence[str] = field(default_factory=list)
    """Of these the ones that the brokers must not make in their own way, because the source is compacted."""
    pairs: bool = False
    """Report also which source offset became which target offset (`Pairs`), and ages; of the topics in place."""


@dataclass(frozen=True)
class Started(Frame):
    """Task -> driver: copying from these offsets."""

    offsets: Offsets
    lows: Offsets = field(default_factory=dict)
    """Of those whose start was EARLIEST or LATEST: the first offset in the log."""


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
    """Dropped on purpose by a handler."""
    quarantined: int = 0
    """Set aside, because a handler failed on them or the target refused them."""
    unwritable: Mapping[str, str] = field(default_factory=dict)
    """Target topic -> why it cannot be written now, while records wait for it."""


class Portion(NamedTuple):
    """What was sent of one partition between two barriers, all of it acknowledged or dropped on purpose."""

    topic: str
    partition: int
    begin: int
    end: int
    """One past the last record."""
    records: int
    bytes: int
    """Of keys and values."""


UNKNOWN = -1
"""A target offset that nobody knows: the broker had the records already."""


class Run(NamedTuple):
    """Acknowledged records that follow one another at the source and at the target."""

    topic: str
    """At the source."""
    partition: int
    upstream: int
    """Source offset of the first."""
    downstream: int
    """Target offset of the first, or UNKNOWN."""
    records: int

    def continues(self, upstream: int, downstream: int) -> bool:
        """Whether a record with these offsets comes right after them."""
        records = 0 if self.downstream == UNKNOWN else self.records
        return self.upstream == upstream - self.records and self.downstream == downstream - records


@dataclass(frozen=True)
class Pairs(Frame):
    """Task -> driver, before the `Progress` that makes them safe: where records went. All of a partition, in order."""

    runs: Sequence[Run]


@dataclass(frozen=True)
class Copied(Frame):
    """Task -> driver, at a barrier, before the `Progress` that makes it safe: what receipts are made of."""

    portions: Sequence[Portion]
    dropped: Mapping[str, int]
    """Reason -> records of these that could not be sent."""


class Measured(NamedTuple):
    """What a client counted at one place: itself, a broker, a topic or a partition."""

    level: str
    """`client`, `node`, `topic` or `partition`."""
    name: str
    """Empty, `1`, `orders` or `orders-3`."""
    counters: Mapping[str, float]
    """Totals since the client began."""
    gauges: Mapping[str, float]
    """Values of now."""
    spreads: Mapping[str, tuple[float, float, float, float]]
    """Sum, number, maximum and minimum of what was measured since the last report."""
    ages: Mapping[str, float]
    """Seconds since something happened."""


@dataclass(frozen=True)
class Statistics(Frame):
    """Task -> driver, every few seconds: what changed in one client's numbers."""

    client: str
    """`consumer`, `producer`, `member`, or `JOB`."""
    measured: Sequence[Measured]
    number: int = 0
    """Which one it is, where the task has several clients of this kind."""


@dataclass(frozen=True)
class Log(Frame):
    """Task -> driver: an event to be logged there."""

    event: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Gap(Frame):
    """Task -> driver: the wanted offset is not in the log, or that of another topic; what now?"""

    topic: str
    partition: int
    wanted: int
    low: int
    """The first offset that the log holds."""
    high: int
    """The next offset to be written."""
    reason: str
    parts_at: int = -1
    """Where a new leader's log parts from what was read; -1: it does not, or nobody knows."""
    made_again: bool = False
    """It is known that the topic is another one."""

    @property
    def topic_partition(self) -> TopicPartition:
        """Where it is."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True)
class Resume(Frame):
    """Driver -> task: go on with this partition from here."""

    offsets: Offsets


@dataclass(frozen=True)
class Failure(Frame):
    """Task -> driver: cannot go on. `retriable`: a new task may succeed."""

    kind: str
    reason: str
    retriable: bool


@dataclass(frozen=True)
class Exit(Frame):
    """Task -> driver: the message handler ends the program with this code. The last one that comes counts."""

    code: int


@dataclass(frozen=True)
class Stop(Frame):
    """Driver -> task: fetch no more, flush for at most this long, report, end."""

    seconds: float


@dataclass(frozen=True)
class Stopped(Frame):
    """Task -> driver: the last frame."""

    offsets: Offsets
    """How far sending went where the target did not acknowledge it in time; empty after a clean stop."""


@dataclass(frozen=True)
class Understood(Frame):
    """Driver -> task: its `Stopped` or `Failure` is read, and so is all that it sent before; it may end."""


@dataclass(frozen=True)
class Lease(Frame):
    """Driver -> task, each second: you may go on writing."""


def encode(frame: Frame, ticket: Ticket | None = None) -> bytes:
    """The bytes of a frame, length first."""
    body: dict[str, Any] = {"frame": type(frame).__name__}
    if ticket is not None:
        body |= {"flow": ticket.flow, "stream": ticket.stream, "generation": ticket.generation}
    for spec in fields(frame):  # type: ignore[arg-type]
        value = getattr(frame, spec.name)
        if spec.name in _OFFSETS:
            value = [[partition.topic, partition.partition, offset] for partition, offset in value.items()]
        body[spec.name] = value
    text = json.dumps(body, separators=(",", ":")).encode()
    return LENGTH.pack(len(text)) + text


def decode(text: bytes, ticket: Ticket | None = None) -> Frame:
    """The frame in these bytes (without the length). Raises ChannelError for anything else."""
    try:
        body = json.loads(text)
        if ticket is not None and _address(body) != (ticket.flow, ticket.stream, ticket.generation):
            raise ChannelError(f"frame for {_address(body)} on the channel of stream {ticket.stream}")
        kind = Frame.by_name[body["frame"]]
        values = {spec.name: body[spec.name] for spec in fields(kind)}  # type: ignore[arg-type]
        for name in _OFFSETS & values.keys():
            values[name] = {TopicPartition(topic, number): offset for topic, number, offset in values[name]}
        if "measured" in values:
            values["measured"] = [Measured(*row) for row in values["measured"]]
        if "portions" in values:
            values["portions"] = [Portion(*row) for row in values["portions"]]
        if "runs" in values:
            values["runs"] = [Run(*row) for row in values["runs"]]
        return kind(**values)
    except (ValueError, KeyError, TypeError) as error:
        raise ChannelError(f"not a frame: {type(error).__name__}") from None


def _address(body: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return body.get("flow"), body.get("stream"), body.get("generation")
