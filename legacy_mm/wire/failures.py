"""Kafka's error codes, sorted by what we do about them."""

from __future__ import annotations

from typing import Any

from kafka import errors


def codes(*classes: Any) -> frozenset[int]:
    """The codes of these error classes of kafka-python."""
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
    """Whether a later try may succeed; also for a batch that was damaged on its way."""
    return code == _CORRUPT or bool(errors.for_code(code).retriable)


def is_damaged(code: int) -> bool:
    """Whether the broker found the batch damaged; before 2.4 also where a record lacks the key its topic wants."""
    return code == _CORRUPT


def is_unknown(code: int) -> bool:
    """Whether the broker does not say what is wrong."""
    return code == _UNKNOWN


def may_be_read_later(code: int) -> bool:
    """Whether a later fetch may succeed; a log that is damaged stays so, an error without a name need not."""
    return is_unknown(code) or (code != _CORRUPT and is_retriable(code))


def is_out_of_range(code: int) -> bool:
    """Whether the wanted offset is not in the log."""
    return code == _OUT_OF_RANGE


def leaves_open(code: int) -> bool:
    """Whether the broker may have appended a batch that it answered so."""
    return code in _LEAVES_OPEN


def is_duplicate(code: int) -> bool:
    """Whether the broker has this batch already."""
    return code == _DUPLICATE


def is_out_of_order(code: int) -> bool:
    """Whether an earlier batch of the producer is missing at the broker."""
    return code == _OUT_OF_ORDER


def needs_new_producer(code: int) -> bool:
    """Whether only another producer id can go on."""
    return code in _PRODUCER_UNKNOWN


def may_spare_some(code: int) -> bool:
    """Whether the records of a refused batch may fare better in smaller ones."""
    return not is_retriable(code) and code not in _FOR_ALL_RECORDS


def is_too_large(code: int) -> bool:
    """Whether it is the size that the target refuses."""
    return code in _SIZES


def refuses_the_codec(code: int) -> bool:
    """Whether the target takes such records, compressed in another way."""
    return code == _CODEC


def refuses_the_record(code: int) -> bool:
    """Whether the target will never take such a record, whoever sends it and when."""
    return code in _OF_THE_RECORD


def refuses_idempotence(code: int) -> bool:
    """Whether the broker does not let us have a producer id."""
    return code in _REFUSES_IDEMPOTENCE


_JAVA_NAMES = {"INVALID_TOPIC": "INVALID_TOPIC_EXCEPTION"}


def name(code: int) -> str:
    """What Java calls the error."""
    told: str = errors.for_code(code).message
    return _JAVA_NAMES.get(told, told)


def text(code: int) -> str:
    """What the error is called and what it means."""
    error = errors.for_code(code)
    return f"{error.message}: {error.description}"


def forbids(told: str) -> bool:
    """Whether this is the text of a right that is missing, on a topic or on a group."""
    return told in map(text, _FORBIDDEN)


def tells_of_members(told: str) -> bool:
    """Whether this is the text of a group's answer to somebody who is none of its members."""
    return told == text(errors.UnknownMemberIdError.errno)
