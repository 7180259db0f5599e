"""The records of one topic that a group has not read yet. The group is never joined: only its offsets are read and
written.
"""

from __future__ import annotations

from collections.abc import Iterator

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.clients.group.groups import GroupAdmin
from legacy_mm.clients.topics.topic_reader import read_range

_CLIENT_ID = "legacy_mm-redrive"


class Backlog:
    """One topic of a cluster, from where the group is to the end that the topic has at first sight."""

    def __init__(self, settings: ConnectionSettings, topic: str, group: str, timeout: float) -> None:
        """Look where it begins and ends; `settings` are any client's of the cluster. Raises HostError."""
        self._connection = settings.named(_CLIENT_ID)
        self._timeout = timeout
        self._topic = topic
        self._group = group
        inspector, deadline = NativeInspector(self._connection), Deadline.after(timeout)
        count = inspector.partitions(deadline).get(topic)
        if count is None:
            raise HostError(f"the offsets of {topic} cannot be read: the topic does not exist, or may not be seen")
        every = [TopicPartition(topic, number) for number in range(count)]
        views = inspector.views(group, every, deadline)
        self._ranges = {place: (max(view.low, view.committed or 0), view.high) for place, view in views.items()}

    def read(self) -> Iterator[tuple[TopicPartition, LogRecord]]:
        """Read all records, in the order of each partition; raise HostError."""
        for place, (begin, end) in self._ranges.items():
            if begin < end:
                for batch in read_range(self._connection, *place, begin, end, committed=True):
                    yield from ((place, record) for record in batch)

    def done(self) -> None:
        """Commit the end for the group; raise HostError when the cluster refuses."""
        ends = {place: CommittedOffset(end) for place, (_, end) in self._ranges.items()}
        admin = GroupAdmin("target", self._connection)
        if refused := admin.commit({self._group: ends}, Deadline.after(self._timeout)):
            raise HostError(f"offsets of {self._topic} cannot be committed: {refused[self._group]}")
