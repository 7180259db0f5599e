"""What exactly once refuses before anything is copied, and what it does not."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from legacy_mm.base.kafka_clients import MembershipSettings, ProduceSettings
from legacy_mm.base.settings import QuarantineSettings
from legacy_mm.transactions.start_refusals import StartFacts, start_refusals

GOOD = StartFacts(
    ProduceSettings(),
    MembershipSettings(),
    QuarantineSettings(),
    streams=4,
    abort_on_send_failure=True,
    reads_uncommitted=False,
    interval=1.0,
    transaction_timeout=60.0,
    init_producer_id=5,
)
DROPS = (
    "does not go with abort.on.send.failure=false beside delivery.timeout.ms or retries: they drop records that the "
    "target may have; remove the limits, and only what the target refuses is dropped"
)
ACKS = "needs acks=all: a record that only the leader has is lost with it, though its position is committed"
FILE = (
    "cannot keep refused records in a file, which is in no transaction: set quarantine.topic, and leave "
    "on.send.error=legacy"
)
OLD = (
    "needs brokers from Kafka 2.5 on at the target: older ones are not tested; exactly.once.old.brokers=true takes the "
    "risk"
)
NO_TRANSACTIONS = "needs transactions, which the target's brokers do not have: they came with Kafka 0.11"
REFUSED = {
    "acks=1": ({"produce": ProduceSettings(acks=1)}, ACKS),
    "acks=0": ({"produce": ProduceSettings(acks=0)}, ACKS),
    "a limit of time": ({"abort_on_send_failure": False, "produce": ProduceSettings(delivery_timeout=120.0)}, DROPS),
    "a limit of retries": ({"abort_on_send_failure": False, "produce": ProduceSettings(retries=3)}, DROPS),
    "quarantine of what the target refuses": (
        {"quarantine": QuarantineSettings(refused=True, topic="kept", file="f")},
        FILE,
    ),
    "quarantine file": ({"quarantine": QuarantineSettings(failed=True, file="f")}, FILE),
    "read_uncommitted": (
        {"reads_uncommitted": True},
        "needs isolation.level=read_committed: records of aborted transactions would be copied as if they counted",
    ),
    "KIP-848": (
        {"membership": MembershipSettings(protocol="consumer")},
        "needs group.protocol=classic: only there the members share partitions out, so that a bundle has one owner",
    ),
    "25 streams": (
        {"streams": 25},
        "has 24 bundles, so it has no work for more than 24 streams: lower num.streams",
    ),
    "longer than a transaction may take": (
        {"interval": 30.001},
        "needs exactly.once.interval.ms to be half of exactly.once.transaction.timeout.ms at most: a transaction that "
        "takes records for longer is given up before it is committed, over and over",
    ),
    "Kafka 0.10": ({"init_producer_id": -1}, NO_TRANSACTIONS),
    "Kafka 0.10, at the user's risk": ({"init_producer_id": -1, "old_brokers": True}, NO_TRANSACTIONS),
    "Kafka 0.11": ({"init_producer_id": 0}, OLD),
    "Kafka 2.4": ({"init_producer_id": 2}, OLD),
}
ALLOWED = {
    "the defaults": {},
    "24 streams": {"streams": 24},
    "drops what is refused for certain": {
        "abort_on_send_failure": False,
        "produce": ProduceSettings(delivery_timeout=inf),
    },
    "gives up and ends": {"produce": ProduceSettings(delivery_timeout=120.0, retries=3)},
    "quarantine topic": {"quarantine": QuarantineSettings(failed=True, topic="kept", file="f")},
    "Kafka 2.5": {"init_producer_id": 3},
    "Kafka 0.11, at the user's risk": {"init_producer_id": 0, "old_brokers": True},
}


@pytest.mark.parametrize(("changes", "sentence"), REFUSED.values(), ids=REFUSED)
def test_it_does_not_start(changes: dict, sentence: str) -> None:
    assert start_refusals(replace(GOOD, **changes)) == (f"exactly once {sentence}",)


@pytest.mark.parametrize("changes", ALLOWED.values(), ids=ALLOWED)
def test_it_starts(changes: dict) -> None:
    assert start_refusals(replace(GOOD, **changes)) == ()


def test_all_reasons_are_given_at_once() -> None:
    facts = replace(GOOD, produce=ProduceSettings(acks=0), reads_uncommitted=True, streams=30)
    assert len(start_refusals(facts)) == 3
