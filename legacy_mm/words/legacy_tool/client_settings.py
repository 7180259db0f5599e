"""The settings of a flow's two sides, out of the translated properties of their clients."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from legacy_mm.base.settings import AdminSettings, OffsetReset, SourceSettings, TargetSettings
from legacy_mm.words.java_clients.client_properties import producer
from legacy_mm.words.java_clients.client_properties.apply import Translated
from legacy_mm.words.java_clients.client_properties.rule import Note, PropertyReading
from legacy_mm.words.legacy_tool.messages import OWN
from legacy_mm.words.options.option_catalogue import OwnOptions

_RESETS: Mapping[str, OffsetReset] = {
    "latest": "latest",
    "earliest": "earliest",
    "none": "none",
}


def source_settings(read: Translated, name: str, options: OwnOptions) -> SourceSettings:
    """Return the settings of the source; `name` tells it from the other sources of the process."""
    reading = read.reading
    reset = _RESETS[reading.text("auto.offset.reset", "latest")]
    client = read.consumer
    return SourceSettings(
        client=client,
        offset_reset=reset,
        new_from_earliest=reset == "latest" and options.new_topics_from == "earliest",
        api_timeout=reading.integer("default.api.timeout.ms", 60_000) / 1000,
        group_instance_id=reading.text("group.instance.id") or None,
        name=name,
        reads_uncommitted=reading.given("isolation.level") and not client.fetch.committed_only,
        stores=read.stores,
        pem=read.pem,
        for_librdkafka=tuple(read.native.further),
    )


def target_settings(written: Translated, *, abort: bool, synchronous: bool) -> TargetSettings:
    """Return the settings of the target; `abort`: a record that cannot be sent ends the mirror."""
    return TargetSettings(
        client=written.producer,
        # in the legacy tool a failed send of a synchronous producer ended the thread, flag or not
        abort_on_send_failure=abort or synchronous,
        synchronous=synchronous,
        idempotence_required=(
            written.reading.boolean("enable.idempotence", False) and producer.idempotent(written.reading)
        ),
        stores=written.stores,
        pem=written.pem,
    )


def commit_interval(reading: PropertyReading, interval_ms: int, notes: list[Note]) -> float:
    """Return the seconds between two commits; negative and zero mean as often as possible."""
    if reading.boolean("enable.auto.commit", False):
        interval_ms = min(interval_ms, reading.integer("auto.commit.interval.ms", 5_000))
        notes.append(
            Note(
                logging.INFO,
                OWN,
                f"enable.auto.commit=true: offsets of copied records are committed every "
                f"{max(interval_ms, 0)} ms, none before its record is safe.",
            )
        )
    return max(interval_ms, 0) / 1000


def admin_settings(side: Translated | None) -> AdminSettings | None:
    """Return the settings of a feature's own clients; None: as the mirror's own."""
    return None if side is None else AdminSettings(side.connection, side.stores, side.pem)
