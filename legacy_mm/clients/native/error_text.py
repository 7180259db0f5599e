"""The text of Kafka's error codes: the name and what kafka-python says about it."""

from __future__ import annotations

from kafka import errors

from legacy_mm.protocol.error_codes import ErrorCode, name

_FORBIDDEN = (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.GROUP_AUTHORIZATION_FAILED)


def text(code: int) -> str:
    """Return the name and the meaning of the error."""
    return f"{name(code)}: {errors.for_code(code).description}"


def forbids(told: str) -> bool:
    """Return True if this text reports a missing right on a topic or a group."""
    return told in map(text, _FORBIDDEN)


def tells_of_members(told: str) -> bool:
    """Return True if this text is a group's answer to a client that is not a member."""
    return told == text(ErrorCode.UNKNOWN_MEMBER_ID)
