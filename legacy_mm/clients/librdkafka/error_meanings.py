"""librdkafka's own error codes, and those of brokers (`protocol/error_codes.py`), sorted by what we do about them.

The rest of the package asks these questions only.
"""

from __future__ import annotations

import re

from confluent_kafka import KafkaError

from legacy_mm.clients.group.member import CommitProblem
from legacy_mm.clients.net import tokens
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


def is_membership_lost(error: KafkaError) -> bool:
    """Return True when the group has dropped this member."""
    return error.code() in (KafkaError._MAX_POLL_EXCEEDED, ErrorCode.UNKNOWN_MEMBER_ID)


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
