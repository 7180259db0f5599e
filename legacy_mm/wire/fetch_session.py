"""What one broker remembers of our Fetch requests, so that request and answer name only what is new (KIP-227).

No socket, no thread. A broker that keeps no session (before 1.1, or its cache is full) answers with session 0 and is
told everything each time. After a failure nobody knows what the broker remembers: a new session begins.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka.errors import FetchSessionIdNotFoundError, InvalidFetchSessionEpochError

from legacy_mm.model import TopicPartition
from legacy_mm.protocol.fetch_messages import FetchResponse, Session, Wanted

_NEW = 0
"""The epoch that asks for a new session, in the place of the one that is named."""
_EPOCHS = (1 << 31) - 1
_NOT_FOUND: int = FetchSessionIdNotFoundError.errno
_WRONG_EPOCH: int = InvalidFetchSessionEpochError.errno


class FetchSession:
    """The session with one broker. For each request: `next`, then `answered` or `failed`."""

    def __init__(self) -> None:
        self._id = 0
        self._epoch = _NEW
        self._known: dict[TopicPartition, Wanted] = {}

    def next(self, wanted: Iterable[Wanted]) -> Session:
        """What to send so that the broker looks at these, in their order as far as it does not know them."""
        before = self._known if self._epoch != _NEW else {}
        self._known = {want.partition: want for want in wanted}
        told = [want for partition, want in self._known.items() if before.get(partition) != want]
        forgotten = [partition for partition in before if partition not in self._known]
        return Session(self._id, self._epoch, told, forgotten)

    def answered(self, response: FetchResponse) -> bool:
        """Whether the broker went along; else it has looked at nothing, and the next request begins anew."""
        if response.error in (_NOT_FOUND, _WRONG_EPOCH):
            self.failed()
            if response.error == _NOT_FOUND:
                self._id = 0
            return False
        self._id = response.session_id
        self._epoch = self._epoch % _EPOCHS + 1 if self._id else _NEW
        return True

    def failed(self) -> None:
        """No answer came."""
        self._epoch = _NEW
