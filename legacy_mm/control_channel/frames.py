"""Messages between driver and copy task: the ticket, the task config and the frames of the control channel.

Wire format of one frame: 4 bytes length (big endian), then UTF-8 JSON: `{"frame": NAME, "flow": .., "stream": ..,
"generation": .., ...fields}`, each by its type (`json_fields`). `Hello` also carries the version of the format.
Offsets travel as lists of `[topic, partition, offset]`. There is no pickle: a peer can send wrong values, never code.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from legacy_mm.base.errors import ChannelError, FailureKind
from legacy_mm.base.kafka_clients import ConsumerSettings, ProducerSettings
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.settings import ExactlyOnceSettings, HandlerSettings, QuarantineSettings
from legacy_mm.control_channel import json_fields

VERSION = 1
LEASE_TIMEOUT = 5.0
"""Seconds without a frame from the driver after which a task stops writing."""
BEAT_INTERVAL = 1.0
JOB = "job"
"""The `client` of statistics that belong to the copying itself and not to a Kafka client."""
LENGTH = struct.Struct(">I")
MAX_FRAME = 64 << 20


@dataclass(frozen=True, slots=True)
class Ticket:
    """The part of a copy job that Spark sees: where to fetch its config, once, and how to prove the right to it."""

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
    """Task -> driver: the identity of the task, and the HMAC over the nonce (hex)."""

    number: int
    proof: str
    pid: int
    process_start: int
    """Start time of the process in clock ticks since boot, so that a reused pid is not mistaken for it."""
    host: str
    version: int = VERSION


@dataclass(frozen=True)
class TicketRefused(Frame):
    """Driver -> task: this ticket is used, over or wrong. Exit."""

    reason: str


@dataclass(frozen=True)
class TaskConfig(Frame):
    """Driver -> task, once: everything needed to copy. Holds credentials; exists only in memory and on this channel."""

    offsets: Offsets
    """Start offsets. The task resolves EARLIEST and LATEST, and answers the actual offsets.

    UNDEFINED, only with exactly once: copying begins at the position at the target; without one the task ends.
    """
    names: Mapping[str, str]
    """Source topic -> target topic; the records of a topic that is missing here are dropped on purpose."""
    source: ConsumerSettings = field(repr=False)
    target: ProducerSettings = field(repr=False)
    report_interval: float
    api_timeout: float
    abort_on_send_failure: bool
    synchronous: bool
    receipts: bool = False
    """Also report what was sent, per partition (`Copied`)."""
    handler: HandlerSettings | None = field(default=None, repr=False)
    """None: records pass through no handler."""
    quarantine: QuarantineSettings = QuarantineSettings()
    keeps_partition: Sequence[str] = field(default_factory=list)
    """Source topics whose records keep the number of their partition, whatever their keys say."""
    topics_made: bool = False
    """A duty creates the copies of these topics at the target."""
    compacted: Sequence[str] = field(default_factory=list)
    """Topics of `keeps_partition` that brokers must not create with their defaults: the source is compacted."""
    pairs: bool = False
    """Report also which source offset became which target offset (`Pairs`), and ages, for the topics in place."""
    exactly_once: ExactlyOnceSettings | None = None
    """None: at least once."""
    records_may_wait: bool = False
    """A refused record holds its partition up, and is sent again."""
    begins_unseen: bool = False
    """Nobody has looked if the copies hold records already where a partition begins at its first one."""


@dataclass(frozen=True)
class OwnershipAsked(Frame):
    """Task -> driver: does the group's generation hold these bundles? Only a later heartbeat tells."""

    bundles: Sequence[int]


@dataclass(frozen=True)
class OwnershipConfirmed(Frame):
    """Driver -> task: the generation holds these bundles."""

    bundles: Sequence[int]


@dataclass(frozen=True)
class MarkAsked(Frame):
    """Task -> driver: commit these offsets for the group. It has others, or the same that exactly once did not commit,
    and these partitions are not read before it has these.
    """

    offsets: Offsets


@dataclass(frozen=True)
class Marked(Frame):
    """Driver -> task: the group has offsets of these partitions that exactly once has committed."""

    offsets: Offsets


@dataclass(frozen=True)
class Share(Frame):
    """Driver -> copy process, once, instead of a task config: it copies for streams whose tickets will follow."""

    handler: HandlerSettings | None = field(default=None, repr=False)
    """A handler takes time to make: that begins before the task config comes."""


