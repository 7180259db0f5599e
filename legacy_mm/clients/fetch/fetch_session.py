"""The state that one broker remembers of our Fetch requests, so that request and answer name only changes (KIP-227).

No socket, no thread. A broker that keeps no session (before 1.1, or with a full cache) answers with session 0 and gets
everything in each request. After a failure the broker's state is unknown, and a new session begins.

The options for reading, out of a consumer's settings, are here, too.
"""

from __future__ import annotations

from collections.abc import Iterable

from legacy_mm.base.kafka_clients import FetchSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.fetch_messages import FetchOptions, FetchResponse, Session, Wanted

_NEW = 0
"""The epoch that asks for a new session, in the place of the one that is named."""
_EPOCHS = (1 << 31) - 1


class FetchSession:
    """The session with one broker. For each request: `next`, then `answered` or `failed`."""

    def __init__(self) -> None:
        self._id = 0
        self._epoch = _NEW
        self._known: dict[TopicPartition, Wanted] = {}

    def next(self, wanted: Iterable[Wanted]) -> Session:
        """Return the request state that makes the broker read these partitions, in order where it does not know
        them.
        """
        before = self._known if self._epoch != _NEW else {}
        self._known = {want.partition: want for want in wanted}
        changed = [want for partition, want in self._known.items() if before.get(partition) != want]
        forgotten = [partition for partition in before if partition not in self._known]
        return Session(self._id, self._epoch, changed, forgotten)

    def answered(self, response: FetchResponse) -> bool:
        """Return True if the broker accepted the session; else it read nothing, and the next request starts a new
        one.
        """
        if response.error in (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH):
            self.failed()
            if response.error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
                self._id = 0
            return False
        self._id = response.session_id
        self._epoch = self._epoch % _EPOCHS + 1 if self._id else _NEW
        return True

    def failed(self) -> None:
        """Reset the session after a request without an answer."""
        self._epoch = _NEW


def options_from(settings: FetchSettings) -> FetchOptions:
    """Return the options that go into each fetch request; no more is asked for than may lie here."""
    return FetchOptions(
        max_wait_ms=round(settings.max_wait * 1000),
        min_bytes=settings.min_bytes,
        max_bytes=min(settings.max_bytes, settings.backlog_bytes),
        partition_bytes=settings.partition_bytes,
        committed_only=settings.committed_only,
        rack=settings.rack,
    )
