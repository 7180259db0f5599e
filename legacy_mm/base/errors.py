"""The exception tree of legacy_mm.

::

    LegacyMMError                   exit 1    anything we can explain in one line
    ├── UsageError                  exit 1    the command line is wrong; the usage text follows
    ├── ConfigurationError          exit 1    a file or an option value is wrong
    ├── HostError                   exit 1    no Java, no network, no permission: the host lacks something
    │   └── NoAuthorizer            exit 1    the cluster keeps no access rules
    ├── StreamFailure               exit 255  a stream died; the whole mirror ends (the legacy tool's `exit(-1)`)
    │   ├── SendFailure             exit 255  a record could not be sent and abort.on.send.failure is on
    │   ├── InvalidPattern          exit 255  the topic pattern does not compile
    │   ├── Undecided               exit 255  a person must decide where to continue: auto.offset.reset is none
    │   │   └── SourceGap           exit 255  source offsets cannot be read any more and on.gap is fail
    │   ├── HandlerFailure          exit 255  a message handler or rebalance listener cannot be made, or failed
    │   ├── EndlessCopy             exit 255  topics, names or records would multiply for ever
    │   └── CorruptRecords          exit 255  bytes that should be record batches are not
    └── ChannelError                exit 255  the control channel broke or a peer did not prove itself

`exit_code`, `retriable`, `failure_kind` and `commits` are class attributes, so that code that retries, exits or commits
asks the class, not a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum


class FailureKind(StrEnum):
    """Failures of a copy task that the driver answers in a way of their own."""

    OTHER = "other"
    CORRUPT_RECORDS = "corrupt-records"
    SEND_FAILURE = "send-failure"
    UNDECIDED = "undecided"
    IDEMPOTENCE_REFUSED = "idempotence-refused"
    ENDLESS_COPY = "endless-copy"


class LegacyMMError(Exception):
    """Base of all our errors: the message is one line that says what to do."""

    exit_code = 1
    retriable = False
    failure_kind = FailureKind.OTHER
    commits = False
    """True if the streams stop as after a signal and commit what they copied.

    A supervisor that starts the mirror again would otherwise copy all of it once more each time.
    """
    plain = ""
    """The same in our own words, where the message is one of the legacy tool's: `legacy-mm` prints these."""
    last_words: tuple[str, ...] = ()
    """Lines logged after the error, at info level, before the process ends."""


class UsageError(LegacyMMError):
    """The command line is wrong."""


class ConfigurationError(LegacyMMError):
    """A properties file or an option value cannot be used."""

    property_name = ""
    """The wrong property of a client's file, if the error is about one."""
    beside: tuple[str, ...] = ()
    """Other properties: without one of them this one would be valid."""
    allowed = ""
    """The allowed values, if a list or a range gives them."""


@contextmanager
def blamed(property_name: str) -> Iterator[None]:
    """Name this property in every ConfigurationError raised inside, unless the error names its own."""
    try:
        yield
    except ConfigurationError as error:
        error.property_name = error.property_name or property_name
        raise


class HostError(LegacyMMError):
    """The host lacks something: Java, network, a readable file."""


class NoAuthorizer(HostError):
    """The cluster keeps no access rules: it has no authorizer."""


class StreamFailure(LegacyMMError):
    """A stream died; the mirror stops and exits as the legacy tool did when a thread died."""

    exit_code = 255
    commits = True


class SendFailure(StreamFailure):
    """A record could not be sent for good and `abort.on.send.failure` is on."""

    failure_kind = FailureKind.SEND_FAILURE


class InvalidPattern(StreamFailure):
    """The topic pattern is not a Java regular expression."""

    advice = ""
    """The reason, and the pattern that was probably meant."""


class Undecided(StreamFailure):
    """A person must decide where to continue in a partition; the other partitions are not affected."""

    failure_kind = FailureKind.UNDECIDED


class SourceGap(Undecided):
    """Offsets of the source cannot be read any more, and `on.gap` is fail."""


class HandlerFailure(StreamFailure):
    """A message handler or rebalance listener cannot be made, or failed."""

    timestamp: int | None = None
    """The time of the record on which it failed, in milliseconds; None: it has none, or no record is to blame."""


class EndlessCopy(StreamFailure):
    """Copying would never end: what is copied comes back, more of it each time. No later start can do better."""

    failure_kind = FailureKind.ENDLESS_COPY


class CorruptRecords(StreamFailure):
    """Bytes that should be record batches are torn or were changed; the caller adds the partition."""

    failure_kind = FailureKind.CORRUPT_RECORDS


class ChannelError(LegacyMMError):
    """The control channel broke, or a peer did not prove who it is."""

    exit_code = 255


def one_line(error: BaseException) -> str:
    """Return the text of any exception, as it is logged."""
    return str(error) if isinstance(error, LegacyMMError) else f"{type(error).__name__}: {error}"


def printed_error(error: LegacyMMError) -> str:
    """Return an error as the commands of `legacy-mm` print it: in our words where there are some, with its hints."""
    return "\n".join([error.plain or str(error), *getattr(error, "__notes__", ())])


def commits(error: BaseException) -> bool:
    """Return True if the streams commit after this error what they copied before it."""
    return isinstance(error, LegacyMMError) and error.commits
