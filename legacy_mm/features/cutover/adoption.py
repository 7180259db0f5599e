"""Gives the mirror's own group the offsets at which another mirror has stopped; nothing else is touched.

`Adoption.run`: (1) require that the group has no members, and no offsets in an open transaction; (2) list every
partition that the mirror would copy, with its start; (3) stop if the group has other offsets already, unless they may
be replaced; (4) commit; (5) read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import CommittedOffset, Offsets, TopicPartition
from legacy_mm.clients.group.groups import GroupAdmin, raise_untold
from legacy_mm.features.cutover.moving import Say, members_of, open_transactions

_ASK_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class AdoptionOptions:
    """The user's choices."""

    known_only: bool = False
    """Partitions without an offset get none.

    Otherwise those for which the group has none either begin with their log.
    """
    replace: bool = False
    dry_run: bool = False


class Adoption:
    """The adoption of offsets for one group at the source."""

    def __init__(self, groups: GroupAdmin, group: str, say: Say) -> None:
        self._groups = groups
        self._group = group
        self._say = say

    def run(self, stands: Offsets, log_starts: Mapping[TopicPartition, int], options: AdoptionOptions) -> bool:
        """Adopt the offsets; return False if nothing was changed.

        Raises LegacyMMError.

        `log_starts` has every partition that the mirror copies.
        """
        members = members_of(self._groups, self._group)
        if members:
            self._say(f"members: group {self._group} is in use; stop {members}")
        if pending := open_transactions(self._groups, self._group, log_starts):
            self._say(pending)
        before = self._groups.offsets_of(self._group, Deadline.after(_ASK_TIMEOUT))
        wanted: dict[TopicPartition, int] = {}
        for place, start in sorted(log_starts.items()):
            if place in stands:
                wanted[place] = stands[place]
                was = f" (now {before[place].offset})" if place in before else ""
                self._say(f"{place} at {stands[place]}{was}")
            elif place in before:
                self._say(f"{place}: no offset is known; it stays at {before[place].offset}")
            elif options.known_only:
                self._say(f"{place}: no offset is known; the mirror begins by auto.offset.reset")
            else:
                wanted[place] = start
                self._say(f"{place} at {start}; no offset is known: the log's beginning")
        others = [place for place in wanted if place in before and before[place].offset != wanted[place]]
        if others and not options.replace:
            self._say(f"not done: the group has other offsets for {len(others)} partitions; --replace overwrites them")
        ready = not members and not pending and (options.replace or not others)
        if options.dry_run:
            self._say("dry run: nothing was committed")
        elif ready:
            self._commit(wanted)
        return ready

    def _commit(self, wanted: Mapping[TopicPartition, int]) -> None:
        offsets = {place: CommittedOffset(offset) for place, offset in wanted.items()}
        if offsets:
            raise_untold(self._groups.commit({self._group: offsets}, Deadline.after(_ASK_TIMEOUT)))
        found = self._groups.offsets_of(self._group, Deadline.after(_ASK_TIMEOUT))
        other = [place for place, offset in offsets.items() if found.get(place) != offset]
        if other:
            raise HostError(f"group {self._group} does not have the offset committed for {other[0]}")
        self._say(f"committed for group {self._group}, and read back: {len(offsets)} partitions")
