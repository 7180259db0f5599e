"""What the old tool printed: a table from our events to its levels, logger names and words
(contract 6.1).

`logs.configure` is handed `WORDING` at start. Fields are those of the event; `{stream}` is the
number of the old thread. Events without a row are printed in our own words under our own
logger.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from legacy_mm import events
from legacy_mm.events import Event
from legacy_mm.logs import Wording

OWN = "legacy_mm"
"""The logger of what the old tool had no line for."""
TOOL = "kafka.tools.MirrorMaker$"
THREAD = "kafka.tools.MirrorMaker$MirrorMakerThread"
PRODUCER_CONFIG = "org.apache.kafka.clients.producer.ProducerConfig"
CONSUMER_CONFIG = "org.apache.kafka.clients.consumer.ConsumerConfig"
VERSION = "3.9.1"

_PREFIX = "[mirrormaker-thread-{stream}] "


DEPRECATED = Wording(
    logging.WARNING,
    TOOL,
    "This tool is deprecated and may be removed in a future major release.",
)
START_FAILED = Wording(logging.ERROR, TOOL, "Exception when starting mirror maker.")
INCLUDE_MISSING = "include list must be specified"
ONE_LIST_WANTED = "Exactly one of whitelist or blacklist is required."

HOOK = (
    "Start clean shutdown.",
    "Shutting down consumer threads.",
    "Closing producer.",
    "Kafka mirror maker shutdown successfully",
)
"""What the shutdown hook says when there are no threads."""

_ASSIGNMENT_WARNING = (
    "WARNING: The default partition assignment strategy of the {}mirror maker will change from "
    "'range' to 'roundrobin' in an upcoming release (so that better load balancing can be "
    "achieved). If you prefer to make this switch in advance of that release add the following to "
    "the corresponding {}config: 'partition.assignment.strategy="
    "org.apache.kafka.clients.consumer.RoundRobinAssignor'"
)
ASSIGNMENT_WARNING = _ASSIGNMENT_WARNING.format("", "")
"""A plain line on stderr, not a log line."""
ASSIGNMENT_WARNING_NEW_CONSUMER = _ASSIGNMENT_WARNING.format("new-consumer-based ", "new-consumer ")
"""The same up to 1.1."""

WORDING: Mapping[Event, Wording] = {
    events.STARTING: Wording(logging.INFO, TOOL, "Starting mirror maker"),
    events.STREAM_STARTED: Wording(
        logging.INFO,
        THREAD,
        _PREFIX + "Starting mirror maker thread mirrormaker-thread-{stream}",
    ),
    events.SHUTDOWN_STARTED: Wording(logging.INFO, TOOL, "Start clean shutdown."),
    events.STREAM_STOPPED: Wording(logging.INFO, THREAD, _PREFIX + "Mirror maker thread stopped"),
    events.SHUTDOWN_FINISHED: Wording(
        logging.INFO, TOOL, "Kafka mirror maker shutdown successfully"
    ),
    events.STREAM_FAILED: Wording(
        logging.ERROR, THREAD, _PREFIX + "Mirror maker thread failure due to {reason}"
    ),
    events.STREAM_EXITED: Wording(
        logging.ERROR,
        THREAD,
        "Mirror maker thread exited abnormally, stopping the whole mirror maker.",
    ),
    events.COMMIT_SKIPPED: Wording(
        logging.INFO, TOOL, "Exiting on send failure, skip committing offsets."
    ),
    events.PATTERN_INVALID: Wording(logging.ERROR, TOOL, "Invalid expression syntax: {pattern}"),
    events.SEND_FAILED: Wording(
        logging.ERROR,
        "org.apache.kafka.clients.producer.internals.ErrorLoggingCallback",
        "Error when sending message to topic {topic} with key: {key_size}, "
        "value: {value_size} with error: {reason}",
    ),
}
"""Our event -> the old tool's line."""


def wording(fatal: int) -> Mapping[Event, Wording]:
    """The table for a release whose fatal lines have this level."""
    rows = {event: replace(WORDING[event], level=fatal) for event in (events.STREAM_FAILED, events.STREAM_EXITED)}
    return {**WORDING, **rows}
