"""The start of a flow where MirrorMaker 2 has stopped: its offsets become those of the flow's group."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from legacy_mm.clients.native import error_text
from legacy_mm.clients.native.groups import GroupAdmin, raise_untold
from legacy_mm.clock import Deadline
from legacy_mm.features.connect_offsets.connect_offset_settings import ConnectOffsetSettings
from legacy_mm.logs import events
from legacy_mm.model import CommittedOffset, Offsets, TopicPartition
from legacy_mm.protocol.connect_offsets import Connector, next_offsets, place_of

MARK = "legacy_mm"
"""The name of the header of records that this program has written; MirrorMaker 2 reads no headers there."""


class Stored(NamedTuple):
    """A record of the topic."""

    key: bytes | None
    value: bytes | None
    ours: bool
    """This program has written it."""


def positions_of_mirror_maker_2(records: Iterable[Stored], settings: ConnectOffsetSettings) -> Offsets:
    """Return the next record to copy of each partition whose last word is MirrorMaker 2's.

    Where the last word is ours, the flow's group has the same offset or a later one, or a user has moved it.
    """
    last: dict[bytes, Stored] = {}
    for record in records:
        if record.key is not None and place_of(record.key) is not None:
            last[record.key] = record
    theirs = [(record.key, record.value) for record in last.values() if not record.ours]
    found = next_offsets(theirs)
    return found.get(Connector(settings.connector, settings.cluster), {})


class ConnectStart:
    """The look at the topic before the flow's first member joins the group."""

    def __init__(
        self,
        settings: ConnectOffsetSettings,
        group: str,
        groups: GroupAdmin,
        records: Callable[[Deadline], Iterable[Stored]],
        timeout: float,
    ) -> None:
        """Take the flow's group at the source and a reader of the topic, which raises HostError."""
        self._settings = settings
        self._group = group
        self._groups = groups
        self._records = records
        self._timeout = timeout

    def keep(self, topics: Collection[str]) -> None:
        """Commit MirrorMaker 2's offsets for the group where they differ from what the group has.

        (1) Read the topic. (2) Compare with the group. (3) Commit; a group with members refuses that, because another
        node has done it. Raises HostError, to be tried again.
        """
        deadline = Deadline.after(self._timeout)
        # (1)
        theirs = positions_of_mirror_maker_2(self._records(deadline), self._settings)
        theirs = {place: offset for place, offset in theirs.items() if place.topic in topics}
        if not theirs:
            return
        # (2)
        offsets, untold = self._groups.offsets([self._group], deadline)
        raise_untold(untold)
        moved = _moved(theirs, offsets.get(self._group, {}))
        if not moved:
            return
        # (3)
        refused = self._groups.commit({self._group: moved}, deadline)
        if error_text.tells_of_members(refused.get(self._group, "")):
            return
        raise_untold(refused)
        events.emit(events.RESUMED_FROM_CONNECT, group=self._group, count=len(moved), topic=self._settings.topic)


def _moved(theirs: Offsets, ours: Mapping[TopicPartition, CommittedOffset]) -> dict[TopicPartition, CommittedOffset]:
    return {
        place: CommittedOffset(offset)
        for place, offset in theirs.items()
        if place not in ours or ours[place].offset != offset
    }
