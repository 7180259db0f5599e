"""The consumer groups of a cluster that is not there. mypy holds it to `GroupAdmin`, whose methods it takes over."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from typing_extensions import override

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import CommittedOffset, GroupOffsets, TopicPartition
from legacy_mm.clients.group.group_protocol import DescribedGroup
from legacy_mm.clients.group.groups import DEAD, EMPTY, GroupAdmin


class FakeGroups(GroupAdmin):
    """Groups with what they have committed; none has members, unless a test says so."""

    def __init__(self, name: str = "source", **offsets: Mapping[TopicPartition, int]) -> None:
        super().__init__(name, ConnectionSettings())
        self.committed = {group: dict(found) for group, found in offsets.items()}
        self.in_use: set[str] = set()
        self.unlisted: set[str] = set()
        self.untold: dict[str, str] = {}
        self.asked = 0
        """How often for offsets."""
        self.refusals: dict[str, str] = {}
        """Group -> why it takes no commit."""

    @override
    def groups(self, deadline: Deadline) -> frozenset[str]:
        return frozenset(self.committed)

    @override
    def states(self, groups: Collection[str], deadline: Deadline) -> tuple[dict[str, str], dict[str, str]]:
        listed = self.committed.keys() - self.unlisted
        known = {group: EMPTY if group in listed else DEAD for group in groups}
        return known | dict.fromkeys(self.in_use & known.keys(), "Stable"), {}

    @override
    def offsets(self, groups: Collection[str], deadline: Deadline) -> tuple[dict[str, GroupOffsets], dict[str, str]]:
        self.asked += 1
        told = [group for group in groups if group not in self.untold]
        return {group: self._offsets(group) for group in told}, self.untold

    @override
    def commit(self, offsets: Mapping[str, GroupOffsets], deadline: Deadline) -> dict[str, str]:
        for group, found in offsets.items():
            if group not in self.refusals:
                wanted = {place: committed.offset for place, committed in found.items()}
                self.committed[group] = self.committed.get(group, {}) | wanted
        return {group: why for group, why in self.refusals.items() if group in offsets}

    def _offsets(self, group: str) -> GroupOffsets:
        return {place: CommittedOffset(offset, "m") for place, offset in self.committed.get(group, {}).items()}


class OneGroup(GroupAdmin):
    """The group `g` of a cluster; `refuses`: why it takes no commit, after the first if not `takes_all`."""

    def __init__(self, name: str, offsets: GroupOffsets) -> None:
        super().__init__(name, ConnectionSettings())
        self.held = dict(offsets)
        self.using: tuple[str, ...] = ()
        self.unstable: set[TopicPartition] = set()
        self.state = EMPTY
        self.refuses = ""
        self.takes_all = True

    @override
    def states(self, groups: Collection[str], deadline: Deadline) -> tuple[dict[str, str], dict[str, str]]:
        return dict.fromkeys(groups, self.state), {}

    @override
    def members(self, group: str, deadline: Deadline) -> tuple[str, ...]:
        return self.using

    @override
    def described(self, group: str, deadline: Deadline) -> DescribedGroup:
        if self.refuses:
            raise HostError(self.refuses)
        return DescribedGroup(group, self.state)

    @override
    def offsets(self, groups: Collection[str], deadline: Deadline) -> tuple[dict[str, GroupOffsets], dict[str, str]]:
        return {group: dict(self.held) for group in groups}, {}

    @override
    def pending(
        self, group: str, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> tuple[TopicPartition, ...]:
        return tuple(place for place in partitions if place in self.unstable)

    @override
    def commit(self, offsets: Mapping[str, GroupOffsets], deadline: Deadline) -> dict[str, str]:
        wanted = list(offsets["g"].items())
        self.held.update(wanted if self.takes_all else wanted[:1])
        if self.refuses == "no answer":
            raise HostError(self.refuses)
        return {"g": self.refuses} if self.refuses else {}

    @override
    def forget(self, group: str, partitions: Collection[TopicPartition], deadline: Deadline) -> str:
        for each in partitions:
            self.held.pop(each)
        return ""
