"""Kafka's error codes, as brokers send them, and what each means for us: the one table."""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """The names and numbers of Java's `org.apache.kafka.common.protocol.Errors`, Kafka 4.3."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    REASSIGNMENT_IN_PROGRESS = 60
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    LISTENER_NOT_FOUND = 72
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FETCH_SESSION_TOPIC_ID_ERROR = 106
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    OFFSET_MOVED_TO_TIERED_STORAGE = 109
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    INVALID_REGISTRATION = 119
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    FENCED_STATE_EPOCH = 124
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127
    INVALID_REGULAR_EXPRESSION = 128
    REBOOTSTRAP_REQUIRED = 129
    STREAMS_INVALID_TOPOLOGY = 130
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131
    STREAMS_TOPOLOGY_FENCED = 132
    SHARE_SESSION_LIMIT_REACHED = 133


E = ErrorCode
RETRIABLE = frozenset(
    {
        E.CORRUPT_MESSAGE,
        E.UNKNOWN_TOPIC_OR_PARTITION,
        E.LEADER_NOT_AVAILABLE,
        E.NOT_LEADER_OR_FOLLOWER,
        E.REQUEST_TIMED_OUT,
        E.REPLICA_NOT_AVAILABLE,
        E.NETWORK_EXCEPTION,
        E.COORDINATOR_LOAD_IN_PROGRESS,
        E.COORDINATOR_NOT_AVAILABLE,
        E.NOT_COORDINATOR,
        E.NOT_ENOUGH_REPLICAS,
        E.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        E.NOT_CONTROLLER,
        E.CONCURRENT_TRANSACTIONS,
        E.KAFKA_STORAGE_ERROR,
        E.FETCH_SESSION_ID_NOT_FOUND,
        E.INVALID_FETCH_SESSION_EPOCH,
        E.LISTENER_NOT_FOUND,
        E.FENCED_LEADER_EPOCH,
        E.UNKNOWN_LEADER_EPOCH,
        E.OFFSET_NOT_AVAILABLE,
        E.PREFERRED_LEADER_NOT_AVAILABLE,
        E.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        E.ELECTION_NOT_NEEDED,
        E.UNSTABLE_OFFSET_COMMIT,
        E.THROTTLING_QUOTA_EXCEEDED,
        E.UNKNOWN_TOPIC_ID,
        E.INCONSISTENT_TOPIC_ID,
        E.FETCH_SESSION_TOPIC_ID_ERROR,
        E.SHARE_SESSION_NOT_FOUND,
        E.INVALID_SHARE_SESSION_EPOCH,
        E.SHARE_SESSION_LIMIT_REACHED,
    }
)
"""The errors that are a `RetriableException` in Java."""
SIZES = frozenset({E.MESSAGE_TOO_LARGE, E.RECORD_LIST_TOO_LARGE})
"""The batch is larger than `max.message.bytes`, or than the target's `segment.bytes`: smaller ones may be accepted."""
OF_THE_RECORD = SIZES | {E.INVALID_TIMESTAMP, E.INVALID_RECORD}
PRODUCER_UNKNOWN = frozenset(
    {E.OUT_OF_ORDER_SEQUENCE_NUMBER, E.INVALID_PRODUCER_EPOCH, E.UNKNOWN_PRODUCER_ID, E.PRODUCER_FENCED}
)
"""The broker and this producer id have lost each other."""
REFUSES_IDEMPOTENCE = frozenset(
    {E.CLUSTER_AUTHORIZATION_FAILED, E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, E.UNSUPPORTED_VERSION}
)
COORDINATOR_MOVED = frozenset({E.COORDINATOR_LOAD_IN_PROGRESS, E.COORDINATOR_NOT_AVAILABLE, E.NOT_COORDINATOR})
GENERATION_OVER = frozenset({E.ILLEGAL_GENERATION, E.REBALANCE_IN_PROGRESS, E.STALE_MEMBER_EPOCH})
MEMBER_UNKNOWN = frozenset({E.UNKNOWN_MEMBER_ID, E.FENCED_MEMBER_EPOCH})
READ_LATER = RETRIABLE - {E.CORRUPT_MESSAGE} | {E.UNKNOWN_SERVER_ERROR, E.BROKER_NOT_AVAILABLE}
"""A later fetch may succeed. A damaged log stays damaged; an error without a name may go away."""
_LEAVES_OPEN = frozenset(
    {
        E.UNKNOWN_SERVER_ERROR,
        E.NONE,  # the connection broke
        E.NOT_LEADER_OR_FOLLOWER,
        E.REQUEST_TIMED_OUT,
        E.NETWORK_EXCEPTION,
        E.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        E.KAFKA_STORAGE_ERROR,
    }
)
_FOR_ALL_RECORDS = REFUSES_IDEMPOTENCE | {
    E.TOPIC_AUTHORIZATION_FAILED,
    E.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    E.UNSUPPORTED_COMPRESSION_TYPE,
}


def name(code: int) -> str:
    """Return Java's name of the error."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return E.UNKNOWN_SERVER_ERROR.name


def is_retriable(code: int) -> bool:
    """Return True if a later try may succeed; also for a batch that was damaged on its way."""
    return code in RETRIABLE


def is_damaged(code: int) -> bool:
    """Return True if the broker found the batch damaged; before 2.4 also if a record lacks the key its topic
    requires.
    """
    return code == E.CORRUPT_MESSAGE


def is_unknown(code: int) -> bool:
    """Return True if the broker does not name the problem."""
    return code == E.UNKNOWN_SERVER_ERROR


def may_be_read_later(code: int) -> bool:
    """Return True if a later fetch may succeed."""
    return code in READ_LATER


def is_out_of_range(code: int) -> bool:
    """Return True if the wanted offset is not in the log."""
    return code == E.OFFSET_OUT_OF_RANGE


def leaves_open(code: int) -> bool:
    """Return True if the broker may have appended a batch despite this answer."""
    return code in _LEAVES_OPEN


def is_duplicate(code: int) -> bool:
    """Return True if the broker has this batch already."""
    return code == E.DUPLICATE_SEQUENCE_NUMBER


def is_out_of_order(code: int) -> bool:
    """Return True if the broker misses an earlier batch of the producer."""
    return code == E.OUT_OF_ORDER_SEQUENCE_NUMBER


def needs_new_producer(code: int) -> bool:
    """Return True if only a new producer id can continue."""
    return code in PRODUCER_UNKNOWN


def may_spare_some(code: int) -> bool:
    """Return True if the records of a refused batch may be accepted in smaller batches."""
    return not is_retriable(code) and code not in _FOR_ALL_RECORDS


def is_too_large(code: int) -> bool:
    """Return True if the target refuses the size of a batch."""
    return code in SIZES


def refuses_the_codec(code: int) -> bool:
    """Return True if the target takes such records only with another compression."""
    return code == E.UNSUPPORTED_COMPRESSION_TYPE


def refuses_the_record(code: int) -> bool:
    """Return True if the target will never take such a record, from any client at any time."""
    return code in OF_THE_RECORD


def refuses_idempotence(code: int) -> bool:
    """Return True if the broker does not grant us a producer id."""
    return code in REFUSES_IDEMPOTENCE
