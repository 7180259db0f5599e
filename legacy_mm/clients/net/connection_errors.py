"""Errors between this process and a broker.

::

    LegacyMMError
    ├── ConnectionLost          retriable    connect anew; what was not answered may or may not have happened
    ├── ClusterUnreachable      retriable    no broker answered in time (a HostError)
    ├── ProducerForgotten       retriable    the broker has lost the sequence numbers of this producer
    └── StreamFailure
        ├── AuthenticationFailed             one side does not believe the other: password, certificate, host name
        ├── UnsupportedVersion               the broker is too old, or too new, for what is asked
        └── RequestRefused                   the broker answered with an error that no later try can mend
"""

from __future__ import annotations

from legacy_mm.base.errors import HostError, LegacyMMError, StreamFailure


class ConnectionLost(LegacyMMError):
    """The connection broke, was closed, or what came over it was no answer to what was asked."""

    exit_code = 255
    retriable = True


class ClusterUnreachable(HostError):
    """No broker of the cluster answered in time."""

    retriable = True


class ProducerForgotten(LegacyMMError):
    """The broker has lost what it knew of this producer id, and with it the order; what is not safe is sent anew."""

    exit_code = 255
    retriable = True


class AuthenticationFailed(StreamFailure):
    """One side does not believe the other; a later try would end the same way."""


class UnsupportedVersion(StreamFailure):
    """No version of an API is known to both sides; names API, broker and versions."""


class RequestRefused(StreamFailure):
    """A broker's answer is an error for good: no permission, no such topic."""
