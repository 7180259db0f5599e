"""The handling of a record that cannot be sent: the end (`abort.on.send.failure`), or a count and a line.

A synchronous producer has no callback that counts and logs: the failure itself ends the stream, whatever the flag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from legacy_mm.clients.librdkafka.sender import FailedSend
from legacy_mm.errors import FailureKind, SendFailure, StreamFailure
from legacy_mm.logs import events

_FORBIDDEN, _INVALID = "TOPIC_AUTHORIZATION_FAILED", "INVALID_TOPIC_EXCEPTION"


class SendFailures:
    """Keeps the first failure that must end the copying; counts the others. Called from librdkafka: never raises."""

    def __init__(self, *, abort: bool, synchronous: bool = False) -> None:
        self._abort = abort or synchronous
        self._synchronous = synchronous
        self.dropped: Counter[str] = Counter()
        """Target topic -> records."""
        self._reasons: Counter[str] = Counter()
        self._ending: FailedSend | None = None

    def __call__(self, failed: FailedSend) -> None:
        """Handle a record that failed for good."""
        if failed.batch_bytes:
            self._ending = self._ending or failed
            return
        if not self._synchronous:
            self.dropped[failed.topic] += 1
            self._reasons[failed.code] += 1
        if not failed.refuses_idempotence and not self._synchronous:
            events.emit(
                events.SEND_FAILED,
                topic=failed.topic,
                key_size=_size(failed.key_size),
                value_size=_size(failed.value_size),
                reason=failed.reason,
                code=failed.code,
            )
        if self._abort or failed.fatal:
            self._ending = self._ending or failed

    def take_reasons(self) -> dict[str, int]:
        """Take reason -> records dropped since the last call."""
        reasons, self._reasons = self._reasons, Counter()
        return dict(reasons)

    def raise_if_ending(self, fatal: FailedSend | None) -> None:
        """Raise when copying must end: SendFailure, or one of its kinds when another producer may go on."""
        ending = self._ending or fatal
        if ending is None:
            return
        if ending.refuses_idempotence:
            raise IdempotenceRefused(ending.reason)
        if ending.batch_bytes:
            raise BatchRefused(ending.batch_bytes)
        if ending.needs_new_producer or (ending.fatal and not self._abort):
            raise ProducerBroken(ending.reason)
        told = self._ending is not None and not self._synchronous  # else there was no record with a line of its own
        failure = SendFailure if told else StreamFailure
        raise failure(f"sending to {ending.topic or 'the target'} failed: {ending.reason}")


def _size(size: int | None) -> str:
    return "null" if size is None else f"{size} bytes"


def ends_waiting(problem: str, topic: str, names: Mapping[str, str]) -> bool:
    """Return True if this problem, in Java's words, ends the wait for a target topic: its records fail, as in Java.

    The legacy tool never met a name made by renaming: such a topic is waited for.
    """
    renamed = any(copy == topic != name for name, copy in names.items())
    return problem == _FORBIDDEN or (problem == _INVALID and not renamed)


class IdempotenceRefused(SendFailure):
    """The target does not give us a producer id; the driver decides whether to go on without."""

    failure_kind = FailureKind.IDEMPOTENCE_REFUSED
    retriable = True


class BatchRefused(SendFailure):
    """The target takes no batch of so many bytes, and may take smaller ones."""

    failure_kind = FailureKind.BATCH_REFUSED
    retriable = True

    def __init__(self, size: int) -> None:
        super().__init__(f"the target refuses a batch of {size} bytes")
        self.batch_bytes = size


class ProducerBroken(SendFailure):
    """A producer that can send no more; a new one can."""

    failure_kind = FailureKind.OTHER
    retriable = True


class Unsendable(Exception):
    """The target will not have this topic; `code` says why."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
