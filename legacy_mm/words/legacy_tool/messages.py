"""The lines of the legacy tool: a table from our events to its levels, logger names and words (contract 6.1).

`logs.root_logger.configure` gets `WORDING` at the start. Fields are those of the event; `{stream}` is the number of
the old thread. Events without a row are printed in our own words under our own logger.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from legacy_mm.logs import events
from legacy_mm.logs.events import Event
from legacy_mm.logs.log_settings import CHANGES
from legacy_mm.logs.root_logger import Wording
from legacy_mm.words.legacy_tool.java_errors import java_error

OWN = "legacy_mm"
"""The logger of lines that the legacy tool did not have."""
TOOL = "kafka.tools.MirrorMaker$"
THREAD = "kafka.tools.MirrorMaker$MirrorMakerThread"
PRODUCER_CONFIG = "org.apache.kafka.clients.producer.ProducerConfig"
CONSUMER_CONFIG = "org.apache.kafka.clients.consumer.ConsumerConfig"
CONSUMER = "org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer"
NETWORK = "org.apache.kafka.clients.NetworkClient"
SUBSCRIPTIONS = "org.apache.kafka.clients.consumer.internals.SubscriptionState"
SEND_CALLBACK = "org.apache.kafka.clients.producer.internals.ErrorLoggingCallback"
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
"""Lines of the shutdown hook if there are no threads."""

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

_COMMIT_FAILED = "Failed to commit offsets because "
_IF_REGULARLY = "If you see this regularly, it could indicate that you need to "

WORDING: Mapping[Event, Wording] = {
    **{
        event: Wording(event.level, CHANGES, event.text)
        for event in (
            events.DUTY_CHANGED,
            events.DUTY_CHANGED_WITH_EFFECT,
            events.DUTY_NOTED,
            events.REST_ACTION,
            events.RELOADED,
        )
    },
    events.STARTING: Wording(logging.INFO, TOOL, "Starting mirror maker"),
    events.STREAM_STARTED: Wording(
        logging.INFO, THREAD, _PREFIX + "Starting mirror maker thread mirrormaker-thread-{stream}"
    ),
    events.SUBSCRIBED: Wording(logging.INFO, CONSUMER, "[{client}] Subscribed to pattern: '{pattern}'"),
    events.SHUTDOWN_STARTED: Wording(logging.INFO, TOOL, "Start clean shutdown."),
    events.STREAMS_STOPPING: Wording(logging.INFO, TOOL, "Shutting down consumer threads."),
    events.STREAM_STOPPING: Wording(logging.INFO, THREAD, _PREFIX + "mirrormaker-thread-{stream} shutting down"),
    events.FLUSHING: Wording(logging.INFO, THREAD, _PREFIX + "Flushing producer."),
    events.COMMITTING_LAST: Wording(logging.INFO, THREAD, _PREFIX + "Committing consumer offsets."),
    events.LEAVING: Wording(logging.INFO, THREAD, _PREFIX + "Shutting down consumer connectors."),
    events.STREAM_STOPPED: Wording(logging.INFO, THREAD, _PREFIX + "Mirror maker thread stopped"),
    events.STREAM_OVER: Wording(logging.INFO, THREAD, _PREFIX + "Mirror maker thread shutdown complete"),
    events.CLOSING: Wording(logging.INFO, TOOL, "Closing producer."),
    events.SHUTDOWN_FINISHED: Wording(logging.INFO, TOOL, "Kafka mirror maker shutdown successfully"),
    events.STREAM_FAILED: Wording(
        logging.ERROR,
        THREAD,
        _PREFIX + "Mirror maker thread failure due to ",
        lambda fields: str(fields["reason"]),
    ),
    events.STREAM_EXITED: Wording(
        logging.ERROR,
        THREAD,
        _PREFIX + "Mirror maker thread exited abnormally, stopping the whole mirror maker.",
    ),
    events.COMMITTING: Wording(events.TRACE, TOOL, "Committing offsets."),
    events.COMMIT_RETRY: Wording(
        logging.WARNING,
        TOOL,
        _COMMIT_FAILED + "the offset commit request processing can not be completed in time. "
        f"{_IF_REGULARLY}increase the consumer's default.api.timeout.ms Last successful offset "
        "commit timestamp={last_commit}, retry count={retries}",
    ),
    events.COMMIT_REBALANCED: Wording(
        logging.WARNING,
        TOOL,
        _COMMIT_FAILED + "the consumer group has rebalanced and assigned partitions to another "
        f"instance. {_IF_REGULARLY}either increase the consumer's session.timeout.ms or reduce "
        "the number of records handled on each iteration with max.poll.records",
    ),
    events.TOPICS_UNKNOWN: Wording(
        logging.WARNING,
        TOOL,
        "Failed to list all authorized topics after committing offsets timed out: ",
    ),
    events.PATTERN_INVALID: Wording(logging.ERROR, TOOL, "Invalid expression syntax: {pattern}"),
    events.SEND_FAILED: Wording(
        logging.ERROR,
        SEND_CALLBACK,
        "Error when sending message to topic {topic} with key: {key_size}, value: {value_size} with error:",
        java_error,
    ),
    events.SENDING_ENDED: Wording(logging.INFO, TOOL, "Closing producer due to send failure."),
    events.OFFSET_RESET: Wording(
        logging.INFO,
        SUBSCRIPTIONS,
        "[{client}] Resetting offset for partition {partition} to position FetchPosition{{offset={offset}}}.",
    ),
    events.TOPICS_MISSING: Wording(
        logging.WARNING,
        NETWORK,
        "[Producer clientId={client}] The metadata response from the cluster reported a recoverable issue with "
        "correlation id {number} : {{{problems}}}",
    ),
    events.LISTENER_MISSING: Wording(logging.WARNING, NETWORK, events.LISTENER_MISSING.text),
    events.CLIENT_ERROR: Wording(logging.WARNING, NETWORK, "[{client}] {text}"),
}
"""Our event -> the legacy tool's line."""


def wording(fatal: int) -> Mapping[Event, Wording]:
    """Return the table for a release whose fatal lines have this level."""
    rows = {event: replace(WORDING[event], level=fatal) for event in (events.STREAM_FAILED, events.STREAM_EXITED)}
    return {**WORDING, **rows}
