"""One bundle of a copy job with its parts, at clusters that nobody asks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import ExactlyOnceSettings, MarkedOffset
from legacy_mm.dataplane.delivery import CopyParts
from legacy_mm.transactions.bundle import BUNDLES, FlowBundles, bundle_of
from legacy_mm.transactions.bundle_claims import BundleClaims
from legacy_mm.transactions.bundle_owner import LogRow
from legacy_mm.transactions.bundle_positions import BundlePositions
from legacy_mm.transactions.claim_inspection import ClaimInspection
from legacy_mm.transactions.copied_bundle import CopiedBundle
from legacy_mm.transactions.position_records import SourcePosition, decode, encode_position

SOURCE = TopicPartition("t", 0)
NUMBER = bundle_of(SOURCE, BUNDLES)


class JobParts:
    """The parts of a copy job that has one partition, which begins at 5; its group has committed `known`, or nothing.

    `owner` stands for the owner of its bundle.
    """

    def __init__(self, known: int | None = None) -> None:
        offsets = [] if known is None else [MarkedOffset(*SOURCE, known, "")]
        self.settings = ExactlyOnceSettings("g", "source", "target", group_offsets=offsets)
        self.begins = {SOURCE: 5}
        self.fetcher = Mock()
        self.fetcher.epoch_read.return_value = 4
        self.appender = Mock(take_acknowledged=Mock(return_value=[]))
        self.count, self.forget, self.report, self.pieces, self.take_acknowledged = (Mock() for _ in range(5))
        self.owner = Mock(epoch=1, has_piece=True, takes_pieces=True)
        self.owner.next.return_value = 5
        self.inspections = SimpleNamespace(since=lambda moment: ClaimInspection("source", {"t": 7}, ""))

    def parts(self) -> CopyParts:
        config = SimpleNamespace(offsets=self.begins, exactly_once=self.settings)
        ends = cast(Any, self.appender), cast(Any, self.fetcher)
        nothing = cast(Any, None)
        return CopyParts(
            cast(Any, config), *ends, self.count, self.forget, self.report, self.pieces, nothing, nothing, nothing
        )

    def claims(self) -> BundleClaims:
        return BundleClaims(NUMBER, cast(Any, self.inspections))

    def positions(self, claims: BundleClaims | None = None) -> BundlePositions:
        bundle = FlowBundles("g", "source", "target").bundle(NUMBER)
        return BundlePositions(self.parts(), bundle, [SOURCE], claims or self.claims())

    def copied(self) -> CopiedBundle:
        claims = self.claims()
        made = CopiedBundle(self.parts(), self.positions(claims), claims, self.take_acknowledged)
        made.begin(cast(Any, SimpleNamespace(own=lambda *words: self.owner)), 1.0)
        return made


def found(position: int) -> list[LogRow]:
    """The positions topic, with this position of SOURCE."""
    return [(0, *encode_position(SOURCE, SourcePosition(position, 4, "7", "source", 0)))]


def written(positions: BundlePositions, offset: int) -> SourcePosition:
    """The position that is written for SOURCE."""
    ((key, value),) = positions.position_records(((SOURCE, offset),))
    _, position = cast(Any, decode(key, value))
    return cast(SourcePosition, position)
