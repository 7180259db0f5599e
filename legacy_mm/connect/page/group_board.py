"""The whole group of a flow, of all processes: asked for only while somebody looks, and not each time."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from http import HTTPStatus
from typing import NamedTuple

from legacy_mm.base.clock import monotonic, wall
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.group.group_protocol import DescribedGroup, DescribedMember
from legacy_mm.connect.entities import ConnectRestError
from legacy_mm.logs import root_logger

ASK_SECONDS = 10.0
"""The shortest time between two questions."""
_MOST_MEMBERS = 100
_MOST_TOPICS = 10


class MemberRow(NamedTuple):
    """One member."""

    client_id: str
    host: str
    owned: float
    """The number of its partitions."""
    partitions: str


class GroupView(NamedTuple):
    """The group as it was when it was asked for."""

    at: float
    """Seconds since 1970."""
    group: str = ""
    state: str = ""
    members: Sequence[MemberRow] = ()
    more: int = 0
    """The number of members that are not shown."""
    error: str = ""


class GroupBoard:
    """Asks for groups, and keeps each answer for a moment. Any thread; who asks meanwhile waits for the answer."""

    def __init__(self, ask: Callable[[str], DescribedGroup], clock: Callable[[], float] = monotonic) -> None:
        """Take who is asked; it raises ConnectRestError."""
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, GroupView]] = {}

    def view(self, flow: str) -> GroupView:
        """Return the group of a flow, or why it is not known; raise 404 for a flow that does not run here."""
        with self._lock:
            now = self._clock()
            self._known = {name: each for name, each in self._known.items() if now - each[0] < ASK_SECONDS}
            if flow not in self._known:
                view = self._asked(flow)
                self._known[flow] = self._clock(), view
            return self._known[flow][1]

    def _asked(self, flow: str) -> GroupView:
        try:
            found = self._ask(flow)
        except ConnectRestError as error:
            if error.status is HTTPStatus.NOT_FOUND:
                raise
            return GroupView(wall(), error=root_logger.hidden(error.message))
        shown, more = found.members[:_MOST_MEMBERS], max(0, len(found.members) - _MOST_MEMBERS)
        return GroupView(wall(), found.group, found.state, [*map(_row, shown)], more)


def _row(member: DescribedMember) -> MemberRow:
    if member.partitions is None:
        return MemberRow(member.client_id, member.host, math.nan, "in a form that is not known here")
    return MemberRow(member.client_id, member.host, len(member.partitions), in_few_words(member.partitions))


def in_few_words(partitions: Collection[TopicPartition]) -> str:
    """Return partitions by topic, those that follow one another together: `orders 0-11, 14; payments 3`."""
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        topics.setdefault(topic, []).append(number)
    shown = [f"{topic} {', '.join(_ranges(topics[topic]))}" for topic in [*topics][:_MOST_TOPICS]]
    more = [f"{len(topics) - _MOST_TOPICS} topics more"] if len(topics) > _MOST_TOPICS else []
    return "; ".join([*shown, *more])


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    begin = end = numbers[0]
    for number in [*numbers[1:], -1]:
        if number == end + 1:
            end = number
            continue
        yield str(begin) if begin == end else f"{begin}-{end}"
        begin = end = number
