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
    │   ├── Undecided               exit 255  where to go on is left to a person: auto.offset.reset is none
    │   │   └── SourceGap           exit 255  source offsets cannot be read any more and on.gap is fail
    │   ├── HandlerFailure          exit 255  a message handler or rebalance listener cannot be made, or failed
    │   └── CorruptRecords          exit 255  bytes that should be record batches are not
    ├── EngineUnfit                 exit 255  this engine cannot do it, another one can
    └── ChannelError                exit 255  the control channel broke or a peer did not prove itself

`exit_code`, `retriable` and `commits` are class attributes, so that whoever retries, exits or commits asks the class,
not a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class LegacyMMError(Exception):
    """Base of all our errors: the message is one line that says what to do."""

    exit_code = 1
    retriable = False
    commits = False
    """Whether the streams stop as at a signal, and commit what they copied: a supervisor starts the mirror again, and
    each time all of it would be copied once more."""
    last_words: tuple[str, ...] = ()
    """What is said after it, at info level, before the process ends."""


class UsageError(LegacyMMError):
    """The words of the command line are wrong."""


class ConfigurationError(LegacyMMError):
    """A properties file or an option value cannot be used."""

    property_name = ""
    """The property of a client's file that is wrong, where it is one."""
    beside: tuple[str, ...] = ()
    """Others without one of which it would not be wrong."""
    allowed = ""
    """What could stand there, where a list or a range says it."""


@contextmanager
def blamed(property_name: str) -> Iterator[None]:
    """What is wrong in here is wrong with this property, unless it says with which."""
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


class SendFailure(StreamFailure):
    """A record could not be sent for good and `abort.on.send.failure` is on."""


class InvalidPattern(StreamFailure):
    """The topic pattern is no Java regular expression."""

    advice = ""
    """Why not, and what was probably meant."""


class Undecided(StreamFailure):
    """Where to go on in a partition is left to a person; the others are no worse for it."""

    commits = True


class SourceGap(Undecided):
    """Offsets of the source cannot be read any more, and `on.gap` is fail."""


class HandlerFailure(StreamFailure):
    """A message handler or rebalance listener cannot be made, or failed."""


class CorruptRecords(StreamFailure):
    """Bytes that should be record batches are torn or were changed; the caller adds whose they are."""

    commits = True


class EngineUnfit(LegacyMMError):
    """What is to be copied, or a cluster, is beyond the engine in use; the driver goes on with another one."""

    exit_code = 255


class ChannelError(LegacyMMError):
    """The control channel broke, or a peer did not prove who it is."""

    exit_code = 255


def one_line(error: BaseException) -> str:
    """What is said of any exception."""
    return str(error) if isinstance(error, LegacyMMError) else f"{type(error).__name__}: {error}"


def commits(error: BaseException) -> bool:
    """Whether what was copied before this error is committed."""
    return isinstance(error, LegacyMMError) and error.commits
