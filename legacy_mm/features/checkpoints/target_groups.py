"""Gives groups without members at the target the translated offsets, never backwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import CommittedOffset, GroupOffsets, TopicPartition
from legacy_mm.clients.group.groups import DEAD, EMPTY, GroupAdmin, raise_untold
from legacy_mm.features.checkpoints.translation import offsets_to_set
from legacy_mm.logs import events
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from legacy_mm.protocol.mirror_records import Checkpoint

_IDLE = (EMPTY, DEAD)
_NONE: GroupOffsets = {}
GroupPlace = tuple[str, TopicPartition]
"""A group, and a partition at the target."""


class TargetGroups:
    """The consumer groups of the target."""

    def __init__(self, admin: GroupAdmin, metrics: OffsetMetrics) -> None:
        self._admin = admin
        self._metrics = metrics
        self._reported: set[str] = set()

    def follow(
        self,
        known: Mapping[str, Mapping[TopicPartition, Checkpoint]],
        rewound: Collection[GroupPlace],
        deadline: Deadline,
    ) -> None:
        """Move the groups to their checkpoints; raises LegacyMMError, also if it failed only for some.

        `rewound`: where a group has gone back at the source. It stays where it is at the target, which is told once.
        """
        committed, untold = self._committed([group for group, found in known.items() if found], deadline)
        for group, offsets in committed.items():
            self._tell_ahead(group, offsets, {at: known[group][at] for at in known[group] if (group, at) in rewound})
        wanted = {group: _wanted(committed[group], known[group]) for group in committed}
        wanted = {group: offsets for group, offsets in wanted.items() if offsets}
        refused = self._admin.commit(wanted, deadline) if wanted else {}
        for group in wanted.keys() - refused.keys():
            places = ", ".join(f"{place}={committed.offset}" for place, committed in sorted(wanted[group].items()))
            events.emit(events.DUTY_CHANGED, duty="group-offsets", change=f"group {group} continues at {places}")
        self._metrics.groups_synced(len(wanted.keys() - refused.keys()))
        raise_untold({**untold, **refused})

    def _tell_ahead(self, group: str, committed: GroupOffsets, rewound: Mapping[TopicPartition, Checkpoint]) -> None:
        ahead = [at for at in sorted(rewound) if at in committed and committed[at].offset > rewound[at].downstream]
        if not ahead:
            self._reported.discard(group)
        elif group not in self._reported:
            self._reported.add(group)
            events.emit(
                events.GROUP_STAYS,
                group=group,
                count=len(ahead),
                place=ahead[0],
                offset=committed[ahead[0]].offset,
                checkpoint=rewound[ahead[0]].downstream,
                topic=ahead[0].topic,
                number=ahead[0].partition,
            )

    def _committed(self, groups: list[str], deadline: Deadline) -> tuple[dict[str, GroupOffsets], dict[str, str]]:
        """Return the committed offsets of groups without members, and group -> reason for groups that could not be
        read.

        MirrorMaker 2 takes a group that it could not describe, or saw in use, for one that does not exist, and rewinds
        it when it has become empty meanwhile. This class leaves such a group until the next look.
        """
        states, untold = self._admin.states(groups, deadline)
        # also groups that no broker has listed: their broker may be away, and only a coordinator knows that none exists
        idle = [group for group, state in states.items() if state in _IDLE]
        offsets, unread = self._admin.offsets(idle, deadline)
        return {group: offsets.get(group, _NONE) for group in idle if group not in unread}, {**untold, **unread}


def _wanted(committed: GroupOffsets, checkpoints: Mapping[TopicPartition, Checkpoint]) -> GroupOffsets:
    wanted = offsets_to_set(
        {place: each.offset for place, each in committed.items()},
        {place: each.downstream for place, each in checkpoints.items()},
    )
    return {place: CommittedOffset(offset, checkpoints[place].metadata) for place, offset in wanted.items()}
