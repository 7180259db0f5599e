"""What the bundles of a copy job believe when they claim; no socket, no Kafka. Brokers show the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest

from legacy_mm.base.errors import Undecided
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import ExactlyOnceSettings, MarkedOffset
from legacy_mm.dataplane.delivery import CopyParts
from legacy_mm.transactions.bundle import BUNDLES, FlowBundles
from legacy_mm.transactions.bundle_events import AskOwnership
from legacy_mm.transactions.bundle_owner import LogRow
from legacy_mm.transactions.evidence import mark
from legacy_mm.transactions.transactional_delivery import ExactlyOnce
from legacy_mm.transactions.txn_requests import Positions
from tests.unit.transactions.test_claim_inspection import Source, Target

TOPICS = [TopicPartition("t", number) for number in range(BUNDLES)]
NOTHING: Iterable[LogRow] = ()
Weigh = Callable[[Iterable[LogRow]], tuple[Positions, Positions]]


def claims(source: Source, target: Target, *, ours: bool = False) -> list[Weigh]:
    """The claims of all bundles of a job; its group has copied 7 records of each partition, as exactly once or not."""
    weighs: list[Weigh] = []
    metadata = mark(FlowBundles("g", "source", "target").positions_topic) if ours else ""
    offsets = [MarkedOffset(*partition, 7, metadata) for partition in TOPICS]
    settings = ExactlyOnceSettings("g", "source", "target", group_offsets=offsets)
    nothing: Any = None
    parts = CopyParts(
        cast(Any, SimpleNamespace(offsets=dict.fromkeys(TOPICS, 7), exactly_once=settings)),
        cast(Any, SimpleNamespace(cluster=target, traffic=SimpleNamespace(on_trouble=print))),
        cast(Any, SimpleNamespace(cluster=source)),
        nothing,
        nothing,
        print,
        *[nothing] * 4,
    )
    delivery = ExactlyOnce(parts)

    def own(bundle: Any, contents: Any, do: Any, interval: float) -> None:
        do(AskOwnership())
        weighs.append(contents.decide_positions)

    delivery.client = cast(Any, SimpleNamespace(own=own))
    delivery.begin()
    return weighs


def test_all_claims_of_a_start_look_once() -> None:
    source, target = Source(), Target()
    weighs = claims(source, target)
    with ThreadPoolExecutor(BUNDLES) as pool:
        found = list(pool.map(lambda decide_positions: decide_positions(NOTHING), weighs))
    assert sorted(each for _, adopted in found for each in adopted) == [(partition, 7) for partition in TOPICS]
    assert (source.asked, len(target.asked)) == (1, 1)


def test_a_topic_that_deletes_positions_by_now_ends_the_claim() -> None:
    decide_positions, *_ = claims(Source(), Target("delete"))
    with pytest.raises(
        Undecided, match=r"cleanup\.policy=delete, so it deletes .*--add-config cleanup\.policy=compact"
    ):
        decide_positions(NOTHING)


def test_that_positions_are_lost_is_told_first() -> None:
    decide_positions, *_ = claims(Source(), Target("delete"), ours=True)
    with pytest.raises(Undecided, match="exactly-once adopt"):
        decide_positions(NOTHING)
