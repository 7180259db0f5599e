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
from typing import Any

from legacy_mm.base.errors import ChannelError, FailureKind
from legacy_mm.base.kafka_clients import ConsumerSettings, ProducerSettings
from legacy_mm.base.model import Offsets
from legacy_mm.base.reports import CopiedRun, Frame, Portion
from legacy_mm.base.settings import ExactlyOnceSettings, HandlerSettings, QuarantineSettings
from legacy_mm.runtime.channel import json_fields

VERSION = 1
LEASE_TIMEOUT = 5.0
"""Seconds without a frame from the driver after which a task stops writing."""
BEAT_INTERVAL = 1.0
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
    """Start offsets. The task resolves logical ones, and answers the actual offsets.

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
class Pairs(Frame):
    """Task -> driver, before the `Progress` that makes them safe: where records went. All of a partition, in order."""

    runs: Sequence[CopiedRun]


@dataclass(frozen=True)
class Copied(Frame):
    """Task -> driver, before the `Progress` that makes these records safe: the content of receipts."""

    portions: Sequence[Portion]
    dropped: Mapping[str, int]
    """Reason -> records of these that could not be sent."""


@dataclass(frozen=True)
class Log(Frame):
    """Task -> driver: an event to be logged there."""

    event: str
    fields: Mapping[str, Any]


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
