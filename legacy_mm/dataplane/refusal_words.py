"""Words for lines about records that the target does not take: their time, the reason, and what mends it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import Header

WITHOUT_TIME = "without a time"
_REMEDIES: Mapping[int, str] = {
    ErrorCode.MESSAGE_TOO_LARGE: "raise max.message.bytes of topic {topic} at the target (brokers: message.max.bytes)",
    ErrorCode.RECORD_LIST_TOO_LARGE: "raise segment.bytes of topic {topic} at the target",
    ErrorCode.INVALID_TIMESTAMP: "raise message.timestamp.after.max.ms or message.timestamp.before.max.ms "
    "(message.timestamp.difference.max.ms before 3.6) of topic {topic} at the target",
    ErrorCode.INVALID_RECORD: "see cleanup.policy of topic {topic} at the target (a compacted one takes no record "
    "without a key), and message.timestamp.after.max.ms",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "give the principal the right WRITE on topic {topic} at the target",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "give the principal the right IDEMPOTENT_WRITE on the target cluster",
}
_ANY_REMEDY = "see to topic {topic} at the target"
REQUEST_REMEDY = "raise max.request.size of the producer"
"""The remedy for a record that is larger than any request."""
_PLACE_IN_BATCH = re.compile(r" with offset \d+")


def remedy(code: int, topic: str) -> str:
    """Return what mends a refusal by this topic of the target."""
    return _REMEDIES.get(code, _ANY_REMEDY).format(topic=topic)


def in_our_words(reason: str) -> str:
    """Return a broker's reason without the offset in it: that is the place in the batch that we sent, which says
    nothing to a reader.
    """
    return _PLACE_IN_BATCH.sub("", reason)


def time_of(header: Header) -> str:
    """Return the time of the youngest record of a batch."""
    return date(header.max_timestamp) if header.has_time else WITHOUT_TIME


def date(timestamp_ms: int) -> str:
    """Return a time as a date; one that no calendar has as it is."""
    try:
        return f"of {datetime.fromtimestamp(timestamp_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, OSError, ValueError):
        return f"of {timestamp_ms} ms since 1970"
