"""Errors of a send under the names that people grep for: those of Java's exceptions."""

from __future__ import annotations

from collections.abc import Mapping

_PACKAGE = "org.apache.kafka.common."
_ROWS = (
    (
        "MESSAGE_TOO_LARGE",
        "errors.RecordTooLargeException",
        "The request included a message larger than the max message size the server will accept.",
    ),
    ("INVALID_RECORD", "InvalidRecordException", "{reason}"),
    ("INVALID_TIMESTAMP", "errors.InvalidTimestampException", "{reason}"),
    (
        "NOT_ENOUGH_REPLICAS",
        "errors.NotEnoughReplicasException",
        "Messages are rejected since there are fewer in-sync replicas than required.",
    ),
    (
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "errors.NotEnoughReplicasAfterAppendException",
        "Messages are written to the log, but to fewer in-sync replicas than required.",
    ),
    ("CLUSTER_AUTHORIZATION_FAILED", "errors.ClusterAuthorizationException", "Cluster authorization failed."),
    ("TOPIC_AUTHORIZATION_FAILED", "errors.TopicAuthorizationException", "Not authorized to access topics: [{topic}]"),
    ("INVALID_TOPIC_EXCEPTION", "errors.InvalidTopicException", "{reason}"),
    ("CORRUPT_MESSAGE", "errors.CorruptRecordException", "{reason}"),
    ("NOT_LEADER_OR_FOLLOWER", "errors.NotLeaderOrFollowerException", "{reason}"),
    ("POLICY_VIOLATION", "errors.PolicyViolationException", "{reason}"),
    ("UNKNOWN_TOPIC_OR_PARTITION", "errors.UnknownTopicOrPartitionException", "{reason}"),
    ("REQUEST_TIMED_OUT", "errors.TimeoutException", "{reason}"),
)
"""Kafka's name, Java's class, Java's text where it is always the same."""
_JAVA = {name: f"{_PACKAGE}{kind}: {text}" for name, kind, text in _ROWS}


def java_error(fields: Mapping[str, object]) -> str:
    """Return the exception line below the legacy tool's line; the reason alone for an error without a row."""
    return _JAVA.get(str(fields["code"]), "{reason}").format(**fields)
