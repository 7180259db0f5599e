"""Kafka's error codes, sorted by what we do about them."""

from __future__ import annotations

from typing import Any

from kafka import errors


def codes(*classes: Any) -> frozenset[int]:
    """Return the codes of these error classes of kafka-python."""
    return frozenset(each.errno for each in classes)


UNKNOWN_TOPIC: int = errors.UnknownTopicOrPartitionError.errno
TIMED_OUT: int = errors.RequestTimedOutError.errno
TOO_LARGE: int = errors.MessageSizeTooLargeError.errno
INVALID_RECORD: int = errors.InvalidRecordError.errno
_UNKNOWN: int = errors.UnknownError.errno
_CORRUPT: int = errors.CorruptRecordError.errno
_OUT_OF_RANGE: int = errors.OffsetOutOfRangeError.errno
_OUT_OF_ORDER: int = errors.OutOfOrderSequenceNumberError.errno
_DUPLICATE: int = errors.DuplicateSequenceNumberError.errno
_CODEC: int = errors.UnsupportedCompressionTypeError.errno
_PRODUCER_UNKNOWN = codes(
    errors.OutOfOrderSequenceNumberError,
    errors.InvalidProducerEpochError,
    errors.UnknownProducerIdError,
    errors.ProducerFencedError,
)
"""The broker and this producer id have lost each other."""
_SIZES = codes(errors.MessageSizeTooLargeError, errors.RecordListTooLargeError)
_OF_THE_RECORD = _SIZES | codes(errors.InvalidTimestampError, errors.InvalidRecordError)
_LEAVES_OPEN = codes(
    errors.UnknownError,
    errors.NoError,  # the connection broke
    errors.NotLeaderForPartitionError,
    errors.RequestTimedOutError,
    errors.NetworkExceptionError,
    errors.NotEnoughReplicasAfterAppendError,
    errors.KafkaStorageError,
)
_REFUSES_IDEMPOTENCE = codes(
    errors.ClusterAuthorizationFailedError,
    errors.UnsupportedVersionError,
    errors.TransactionalIdAuthorizationFailedError,
)
_FOR_ALL_RECORDS = _REFUSES_IDEMPOTENCE | codes(
    errors.TopicAuthorizationFailedError,
    errors.UnsupportedForMessageFormatError,
    errors.UnsupportedCompressionTypeError,
)
_FORBIDDEN = codes(errors.TopicAuthorizationFailedError, errors.GroupAuthorizationFailedError)


def is_retriable(code: int) -> bool:
    """Return True if a later try may succeed; also for a batch that was damaged on its way."""
    return code == _CORRUPT or bool(errors.for_code(code).retriable)


def is_damaged(code: int) -> bool:
    """Return True if the broker found the batch damaged; before 2.4 also if a record lacks the key its topic
    requires.
    """
    return code == _CORRUPT


def is_unknown(code: int) -> bool:
    """Return True if the broker does not name the problem."""
    return code == _UNKNOWN


def may_be_read_later(code: int) -> bool:
    """Return True if a later fetch may succeed; a damaged log stays damaged, an unnamed error may go away."""
    return is_unknown(code) or (code != _CORRUPT and is_retriable(code))


def is_out_of_range(code: int) -> bool:
    """Return True if the wanted offset is not in the log."""
    return code == _OUT_OF_RANGE


def leaves_open(code: int) -> bool:
    """Return True if the broker may have appended a batch despite this answer."""
    return code in _LEAVES_OPEN


def is_duplicate(code: int) -> bool:
    """Return True if the broker has this batch already."""
    return code == _DUPLICATE


def is_out_of_order(code: int) -> bool:
    """Return True if the broker misses an earlier batch of the producer."""
    return code == _OUT_OF_ORDER


def needs_new_producer(code: int) -> bool:
    """Return True if only a new producer id can continue."""
    return code in _PRODUCER_UNKNOWN


def may_spare_some(code: int) -> bool:
    """Return True if the records of a refused batch may be accepted in smaller batches."""
    return not is_retriable(code) and code not in _FOR_ALL_RECORDS


def is_too_large(code: int) -> bool:
    """Return True if the target refuses the size."""
    return code in _SIZES


def refuses_the_codec(code: int) -> bool:
    """Return True if the target takes such records only with another compression."""
    return code == _CODEC


def refuses_the_record(code: int) -> bool:
    """Return True if the target will never take such a record, from any client at any time."""
    return code in _OF_THE_RECORD


def refuses_idempotence(code: int) -> bool:
    """Return True if the broker does not grant us a producer id."""
    return code in _REFUSES_IDEMPOTENCE


_JAVA_NAMES = {"INVALID_TOPIC": "INVALID_TOPIC_EXCEPTION"}


def name(code: int) -> str:
    """Return Java's name of the error."""
    told: str = errors.for_code(code).message
    return _JAVA_NAMES.get(told, told)


def text(code: int) -> str:
    """Return the name and the meaning of the error."""
    error = errors.for_code(code)
    return f"{error.message}: {error.description}"


def forbids(told: str) -> bool:
    """Return True if this text reports a missing right on a topic or a group."""
    return told in map(text, _FORBIDDEN)


def tells_of_members(told: str) -> bool:
    """Return True if this text is a group's answer to a client that is not a member."""
    return told == text(errors.UnknownMemberIdError.errno)