@dataclass(frozen=True)
class Ready(Frame):
    """Copy process -> driver: it takes tickets."""


@dataclass(frozen=True)
class Begin(Frame):
    """Driver -> copy process: begin a copy job beside the others, by presenting this ticket."""

    number: int
    key: str = field(repr=False)
    """The ticket's key (hex)."""
    job_flow: str
    job_stream: int
    job_generation: int

    @classmethod
    def of(cls, ticket: Ticket) -> Begin:
        """Return the frame for a ticket of this driver."""
        return cls(ticket.number, ticket.key.hex(), ticket.flow, ticket.stream, ticket.generation)

    def ticket(self, process: Ticket) -> Ticket:
        """Return the ticket; it is presented where the process presented its own."""
        return replace(
            process,
            number=self.number,
            key=bytes.fromhex(self.key),
            flow=self.job_flow,
            stream=self.job_stream,
            generation=self.job_generation,
        )


@dataclass(frozen=True)
class Started(Frame):
    """Task -> driver: copying from these offsets."""

    offsets: Offsets
    lows: Offsets = field(default_factory=dict)
    """The first offset in the log, for partitions whose start was EARLIEST or LATEST."""


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


UNKNOWN = -1
"""An unknown target offset: the broker had the records already."""


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


@dataclass(frozen=True)
class Pairs(Frame):
    """Task -> driver, before the `Progress` that makes them safe: where records went. All of a partition, in order."""

    runs: Sequence[CopiedRun]


@dataclass(frozen=True)
class Copied(Frame):
    """Task -> driver, before the `Progress` that makes these records safe: the content of receipts."""

    portions: Sequence[Portion]
    dropped: Mapping[str, int]
    """Reason -> records of these that could not be sent."""


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


@dataclass(frozen=True)
class Statistics(Frame):
    """Task -> driver, every few seconds: what changed in one client's numbers."""

    client: str
    """`consumer`, `producer`, `member`, `admin`, or `JOB`."""
    measured: Sequence[Measured]
    number: int = 0
    """Number of the client, if the task has several of this kind."""


@dataclass(frozen=True)
class Log(Frame):
    """Task -> driver: an event to be logged there."""

    event: str
    fields: Mapping[str, Any]


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
class Resume(Frame):
    """Driver -> task: continue with this partition from this offset."""

    offsets: Offsets


@dataclass(frozen=True)
class Failure(Frame):
    """Task -> driver: the task cannot continue. `retriable`: a new task may succeed."""

    kind: FailureKind
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
    for_good: bool = True
    """False: this process goes on with these partitions, or another member of the group does."""


@dataclass(frozen=True)
class Stopped(Frame):
    """Task -> driver: the last frame."""

    offsets: Offsets
    """Offsets reached by sending if the target did not acknowledge in time; empty after a clean stop."""


@dataclass(frozen=True)
class Understood(Frame):
    """Driver -> task: its `Stopped` or `Failure` was read, and so was everything that it sent before; it may end."""


@dataclass(frozen=True)
class Lease(Frame):
    """Driver -> task, each second: the permission to write for `LEASE_TIMEOUT` more."""


def encode(frame: Frame, ticket: Ticket | None = None) -> bytes:
    """Return the bytes of a frame, length first."""
    body: dict[str, Any] = {"frame": type(frame).__name__}
    if ticket is not None:
        body |= {"flow": ticket.flow, "stream": ticket.stream, "generation": ticket.generation}
    body |= json_fields.written(frame)
    text = json.dumps(body, separators=(",", ":")).encode()
    return LENGTH.pack(len(text)) + text


def decode(text: bytes, ticket: Ticket | None = None) -> Frame:
    """Return the frame in these bytes, which come without the length. Raises ChannelError for anything else."""
    try:
        body = json.loads(text)
        if ticket is not None and _address(body) != (ticket.flow, ticket.stream, ticket.generation):
            raise ChannelError(f"frame for {_address(body)} on the channel of stream {ticket.stream}")
        frame = Frame.by_name[body["frame"]]
        return frame(**json_fields.read(frame, body))
    except (ValueError, KeyError, TypeError) as error:
        raise ChannelError(f"not a frame: {type(error).__name__}") from None


def _address(body: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return body.get("flow"), body.get("stream"), body.get("generation")
