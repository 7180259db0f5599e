"""The handling of a record that cannot be sent: the end (`abort.on.send.failure`), or a count and a line.

A synchronous producer has no callback that counts and logs: the failure itself ends the stream, whatever the flag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from legacy_mm.clients.native import error_text
from legacy_mm.dataplane.routes import Route
from legacy_mm.errors import FailureKind, SendFailure, StreamFailure
from legacy_mm.logs import events
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import RecordBatch

_FORBIDDEN, _INVALID = "TOPIC_AUTHORIZATION_FAILED", "INVALID_TOPIC_EXCEPTION"


SizesOf = Callable[[RecordBatch], Iterable[tuple[int | None, int | None]]]
"""A batch -> key and value size of each record, None for null."""


class FailedSend(NamedTuple):
    """A record that could not be sent. Sizes are bytes, None for null; `code` is Kafka's name of the error."""

    topic: str
    key_size: int | None
    value_size: int | None
    reason: str
    code: str


class SendFailures:
    """Keeps the first failure that must end the copying; counts the others."""

    def __init__(self, sizes: SizesOf, abort: bool, synchronous: bool = False) -> None:
        """Create the counts; `sizes` returns those of the records of a batch."""
        self._sizes = sizes
        self._abort = abort or synchronous
        self._synchronous = synchronous
        self.dropped: Counter[str] = Counter()
        """Target topic -> records."""
        self._reasons: Counter[str] = Counter()
        self._ending: FailedSend | None = None
        self._is_told = False

    def batch(self, topic: str, batch: RecordBatch, code: int, reason: str = "") -> None:
        """Handle a batch whose records failed for good; without a reason in the words of the error code."""
        why, name = reason or error_text.meaning(code), error_codes.name(code)
        for sizes in self._sizes(batch):
            self(FailedSend(topic, *sizes, why, name))

    def too_large(self, routes: Iterable[tuple[str, Route]]) -> None:
        """Handle what is too large to be sent; raise as `raise_if_ending`."""
        for topic, route in routes:
            for _, large, _ in route.too_large:
                self.batch(topic, large, ErrorCode.MESSAGE_TOO_LARGE)
        self.raise_if_ending()

    def __call__(self, failed: FailedSend) -> None:
        """Handle a record that failed for good."""
        if not self._synchronous:
            self.dropped[failed.topic] += 1
            self._reasons[failed.code] += 1
            events.emit(
                events.SEND_FAILED,
                topic=failed.topic,
                key_size=_size(failed.key_size),
                value_size=_size(failed.value_size),
                reason=failed.reason,
                code=failed.code,
            )
        if self._abort:
            self._ending = self._ending or failed

    def take_reasons(self) -> dict[str, int]:
        """Take reason -> records dropped since the last call."""
        reasons, self._reasons = self._reasons, Counter()
        return dict(reasons)

    @property
    def end_copying(self) -> bool:
        """Return True once a record has failed that ends the copying."""
        return self._ending is not None

    def raise_if_ending(self) -> None:
        """Raise once, when copying must end: SendFailure, or StreamFailure where no line has told of the record."""
        if self._ending is not None and not self._is_told:
            self._is_told = True
            failure = StreamFailure if self._synchronous else SendFailure
            raise failure(f"sending to {self._ending.topic} failed: {self._ending.reason}")


def _size(size: int | None) -> str:
    return "null" if size is None else f"{size} bytes"


def ends_waiting(problem: str, topic: str, names: Mapping[str, str]) -> bool:
    """Return True if this problem, in Java's words, ends the wait for a target topic: its records fail, as in Java.

    The legacy tool never met a name made by renaming: such a topic is waited for.
    """
    renamed = any(copy == topic != name for name, copy in names.items())
    return problem == _FORBIDDEN or (problem == _INVALID and not renamed)


class ProducerBroken(SendFailure):
    """A producer that can send no more; a new one can."""

    failure_kind = FailureKind.OTHER
    retriable = True


class Unsendable(Exception):
    """The target will not have this topic; `code` says why."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
