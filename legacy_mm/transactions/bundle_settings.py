"""The settings of a flow that copies exactly once: names, what follows from the flag, and what is refused. Pure."""

from __future__ import annotations

from dataclasses import replace

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.transactions.bundle import FlowBundles
from legacy_mm.transactions.offset_book import OffsetBook
from legacy_mm.transactions.start_refusals import StartFacts, start_refusals

_SOURCE = "source"
NEWEST = 5
"""The newest version of InitProducerId that is used."""


def is_exactly_once(settings: Settings) -> bool:
    """Return True if the flow copies exactly once."""
    return settings.features[EXACTLY_ONCE] is not None


def flow_bundles(settings: Settings) -> FlowBundles:
    """Return the names of the flow's bundles."""
    naming = settings.features.naming
    return FlowBundles(settings.source.group_id, naming.source_alias or _SOURCE, naming.target_alias)


def offset_book(settings: Settings) -> OffsetBook:
    """Return where the flow's offsets are."""
    stored = settings.features[CONNECT_OFFSETS]
    return OffsetBook() if stored is None else OffsetBook(stored.topic)


def of_committed_records(settings: Settings) -> Settings:
    """Return the settings of a flow that copies exactly once: it reads committed records, and stops at a gap."""
    asked = settings.features[EXACTLY_ONCE]
    if asked is None:
        return settings
    source = settings.source
    client = replace(source.client, fetch=replace(source.client.fetch, committed_only=True))
    return replace(settings, source=replace(source, client=client), fail_on_gap=asked.stops_at_gap)


def check(settings: Settings, init_producer_id: int = NEWEST) -> None:
    """Raise ConfigurationError where exactly once is on and cannot keep its promise with these settings.

    `init_producer_id` is the newest version of InitProducerId that all of the target's brokers have.
    """
    asked = settings.features[EXACTLY_ONCE]
    if asked is None:
        return
    facts = StartFacts(
        settings.target.client.produce,
        settings.source.client.membership,
        settings.quarantine,
        settings.streams,
        settings.target.abort_on_send_failure,
        settings.source.reads_uncommitted,
        asked.interval,
        asked.transaction_timeout,
        init_producer_id,
        asked.old_brokers,
    )
    if refusals := start_refusals(facts):
        raise ConfigurationError("; ".join(refusals))
