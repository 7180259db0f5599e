"""librdkafka's errors under the names that people grep for: those of Java's exceptions."""

from __future__ import annotations

from collections.abc import Mapping

_PACKAGE = "org.apache.kafka.common.errors."
_ROWS = (
    (
        "MSG_SIZE_TOO_LARGE",
        "RecordTooLargeException",
        "The request included a message larger than the max message size the server will accept.",
    ),
    (
        "INVALID_RECORD",
        "InvalidRecordException",
        "This record has failed the validation on broker and hence will be rejected.",
    ),
    (
        "INVALID_TIMESTAMP",
        "InvalidTimestampException",
        "The timestamp of the message is out of acceptable range.",
    ),
    (
        "NOT_ENOUGH_REPLICAS",
        "NotEnoughReplicasException",
        "Messages are rejected since there are fewer in-sync replicas than required.",
    ),
    ("CLUSTER_AUTHORIZATION_FAILED", "ClusterAuthorizationException", "Cluster authorization failed."),
    ("TOPIC_AUTHORIZATION_FAILED", "TopicAuthorizationException", "Not authorized to access topics: [{topic}]"),
    ("TOPIC_EXCEPTION", "InvalidTopicException", "{reason}"),
    ("INVALID_MSG", "CorruptRecordException", "{reason}"),
    ("POLICY_VIOLATION", "PolicyViolationException", "{reason}"),
    ("UNKNOWN_TOPIC_OR_PART", "UnknownTopicOrPartitionException", "{reason}"),
    ("_UNKNOWN_TOPIC", "UnknownTopicOrPartitionException", "{reason}"),
    ("_MSG_TIMED_OUT", "TimeoutException", "{reason}"),
    ("_TIMED_OUT", "TimeoutException", "{reason}"),
    ("_AUTHENTICATION", "SaslAuthenticationException", "{reason}"),
    ("SASL_AUTHENTICATION_FAILED", "SaslAuthenticationException", "{reason}"),
)
"""librdkafka's name, Java's class, Java's text where it is always the same."""
_JAVA = {name: f"{_PACKAGE}{kind}: {text}" for name, kind, text in _ROWS}


def java_error(fields: Mapping[str, object]) -> str:
    """The line of the exception below the old tool's line; librdkafka's own text for an error without a row."""
    return _JAVA.get(str(fields["code"]), "{reason}").format(**fields)
