"""The members of a group share out whole bundles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from legacy_mm.base.kafka_clients import ConsumerSettings
from legacy_mm.base.reports import Statistics
from legacy_mm.clients.group.group_protocol import GroupDescription, MemberShare, Subscription
from legacy_mm.clients.group.member import MembershipListener
from legacy_mm.clients.group.membership import NativeMember
from legacy_mm.clients.group.sharing import BUNDLES_PROTOCOL
from legacy_mm.clients.net.error_lines import ErrorLines
from legacy_mm.logs import events
from legacy_mm.transactions.bundle import BUNDLES
from legacy_mm.transactions.bundle_assignor import share_out
from legacy_mm.transactions.evidence import group_doubt, mark
from legacy_mm.transactions.member_data import assignment_data, given_bundles, subscriber_of, subscription_data


class ByBundles:
    """Whole bundles. A member names those that it had, and in which generation, so it keeps most of them."""

    protocols: Sequence[str] = (BUNDLES_PROTOCOL,)
    counts_partitions = False

    def __init__(self, bundles: int, client: str) -> None:
        """Take part with the flow's number of bundles; `client` is this member's name in log lines."""
        self._bundles = bundles
        self._client = client
        self._generation = -1
        self._held: frozenset[int] = frozenset()
        self._left_out: frozenset[str] = frozenset()

    def doubt(self, group: str, found: GroupDescription) -> str:
        """Return why this group cannot be joined; empty: it can, or nobody can say it while its members join."""
        return group_doubt(group, found.protocol, BUNDLES_PROTOCOL, found.members)

    def user_data(self, counts: Mapping[str, int]) -> bytes:
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


def bundle_member(
    settings: ConsumerSettings,
    client_id: str,
    listener: MembershipListener,
    on_statistics: Callable[[Statistics], None],
    timeout: float,
    positions_topic: str,
) -> NativeMember:
    """Return a member of a group that shares out whole bundles, whose offsets carry the mark of this topic."""
    tell, sharing = ErrorLines(client_id).tell, ByBundles(BUNDLES, client_id)
    return NativeMember(settings, client_id, listener, on_statistics, tell, timeout, sharing, mark(positions_topic))
