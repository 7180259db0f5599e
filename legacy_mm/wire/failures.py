"""Kafka's error codes, sorted by what we do about them. Fetcher, appender and engine ask these questions only."""

from __future__ import annotations

from kafka import errors as kafka_errors

UNKNOWN_TOPIC, TIMED_OUT, TOO_LARGE, INVALID_RECORD = 3, 7, 10, 87
_UNKNOWN, _OUT_OF_RANGE, _CORRUPT = -1, 1, 2
_OUT_OF_ORDER, _DUPLICATE = 45, 46
_INVALID_TOPIC, _UNKNOWN_MEMBER, _TOPIC_FORBIDDEN, _GROUP_FORBIDDEN = 17, 25, 29, 30
_PRODUCER_UNKNOWN = {_OUT_OF_ORDER, 47, 59, 90}
"""Out of order, invalid epoch, unknown producer id, fenced: the broker and this producer id have lost each other."""
_SIZES = {TOO_LARGE, 18}
"""Record too large, batch too large for a segment."""
_OF_THE_RECORD = {*_SIZES, 32, INVALID_RECORD}
"""Also its timestamp, and whatever else a broker finds in a record."""
_LEAVES_OPEN = {_UNKNOWN, 0, 6, TIMED_OUT, 13, 20, 56}
"""Nobody knows (a broken connection is 0), no leader any more, too few replicas after the append, a failing disk."""
_CODEC = 76
_FOR_ALL_RECORDS = {29, 31, 35, 43, 53, _CODEC}
"""Not authorized (topic, cluster, transactional id), unsupported version, format or codec."""


def is_retriable(code: int) -> bool:
    """Whether a later try may succeed; also for a batch that was damaged on its way."""
    return code == _CORRUPT or bool(kafka_errors.for_code(code).retriable)


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
    return code in (31, 35, 53)


def text(code: int) -> str:
    """What the error is called and what it means."""
    error = kafka_errors.for_code(code)
    return f"{error.message}: {error.description}"


def forbids(told: str) -> bool:
    """Whether this is the text of a right that is missing, on a topic or on a group."""
    return told in map(text, (_TOPIC_FORBIDDEN, _GROUP_FORBIDDEN))


def tells_of_members(told: str) -> bool:
    """Whether this is the text of a group's answer to somebody who is none of its members."""
    return told == text(_UNKNOWN_MEMBER)


def hindrance(problem: type[Exception] | None) -> str:
    """What keeps brokers from making a topic; empty where it is only not known yet, or has no leader."""
    if problem is None or problem.retriable or problem.invalid_metadata:  # type: ignore[attr-defined]
        return ""
    return text(problem.errno)  # type: ignore[attr-defined]


def for_good(problem: type[Exception] | None) -> int:
    """The code of a topic's problem that nobody waits out, or 0: as in Java, for a name or a right, and no other."""
    code = 0 if problem is None else int(problem.errno)  # type: ignore[attr-defined]
    return code if code in (_INVALID_TOPIC, _TOPIC_FORBIDDEN) else 0
