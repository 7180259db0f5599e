"""Groups without members at the target get the translated offsets, and never go back."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm import events
from legacy_mm.clock import Deadline
from legacy_mm.model import TopicPartition
from legacy_mm.policies.checkpoint_rule import offsets_to_set
from legacy_mm.protocol.mirror_records import Checkpoint
from legacy_mm.wire.groups import Committed, GroupAdmin


class GroupOffsets:
    """The consumer groups of the target."""

    def __init__(self, admin: GroupAdmin) -> None:
        self._admin = admin

    def sync(self, known: Mapping[str, Mapping[TopicPartition, Checkpoint]], deadline: Deadline) -> None:
        """Bring the groups to their checkpoints; raises HostError when the target does not answer."""
        groups = [group for group, found in known.items() if found]
        for group, state in self._admin.look(groups, deadline).items():
            checkpoints = known[group]
            wanted = offsets_to_set(state, {place: each.downstream for place, each in checkpoints.items()})
            if wanted:
                self._set(group, {place: Committed(to, checkpoints[place].metadata) for place, to in wanted.items()}, deadline)

    def _set(self, group: str, wanted: Mapping[TopicPartition, Committed], deadline: Deadline) -> None:
        reason = self._admin.commit(group, wanted, deadline)
        if reason:
            events.emit(events.DUTY_FAILED, duty="group-offsets", reason=f"group {group}: {reason}")
        else:
            places = ", ".join(f"{place}={to.offset}" for place, to in sorted(wanted.items()))
            events.emit(events.DUTY_CHANGED, duty="group-offsets", change=f"commit for group {group}: {places}")
