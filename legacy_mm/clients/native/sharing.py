"""The ways in which the members of a group share its partitions out: Java's assignors, and whole bundles.

(1) Each member says what it wants, with user data; (2) their leader makes the shares; (3) each takes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from legacy_mm.clients.native.group_protocol import GroupDescription, MemberShare, Subscription
from legacy_mm.exactly_once.bundle_assignor import PROTOCOL, share_out
from legacy_mm.exactly_once.evidence import group_doubt
from legacy_mm.exactly_once.member_data import assignment_data, given_bundles, subscriber_of, subscription_data
from legacy_mm.logs import events
from legacy_mm.policies.assignors import ASSIGNORS

GroupDoubt = Callable[[str, GroupDescription], str]
"""A group and its members -> why nobody may join them; empty: one may."""


class Sharing(Protocol):
    """One member's part in it."""

    @property
    def protocols(self) -> Sequence[str]:
        """Names in the group's protocol, in the order of preference."""

    @property
    def doubt(self) -> GroupDoubt | None:
        """The question to ask before a member joins; None: whoever is in the group may be there."""

    def user_data(self) -> bytes | None:
        """Return what a member says beside its topics when it joins."""

    def shares(
        self, protocol: str, members: Collection[Subscription], counts: Mapping[str, int]
    ) -> Mapping[str, MemberShare]:
        """Return the share of each member; `counts` is topic -> the number of its partitions. Raise StreamFailure."""

    def take(self, generation: int, share: MemberShare) -> None:
        """Take notice of this member's share. Raise StreamFailure if it was not made in this way."""


class ByAssignors:
    """Java's assignors, which librdkafka's members have, too."""

    doubt = None

    def __init__(self, names: Sequence[str]) -> None:
        self.protocols = names

    def user_data(self) -> bytes | None:
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


class ByBundles:
    """Whole bundles. A member names those that it had, and in which generation, so it keeps most of them."""

    protocols = (PROTOCOL,)

    def __init__(self, bundles: int, client: str) -> None:
        """Take part with the flow's number of bundles; `client` is this member's name in log lines."""
        self._bundles = bundles
        self._client = client
        self._generation = -1
        self._held: frozenset[int] = frozenset()
        self._left_out: frozenset[str] = frozenset()

    def doubt(self, group: str, found: GroupDescription) -> str:
        """Return why this group cannot be joined; empty: it can, or nobody can say it while its members join."""
        return group_doubt(group, found.protocol, PROTOCOL, found.members)

    def user_data(self) -> bytes:
        """Return the bundles of the last generation that this member was in."""
        return subscription_data(self._bundles, self._generation, self._held)

    def shares(
        self, protocol: str, members: Collection[Subscription], counts: Mapping[str, int]
    ) -> dict[str, MemberShare]:
        """Return the shares, with user data that say which bundles they are."""
        subscribers = [
            subscriber_of(each.member, frozenset(each.topics), user_data, self._bundles) for each, user_data in members
        ]
        shared = share_out(subscribers, counts, self._bundles)
        return {
            member: MemberShare(partitions, assignment_data(shared, member, self._bundles))
            for member, partitions in shared.partitions.items()
        }

    def take(self, generation: int, share: MemberShare) -> None:
        """Keep the bundles in mind; say which topics are left out, when they are others than before."""
        given = given_bundles(share.user_data, share.partitions, self._bundles)
        self._generation, self._held = generation, given.held
        if given.left_out == self._left_out:
            return
        self._left_out = given.left_out
        if given.left_out:
            events.emit(events.TOPICS_LEFT_OUT, client=self._client, topics=", ".join(sorted(given.left_out)))
        else:
            events.emit(events.TOPICS_TAKEN_IN, client=self._client)
