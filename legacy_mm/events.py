"""Named events: what lower layers say, without knowing the words in which it is printed.

`logs.py` turns an event into a line; `compat.messages` gives it the old tool's level, logger and text. An event
without a row there is printed in the words below, so nothing is silent because a table forgot it. Rule: the fields
of an event never hold a secret.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

logger = logging.getLogger("legacy_mm")


@dataclass(frozen=True, slots=True)
class Event:
    """A thing worth saying: stable name, `logging` level, and our own text (`str.format` fields)."""

    name: str
    level: int
    text: str


def emit(event: Event, *, error: BaseException | None = None, **fields: object) -> None:
    """Log an event with its fields; `error` adds the cause (its traceback only at debug level)."""
    if logger.isEnabledFor(event.level):
        extra = {"event": event, "fields": fields}
        logger.log(event.level, event.text.format(**fields), exc_info=error, extra=extra)


STARTING = Event("starting", logging.INFO, "Starting mirror maker")
STREAM_STARTED = Event("stream-started", logging.INFO, "Stream {stream} started")
SHUTDOWN_STARTED = Event("shutdown-started", logging.INFO, "Start clean shutdown.")
SHUTDOWN_FINISHED = Event("shutdown-finished", logging.INFO, "Mirror shut down")
STREAM_STOPPED = Event("stream-stopped", logging.INFO, "Stream {stream} stopped")
STREAM_FAILED = Event("stream-failed", logging.ERROR, "Stream {stream} failed: {reason}")
STREAM_EXITED = Event("stream-exited", logging.ERROR, "A stream failed, stopping the whole mirror.")
COMMIT_SKIPPED = Event("commit-skipped", logging.INFO, "Send failure: offsets are not committed.")
PATTERN_INVALID = Event("pattern-invalid", logging.ERROR, "Invalid topic pattern: {pattern}")
SEND_FAILED = Event(
    "send-failed",
    logging.ERROR,
    "Record for topic {topic} (key {key_size}, value {value_size}) could not be sent: {reason}",
)
TOPICS_CHANGED = Event("topics-changed", logging.INFO, "Topics now mirrored: {topics}")
ASSIGNED = Event("assigned", logging.INFO, "Stream {stream}, generation {generation}: assigned {partitions}")
REVOKED = Event("revoked", logging.INFO, "Stream {stream}, generation {generation}: revoked {partitions}")
LOST = Event("lost", logging.WARNING, "Stream {stream}, generation {generation}: lost {partitions}; not committed")
COPY_STARTED = Event("copy-started", logging.INFO, "Stream {stream} copies from {offsets} (worker {worker})")
COPY_LOST = Event(
    "copy-lost", logging.WARNING, "Stream {stream}: copy job lost ({reason}); copying again from the safe offsets"
)
COMMITTED = Event("committed", logging.DEBUG, "Stream {stream} committed {offsets}")
COMMIT_RETRY = Event(
    "commit-retry", logging.WARNING, "Stream {stream}: commit failed ({reason}); it will be tried again"
)
TOPICS_VANISHED = Event(
    "topics-vanished", logging.WARNING, "Offsets of topics that no longer exist are forgotten: {topics}"
)
NOT_COMMITTED = Event("not-committed", logging.ERROR, "Not committed before the stop: {partition} at offset {offset}")
STOP_OVERDUE = Event("stop-overdue", logging.ERROR, "Stop not finished after {seconds:g} s: ending without {what}")
GAP = Event(
    "gap",
    logging.ERROR,
    "Gap in {partition}: offset {wanted} is not in the log any more (it holds {low} to {high}, {reason}); "
    "going on from {resumed}, {missed} offsets were not copied",
)
CLIENT_ERROR = Event("client-error", logging.WARNING, "[{client}] {text}")
PEER_REFUSED = Event("peer-refused", logging.WARNING, "Control channel: {peer} refused: {reason}")
IDEMPOTENCE_REFUSED = Event(
    "idempotence-refused",
    logging.WARNING,
    "The target refuses an idempotent producer ({reason}); going on with one request in flight and without it",
)
SEVERAL_KEYS = Event("several-keys", logging.WARNING, "{store} holds {count} keys; the one of {alias} is used")
TRUST_WITHOUT_ROOT = Event(
    "trust-without-root",
    logging.WARNING,
    "{store} trusts {name} but not its issuer: add the issuers up to the root, or its brokers are refused",
)
ZERO_TIMESTAMP = Event(
    "zero-timestamp",
    logging.WARNING,
    "Records of {partition} carry the timestamp 0, which this engine cannot send: the target gets the present time",
)

BY_NAME = {event.name: event for event in list(globals().values()) if isinstance(event, Event)}
