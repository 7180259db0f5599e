"""One state of the model: owners that run the product's sessions, requests on their way, and brokers.

An answer arrives with the broker's work, or never: an owner that works on an old answer is an owner that was slow. A
request that nobody waits for any more may arrive at any time, or never.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import Bundle, bundle_of
from legacy_mm.transactions.bundle_events import Answered
from legacy_mm.transactions.bundle_session import BundleSession, BundleState
from legacy_mm.transactions.txn_requests import (
    AddPartitionsToTxn,
    Append,
    EndTxn,
    InitProducerId,
    Positions,
    PositionsBatch,
    ProducerIdAndEpoch,
    TransactionVersion,
    TxnRequest,
)
from tests.fakes.transactions import LAST_EPOCH, Brokers

ONE, TWO = TransactionVersion
NOBODY = -1
TARGET = TopicPartition("t", 0)
SOURCE = TopicPartition("s", 0)
"""Each owner wants the bundle of this source partition."""
FLOW = TopicPartition("flow", 0)
"""Its position is the number of bundles."""


class Faults(NamedTuple):
    """How often each may still happen."""

    claims: int = 0
    """Claims of a bundle that has another owner."""
    doubts: int = 0
    """Connections that break with a request."""
    crashes: int = 0
    overdue: int = 0
    time_outs: int = 0
    """Transactions that the coordinator gives up."""
    expiries: int = 0
    """Transactional ids that the coordinator forgets."""
    moves: int = 0
    """Requests that a broker answers with a passing error, done or not."""
    stops: int = 0
    """Owners that are told to stop; another takes the place."""
    copies: int = 0
    """Requests that the network delivers twice although they were answered. TCP does not."""
    levels: int = 0
    """Changes of the cluster's `transaction.version`, up or down."""


class Message(NamedTuple):
    """A request on its way."""

    owner: int
    """Who waits for the answer."""
    request: TxnRequest
    sequence: int = -1
    copy: int = 0
    """Tells late requests apart that are equal: each arrives once, or never."""


Ask = Callable[[Brokers, Message], tuple[Brokers, Answered]]
"""A way to ask the brokers."""


def ask(brokers: Brokers, message: Message) -> tuple[Brokers, Answered]:
    """Ask with values; `tests/fakes/txn_bytes.py` does so with bytes."""
    match message.request:
        case InitProducerId(transactional_id, expected) as request:
            brokers, error, producer = brokers.init_producer_id(transactional_id, expected)
            return brokers, Answered(request, error, known(producer), version=brokers.level)
        case AddPartitionsToTxn(transactional_id, producer, partitions) as request:
            brokers, error = brokers.add_partitions(transactional_id, producer, partitions)
            return brokers, Answered(request, error)
        case EndTxn(transactional_id, producer, version) as request if version is TWO:
            assert COMMITS[type(request)]
            brokers, error, following = brokers.commit_2(transactional_id, producer)
            return brokers, Answered(request, error, known(following))
        case EndTxn(transactional_id, producer) as request:
            brokers, error = brokers.end_txn(transactional_id, producer, COMMITS[type(request)])
            return brokers, Answered(request, error)
        case Append(transactional_id, producer, partition, batch, version) as request if version is TWO:
            brokers, error, offset = brokers.append_2(transactional_id, partition, producer, message.sequence, batch)
            return brokers, Answered(request, error, offset=offset)
        case Append(_, producer, partition, batch) as request:
            brokers, error, offset = brokers.append(partition, producer, message.sequence, batch)
            return brokers, Answered(request, error, offset=offset)


def known(producer: tuple[int, int] | None) -> ProducerIdAndEpoch | None:
    """The same, as the product has it."""
    return ProducerIdAndEpoch(*producer) if producer else None


COMMITS = {EndTxn: True}
"""Requests that end a transaction, and whether they commit; a mutant adds one."""


