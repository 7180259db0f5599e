"""The ways in which the members of a group share its partitions out: by Java's assignors here.

(1) Each member says what it wants, with user data; (2) their leader makes the shares; (3) each takes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from legacy_mm.clients.group.group_protocol import GroupDescription, MemberShare, Subscription
from legacy_mm.policies.assignors import ASSIGNORS

BUNDLES_PROTOCOL = "legacy-mm-bundles"
"""The name of sharing out by whole bundles. Another way would be another protocol, and its members would not join."""
GroupDoubt = Callable[[str, GroupDescription], str]
"""A group and its members -> why nobody may join them; empty: one may."""


class Sharing(Protocol):
    """One member's part in it."""

    @property
    def protocols(self) -> Sequence[str]:
        """Names in the group's protocol, in the order of preference."""

    @property
    def counts_partitions(self) -> bool:
        """True: a member tells the others how many partitions its topics have, because its source may be its own."""

    @property
    def doubt(self) -> GroupDoubt | None:
        """The question to ask before a member joins; None: whoever is in the group may be there."""

    def user_data(self, counts: Mapping[str, int]) -> bytes | None:
        """Return what a member says beside its topics when it joins; `counts` is empty unless it counts partitions."""

    def shares(
        self, protocol: str, members: Collection[Subscription], counts: Mapping[str, int]
    ) -> Mapping[str, MemberShare]:
        """Return the share of each member; `counts` is topic -> the number of its partitions at this member's source.
        Raise StreamFailure.
        """

    def take(self, generation: int, share: MemberShare) -> None:
        """Take notice of this member's share. Raise StreamFailure if it was not made in this way."""


class ByAssignors:
    """Java's assignors, which librdkafka's members have, too."""

    counts_partitions = False
    doubt = None

    def __init__(self, names: Sequence[str]) -> None:
        self.protocols = names

    def user_data(self, counts: Mapping[str, int]) -> bytes | None:
        """Say nothing: an assignor goes by the topics alone."""
        return None

    def shares(
        self, protocol: str, members: Collection[Subscription], counts: Mapping[str, int]
    ) -> dict[str, MemberShare]:
        """Return the shares that the assignor makes, which the members have agreed on."""
        shared = ASSIGNORS[protocol]([each.subscriber for each in members], counts)
        return {member: MemberShare(partitions) for member, partitions in shared.items()}

    def take(self, generation: int, share: MemberShare) -> None:
        """Keep nothing: the next assignment does not depend on it."""
