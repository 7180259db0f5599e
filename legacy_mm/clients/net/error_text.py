"""The text of Kafka's error codes: the name, and Java's sentence about it or what kafka-python says."""

from __future__ import annotations

from collections.abc import Mapping

from kafka import errors

from legacy_mm.protocol.error_codes import ErrorCode, name

_FORBIDDEN = (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.GROUP_AUTHORIZATION_FAILED)

_JAVA: Mapping[int, str] = {
    ErrorCode.MESSAGE_TOO_LARGE: "The request included a message larger than the max message size the server will "
    "accept.",
    ErrorCode.INVALID_RECORD: "This record has failed the validation on broker and hence will be rejected.",
    ErrorCode.INVALID_TIMESTAMP: "The timestamp of the message is out of acceptable range.",
    ErrorCode.NOT_ENOUGH_REPLICAS: "Messages are rejected since there are fewer in-sync replicas than required.",
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: "Messages are written to the log, but to fewer in-sync replicas than "
    "required.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "The request attempted to perform an operation on an invalid topic.",
    ErrorCode.CORRUPT_MESSAGE: "This message has failed its CRC checksum, exceeds the valid size, has a null key for "
    "a compacted topic, or is otherwise corrupt.",
    ErrorCode.NOT_LEADER_OR_FOLLOWER: "For requests intended only for the leader, this error indicates that the "
    "broker is not the current leader.",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
    ErrorCode.REQUEST_TIMED_OUT: "The request timed out.",
    ErrorCode.INVALID_SESSION_TIMEOUT: "The session timeout is not within the range allowed by the broker (as "
    "configured by group.min.session.timeout.ms and group.max.session.timeout.ms).",
}
"""Java's sentences about errors that sending meets, and about a session: people search for them."""


def text(code: int) -> str:
    """Return the name and the meaning of the error."""
    return f"{name(code)}: {meaning(code)}"


def meaning(code: int) -> str:
    """Return the meaning of the error in a sentence."""
    return _JAVA.get(code) or str(errors.for_code(code).description)


def refused_member(group: str, code: int) -> str:
    """Return why a group does not have a member; for a missing right also which one it is, and how to give it."""
    reason = f"the group refuses this member: {text(code)}"
    return reason if code != ErrorCode.GROUP_AUTHORIZATION_FAILED else f"{reason} {needed('group', group, 'Read')}"


def refused_topic(topic: str, code: int, operation: str, cluster: str = "") -> str:
    """Return the error of a topic; for a missing right also which one, and how to give it."""
    reason = text(code)
    if code != ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        return reason
    return f"{reason} {needed('topic', topic, operation, cluster=cluster)}"


def needed(kind: str, name: str, *operations: str, cluster: str = "") -> str:
    """Return which rights the principal needs on a topic or a group, and the command that gives them."""
    words = "".join(f" --operation {each}" for each in operations)
    return (
        f"The principal needs the right{'s' * (len(operations) > 1)} {' and '.join(operations)} on {kind} {name}"
        f"{f' at the {cluster}' if cluster else ''}: kafka-acls.sh --add --allow-principal User:NAME{words} "
        f"--{kind} '{name}'"
    )


def forbids(reason: str) -> bool:
    """Return True if this text reports a missing right on a topic or a group."""
    return reason in map(text, _FORBIDDEN)


def tells_of_members(reason: str) -> bool:
    """Return True if this text is a group's answer to a client that is not a member."""
    return reason == text(ErrorCode.UNKNOWN_MEMBER_ID)