@dataclass(frozen=True)
class Setting:
    """What does not change in a run of the model."""

    faults: Faults = Faults()
    records: tuple[int, ...] = (1, 1)
    """Of each source partition."""
    owners: tuple[int, ...] = (1, 1)
    """The number of bundles that each owner believes in."""
    session: type[BundleSession] = BundleSession
    checks_flow: bool = False
    """An owner reads the number of bundles before it claims one."""
    whole: bool = True
    """Leave out what makes no difference: a transaction's pieces come at once, and markers that meet no batch."""
    ask: Ask = ask
    verify: bool = False
    """`transaction.partition.verification.enable`; brokers before 3.6 do not have it."""
    level: TransactionVersion = ONE
    """The cluster's `transaction.version` at first."""
    last_epoch: int = LAST_EPOCH

    def sources(self, bundle: Bundle, bundles: int) -> list[TopicPartition]:
        """The source partitions of a bundle."""
        found = (TopicPartition("s", number) for number in range(len(self.records)))
        return [each for each in found if bundle == bundle_for(each, bundles)]


@cache
def bundle_for(source: TopicPartition, bundles: int) -> Bundle:
    """The bundle of a source partition."""
    number = bundle_of(source, bundles)
    return Bundle(f"bundle-{number}", TopicPartition("positions", number))


FLOW_BUNDLE = Bundle("flow", TopicPartition("positions", 0))


class Lane(NamedTuple):
    """The way of an owner to a partition: one batch on its way, the others behind it."""

    next: int = 0
    queue: tuple[tuple[int, Append], ...] = ()


class Owner(NamedTuple):
    """A copy task, as far as one bundle goes."""

    session: BundleSession
    bundles: int
    lanes: tuple[tuple[TopicPartition, Lane], ...] = ()
    reads_past: int = -2
    """ReadPositions that is not answered; -2: none."""

    @property
    def is_active(self) -> bool:
        return self.session.state not in (BundleState.IDLE, BundleState.OVER)


class World(NamedTuple):
    """A state; equal states are one."""

    owners: tuple[Owner, ...]
    faults: Faults
    wire: frozenset[Message] = frozenset()
    brokers: Brokers = Brokers()
    owned_by: tuple[tuple[str, int], ...] = ()
    """Whose InitProducerId succeeded last."""
    ended_by: tuple[tuple[str, int], ...] = ()
    """Who ended the last epoch of a transactional id; NOBODY: the coordinator, or a request that came late."""

    def with_late(self, *messages: Message) -> World:
        """The same where nobody waits for the answers to these any more."""
        wire = self.wire - set(messages)
        for message in messages:
            late = message._replace(owner=NOBODY, copy=0)
            while late in wire:
                late = late._replace(copy=late.copy + 1)
            wire |= {late}
        return self._replace(wire=wire)

    def with_owner(self, number: int, owner: Owner) -> World:
        return self._replace(owners=(*self.owners[:number], owner, *self.owners[number + 1 :]))

    def minus(self, fault: str) -> World:
        """The same with one fault less to come."""
        return self._replace(faults=self.faults._replace(**{fault: getattr(self.faults, fault) - 1}))


def changed(pairs, key, value):
    """A dict as a sorted tuple, with one value changed."""
    return tuple(sorted({**dict(pairs), key: value}.items(), key=lambda pair: pair[0]))


def begin(setting: Setting) -> World:
    """The first state: nothing is written, and all owners ask for the bundle."""
    owners = tuple(new_owner(setting, bundles) for bundles in setting.owners)
    return World(
        owners,
        setting.faults,
        brokers=Brokers(verify=setting.verify, level=setting.level, last_epoch=setting.last_epoch),
    )


def new_owner(setting: Setting, bundles: int) -> Owner:
    """An owner that has just started."""
    bundle = FLOW_BUNDLE if setting.checks_flow else bundle_for(SOURCE, bundles)
    return Owner(setting.session.begin(bundle)[0], bundles)


def positions_in(batches) -> Positions:
    """The last position of each source partition."""
    found: dict[TopicPartition, int] = {}
    for batch in batches:
        if isinstance(batch, PositionsBatch):
            found.update(batch.positions)
    return tuple(sorted(found.items()))
