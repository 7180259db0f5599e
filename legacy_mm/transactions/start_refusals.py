"""The settings with which exactly once does not start, each with its sentence. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from legacy_mm.base.kafka_clients import MembershipSettings, ProduceSettings
from legacy_mm.base.settings import QuarantineSettings
from legacy_mm.transactions.bundle import BUNDLES

_KEEPS_EPOCHS = 3
"""The version of InitProducerId that brokers from 2.5 have (KIP-360)."""
_UNBOUNDED = ProduceSettings()


@dataclass(frozen=True, slots=True)
class StartFacts:
    """The settings of a mirror and the facts of its target that matter before anything is copied."""

    produce: ProduceSettings
    membership: MembershipSettings
    quarantine: QuarantineSettings
    streams: int
    abort_on_send_failure: bool
    reads_uncommitted: bool
    """The user asked for `isolation.level=read_uncommitted` by name; the default is overridden."""
    interval: float
    """Seconds that a transaction takes records."""
    transaction_timeout: float
    """Seconds after which the coordinator gives it up."""
    init_producer_id: int
    """The newest version of InitProducerId that all of the target's brokers have; -1: none."""
    old_brokers: bool = False
    """The user takes the risk of brokers on which nobody tests this (`exactly.once.old.brokers`)."""


class _Rule(NamedTuple):
    applies: Callable[[StartFacts], bool]
    sentence: str


_RULES = (
    _Rule(
        lambda facts: facts.produce.acks != -1,
        "needs acks=all: a record that only the leader has is lost with it, though its position is committed",
    ),
    _Rule(
        lambda facts: not facts.abort_on_send_failure and _gives_up(facts.produce),
        "does not go with abort.on.send.failure=false beside delivery.timeout.ms or retries: they drop records that "
        "the target may have; remove the limits, and only what the target refuses is dropped",
    ),
    _Rule(
        lambda facts: facts.quarantine.needs_file,
        "cannot keep refused records in a file, which is in no transaction: set quarantine.topic, and leave "
        "on.send.error=legacy",
    ),
    _Rule(
        lambda facts: facts.reads_uncommitted,
        "needs isolation.level=read_committed: records of aborted transactions would be copied as if they counted",
    ),
    _Rule(
        lambda facts: facts.membership.protocol != "classic",
        "needs group.protocol=classic: only there the members share partitions out, so that a bundle has one owner",
    ),
    _Rule(
        lambda facts: facts.streams > BUNDLES,
        f"has {BUNDLES} bundles, so it has no work for more than {BUNDLES} streams: lower num.streams",
    ),
    _Rule(
        lambda facts: facts.interval > facts.transaction_timeout / 2,
        "needs exactly.once.interval.ms to be half of exactly.once.transaction.timeout.ms at most: a transaction that "
        "takes records for longer is given up before it is committed, over and over",
    ),
    _Rule(
        lambda facts: facts.init_producer_id < 0,
        "needs transactions, which the target's brokers do not have: they came with Kafka 0.11",
    ),
    _Rule(
        lambda facts: 0 <= facts.init_producer_id < _KEEPS_EPOCHS and not facts.old_brokers,
        "needs brokers from Kafka 2.5 on at the target: older ones are not tested; exactly.once.old.brokers=true "
        "takes the risk",
    ),
)


def _gives_up(produce: ProduceSettings) -> bool:
    return produce.delivery_timeout < _UNBOUNDED.delivery_timeout or produce.retries < _UNBOUNDED.retries


def start_refusals(facts: StartFacts) -> tuple[str, ...]:
    """Return why exactly once does not start, all reasons at once; none: it does."""
    return tuple(f"exactly once {rule.sentence}" for rule in _RULES if rule.applies(facts))
