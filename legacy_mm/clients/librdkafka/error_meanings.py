"""librdkafka's own error codes, and those of brokers (`protocol/error_codes.py`), sorted by what we do about them.

The rest of the package asks these questions only.
"""

from __future__ import annotations

import re

from confluent_kafka import KafkaError

from legacy_mm.clients import tokens
from legacy_mm.clients.api import CommitProblem
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import COORDINATOR_MOVED, GENERATION_OVER, MEMBER_UNKNOWN, ErrorCode

_RETRY = COORDINATOR_MOVED | {
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._WAIT_COORD,
    KafkaError._RESOLVE,
    KafkaError._DESTROY,
    KafkaError._STATE,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNSTABLE_OFFSET_COMMIT,
}
_REJOINING = GENERATION_OVER | {KafkaError._ASSIGNMENT_LOST}
_FATAL_FOR_MEMBER = {
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.INVALID_GROUP_ID,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    ErrorCode.INVALID_SESSION_TIMEOUT,
    ErrorCode.GROUP_MAX_SIZE_REACHED,
    ErrorCode.UNSUPPORTED_VERSION,
    KafkaError._UNSUPPORTED_FEATURE,
    KafkaError._FATAL,
}
_IDEMPOTENCE_REFUSED = error_codes.REFUSES_IDEMPOTENCE | {KafkaError._UNSUPPORTED_FEATURE}
_OF_THE_RECORD = error_codes.OF_THE_RECORD | {KafkaError._INVALID_DIFFERENT_RECORD}
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
    if code in MEMBER_UNKNOWN:
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
        or (code > 0 and not error_codes.may_be_read_later(code))
    )


def is_out_of_range(error: KafkaError) -> bool:
    """Return True when the wanted offset is not in the log (`auto.offset.reset=error`)."""
    return error.code() == KafkaError._AUTO_OFFSET_RESET or error_codes.is_out_of_range(error.code())


def is_membership_lost(error: KafkaError) -> bool:
    """Return True when the group has dropped this member."""
    return error.code() in (KafkaError._MAX_POLL_EXCEEDED, ErrorCode.UNKNOWN_MEMBER_ID)


def refuses_idempotence(error: KafkaError) -> bool:
    """Return True when the target does not grant us a producer id."""
    return error.code() in _IDEMPOTENCE_REFUSED


def needs_new_producer(error: KafkaError) -> bool:
    """Return True when a broker does not know this producer id any more; another id can continue."""
    return error_codes.needs_new_producer(error.code())


def refuses_the_record(error: KafkaError) -> bool:
    """Return True when the target will never take this record, or one in its batch, from any client."""
    return error.code() in _OF_THE_RECORD


def is_too_large(error: KafkaError) -> bool:
    """Return True where the target takes no batch of this size."""
    return error_codes.is_too_large(error.code())


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
    return error_codes.name(error.code()) if error.code() > 0 else str(error.name())
