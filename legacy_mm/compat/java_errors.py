"""librdkafka's errors under the names that people grep for: those of Java's exceptions."""

from __future__ import annotations

from collections.abc import Mapping

_PACKAGE = "org.apache.kafka.common."
_ROWS = (
    (
        "MSG_SIZE_TOO_LARGE",
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
    ("TOPIC_EXCEPTION", "errors.InvalidTopicException", "{reason}"),
    ("INVALID_MSG", "errors.CorruptRecordException", "{reason}"),
    ("NOT_LEADER_FOR_PARTITION", "errors.NotLeaderOrFollowerException", "{reason}"),
    ("POLICY_VIOLATION", "errors.PolicyViolationException", "{reason}"),
    ("UNKNOWN_TOPIC_OR_PART", "errors.UnknownTopicOrPartitionException", "{reason}"),
    ("_UNKNOWN_TOPIC", "errors.UnknownTopicOrPartitionException", "{reason}"),
    ("REQUEST_TIMED_OUT", "errors.TimeoutException", "{reason}"),
    ("_MSG_TIMED_OUT", "errors.TimeoutException", "{reason}"),
    ("_TIMED_OUT", "errors.TimeoutException", "{reason}"),
    ("_AUTHENTICATION", "errors.SaslAuthenticationException", "{reason}"),
    ("SASL_AUTHENTICATION_FAILED", "errors.SaslAuthenticationException", "{reason}"),
)
"""librdkafka's name, Java's class, Java's text where it is always the same."""
_JAVA = {name: f"{_PACKAGE}{kind}: {text}" for name, kind, text in _ROWS}
_WORDS = {
    "Broker: Broker failed to validate record": "This record has failed the validation on broker and hence will be "
    "rejected.",
    "Broker: Invalid timestamp": "The timestamp of the message is out of acceptable range.",
}
"""librdkafka's and Java's, where the broker's own are not known."""


def java_error(fields: Mapping[str, object]) -> str:
    """Return the exception line below the legacy tool's line; librdkafka's own text for an error without a row."""
    reason = str(fields["reason"])
    return _JAVA.get(str(fields["code"]), "{reason}").format(**{**fields, "reason": _WORDS.get(reason, reason)})
