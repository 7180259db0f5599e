"""The things that a stream has more with exactly once."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.base.kafka_clients import ConsumerSettings
from legacy_mm.base.model import GroupOffsets, Offsets
from legacy_mm.base.reports import Statistics
from legacy_mm.base.settings import ExactlyOnceSettings
from legacy_mm.clients.group.member import Member, MembershipListener
from legacy_mm.clients.group.sharing import Sharing
from legacy_mm.controlplane.positions import Propose
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.exactly_once.flags import ExactlyOnceFlags
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.transactions.bundle import BUNDLES
from legacy_mm.transactions.bundle_settings import flow_bundles, offset_book
from legacy_mm.transactions.bundle_sharing import ByBundles, bundle_member
from legacy_mm.transactions.evidence import mark
from legacy_mm.transactions.ownership import BundleOffsets, MarkedOffsets, Ownership


class ExactlyOnceStream:
    """One stream's part."""

    def __init__(self, settings: Settings, asked: ExactlyOnceFlags, propose: Propose) -> None:
        """Take the flow, and who is asked for start offsets of partitions that have none."""
        self._flow = flow_bundles(settings)
        self._book = offset_book(settings)
        self._asked = asked
        self.mark = mark(self._flow.positions_topic)
        """The metadata of each offset that its member commits."""
        self.ownership = Ownership()
        self.offsets = BundleOffsets(propose, self._flow.positions_topic, settings.source.api_timeout)

    def member(
        self,
        settings: ConsumerSettings,
        client_id: str,
        listener: MembershipListener,
        on_statistics: Callable[[Statistics], None],
        timeout: float,
    ) -> Member:
        """Return a member of the group at the source."""
        return bundle_member(settings, client_id, listener, on_statistics, timeout, self._flow.positions_topic)

    def job(self, offsets: Offsets) -> ExactlyOnceSettings:
        """Return the settings of a copy job that begins with these offsets."""
        return ExactlyOnceSettings(
            self._flow.group,
            self._flow.source,
            self._flow.target,
            interval=self._asked.interval,
            transaction_timeout=self._asked.transaction_timeout,
            generation=self.offsets.generation,
            group_offsets=self.offsets.evidence(offsets),
            offsets_topic=self._book.topic,
        )


def exactly_once_stream(settings: Settings, propose: Propose) -> ExactlyOnceStream | None:
    """Return what a stream has more; None without exactly once (invariant E)."""
    asked = settings.features[EXACTLY_ONCE]
    return None if asked is None else ExactlyOnceStream(settings, asked, propose)


def node_bundles(settings: Settings) -> Callable[[str], Sharing] | None:
    """Return the maker of the sharing of a flow's nodes, by client id; None without exactly once."""
    return None if settings.features[EXACTLY_ONCE] is None else lambda client: ByBundles(BUNDLES, client)


def inspect_offsets(settings: Settings) -> Callable[[GroupOffsets], None]:
    """Return what looks at committed offsets of a stream for the mark of exactly once."""
    return MarkedOffsets(offset_book(settings)).inspect
