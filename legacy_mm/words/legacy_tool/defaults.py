"""The defaults by which the legacy tool avoids data loss, and the INFO lines it writes where a file
overrides them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from legacy_mm.words.java_clients.client_properties.rule import Note
from legacy_mm.words.legacy_tool.messages import TOOL


@dataclass(frozen=True, slots=True)
class Default:
    """A property the legacy tool sets unless the file does."""

    name: str
    value: str


CONSUMER_DEFAULTS = (Default("enable.auto.commit", "false"),)
PRODUCER_DEFAULTS = (
    Default("delivery.timeout.ms", "2147483647"),
    Default("max.block.ms", "9223372036854775807"),
    Default("acks", "all"),
    Default("max.in.flight.requests.per.connection", "1"),
)
"""In the order of the old log lines; what in-flight means to us: `client_properties.producer`."""
PRODUCER_DEFAULTS_0_10 = (Default("retries", "2147483647"), *PRODUCER_DEFAULTS[1:])
PRODUCER_DEFAULTS_0_9 = (
    Default("retries", "2147483647"),
    Default("block.on.buffer.full", "true"),
    *PRODUCER_DEFAULTS[2:],
)
ZOOKEEPER_CONSUMER_DEFAULTS = (
    Default("auto.commit.enable", "false"),
    Default("consumer.timeout.ms", "10000"),
)


def override_notes(defaults: tuple[Default, ...], properties: Mapping[str, str]) -> tuple[Note, ...]:
    """Return one line per default whose text differs: `acks=-1` counts as different."""
    return tuple(
        Note(
            logging.INFO,
            TOOL,
            f"Property {row.name} is overridden to {properties[row.name]} - data loss or message "
            "reordering is possible.",
        )
        for row in defaults
        if properties.get(row.name, row.value) != row.value
    )
