"""librdkafka's error codes, sorted by what we do about them. The rest of the package asks these questions only."""

from __future__ import annotations

import re

from confluent_kafka import KafkaError

from legacy_mm.clients import tokens
from legacy_mm.clients.api import CommitProblem

_RETRY = {
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._WAIT_COORD,
    KafkaError._RESOLVE,
    KafkaError._DESTROY,
    KafkaError._STATE,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.UNSTABLE_OFFSET_COMMIT,
}
_REJOINING = {
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.STALE_MEMBER_EPOCH,
    KafkaError._ASSIGNMENT_LOST,
}
_LOST = {KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_MEMBER_EPOCH}
_FATAL_FOR_MEMBER = {
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError.INVALID_GROUP_ID,
    KafkaError.INCONSISTENT_GROUP_PROTOCOL,
    KafkaError.INVALID_SESSION_TIMEOUT,
    KafkaError.GROUP_MAX_SIZE_REACHED,
    KafkaError.UNSUPPORTED_VERSION,
    KafkaError._UNSUPPORTED_FEATURE,
    KafkaError._FATAL,
}
_IDEMPOTENCE_REFUSED = {
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    KafkaError._UNSUPPORTED_FEATURE,
    KafkaError.UNSUPPORTED_VERSION,
}
_PRODUCER_UNKNOWN = {
    KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.UNKNOWN_PRODUCER_ID,
    KafkaError.PRODUCER_FENCED,
}
_OF_THE_RECORD = {
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_TIMESTAMP,
    KafkaError.INVALID_RECORD,
    KafkaError._INVALID_DIFFERENT_RECORD,
}
_JAVA_NAMES = {
    KafkaError.UNKNOWN_TOPIC_OR_PART: "UNKNOWN_TOPIC_OR_PARTITION",
    KafkaError.TOPIC_EXCEPTION: "INVALID_TOPIC_EXCEPTION",
}
_INCONSISTENT_TOPIC_ID = 103
"""The error code that has no name in confluent-kafka 2.11."""
_READ_LATER = {
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_ID,
    _INCONSISTENT_TOPIC_ID,
}
_LOGIN_REFUSED = {KafkaError._AUTHENTICATION, KafkaError._SSL}
_NOT_THE_BROKERS_WORD = ("Local: ", "SSL transport error", "Failed to acquire SASL OAUTHBEARER token")
"""In the text of a failed login: the connection broke on the way, or a token service gave none."""
_ALERT = "SSL alert number"
"""In the text of a broken connection: with TLS 1.3 a broker refuses a certificate after the handshake."""
_UNVERIFIED = re.compile(r", verify that ssl\.ca\.location.*", re.DOTALL)
_DOUBTS = " (unknown authority, another host name, or out of date)"


def commit_problem(error: KafkaError) -> CommitProblem:
    """Return the way to handle a failed commit."""
    code = error.code()
    if code in _LOST:
        return CommitProblem.LOST
    if code in _REJOINING:
        return CommitProblem.REJOINING
    if code in _RETRY or error.retriable():
        return CommitProblem.RETRY
    return CommitProblem.FATAL


def ends_membership(error: KafkaError) -> bool:
    """Return True for errors after which a group member cannot continue."""
    return bool(error.fatal()) or error.code() in _FATAL_FOR_MEMBER


def ends_reading(error: KafkaError) -> bool:
    """Return True for errors after which a copying client cannot continue: all broker errors but passing ones, as in
    Java.
    """
    code = error.code()
    return (
        bool(error.fatal())
        or code in (KafkaError._BAD_MSG, KafkaError._BAD_COMPRESSION)
        or (code > 0 and code not in _READ_LATER)
    )


def is_out_of_range(error: KafkaError) -> bool:
    """Return True when the wanted offset is not in the log (`auto.offset.reset=error`)."""
    return error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)


def is_membership_lost(error: KafkaError) -> bool:
    """Return True when the group has dropped this member."""
    return error.code() in (KafkaError._MAX_POLL_EXCEEDED, KafkaError.UNKNOWN_MEMBER_ID)


def refuses_idempotence(error: KafkaError) -> bool:
    """Return True when the target does not grant us a producer id."""
    return error.code() in _IDEMPOTENCE_REFUSED


def needs_new_producer(error: KafkaError) -> bool:
    """Return True when a broker does not know this producer id any more; another id can continue."""
    return error.code() in _PRODUCER_UNKNOWN


def refuses_the_record(error: KafkaError) -> bool:
    """Return True when the target will never take this record, or one in its batch, from any client."""
    return error.code() in _OF_THE_RECORD


def is_too_large(error: KafkaError) -> bool:
    """Return True where the target takes no batch of this size."""
    return bool(error.code() == KafkaError.MSG_SIZE_TOO_LARGE)


def refuses_login(error: KafkaError) -> bool:
    """Return True when a login fails on either side (password, certificate, name): a Java client gives up, too."""
    text = error.str()
    refused = error.code() in _LOGIN_REFUSED or _ALERT in text
    return refused and not any(words in text for words in _NOT_THE_BROKERS_WORD)


def refuses_token(error: KafkaError) -> bool:
    """Return True when a token service gives this client no token; an earlier token may still be valid."""
    return error.code() == KafkaError._AUTHENTICATION and tokens.refuses_the_client(error.str())


def refusal(error: KafkaError) -> str:
    """Return why a login failed, without librdkafka's advice on properties that our user does not have."""
    return _UNVERIFIED.sub(_DOUBTS, error.str())


def broker_error(code: int) -> tuple[str, str]:
    """Return librdkafka's text and name for an error code of a broker."""
    error = KafkaError(code)
    return error.str(), error.name()


def java_name(error: KafkaError) -> str:
    """Return Java's name of an error that a topic may have."""
    return _JAVA_NAMES.get(error.code(), error.name())
