"""The nodes of one flow share its partitions, under a protocol name that Kafka Connect's workers do not have.

So the broker lets only one kind of nodes into the group. Each node tells how it names copies and which topics it wants,
as digests. Nodes that name copies differently would split a topic's records over two copies: the later one is refused.
Nodes that want other topics do no harm, each copies what it wants, but they say it. Nodes that copy exactly once share
whole bundles out, under the protocol name of those.

A worker of Connect has all its flows in one group, each out of a source of its own. There each node tells its flow,
too, and how many partitions the topics have at its source, and the nodes of a flow share what is theirs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from legacy_mm.base.errors import StreamFailure
from legacy_mm.clients.group.group_protocol import GroupDescription, MemberShare, Subscription, user_data_of
from legacy_mm.clients.group.sharing import BUNDLES_PROTOCOL, Sharing
from legacy_mm.logs import events
from legacy_mm.policies.assignors import by_turns

PROTOCOL = "legacy_mm"
_KINDS: Mapping[str, str] = {
    PROTOCOL: "nodes of this flow that do not copy exactly once",
    BUNDLES_PROTOCOL: "nodes of this flow that copy exactly once",
}
_BUNDLES = "bundles"
_OTHERS = "such as workers of MirrorMaker 2"
_ALONE = "each copies those of its own file"
_TOGETHER = "those that not all of them choose are not copied"


class ByNodes:
    """One node's part in it."""

    def __init__(
        self, group: str, names: str, topics: str, client: str, bundles: Sharing | None = None, flow: str = ""
    ) -> None:
        """Take the group and the two digests; `client` is this member's name in log lines; `bundles`: of a node that
        copies exactly once; `flow`: this one's name where other flows are in the group.
        """
        self.protocols = (PROTOCOL,) if bundles is None else bundles.protocols
        self._bundles = bundles
        self._group = group
        self._names = names
        self._topics = topics
        self._client = client
        self._flow = flow
        self._differs = False

    @property
    def counts_partitions(self) -> bool:
        """True where the leader may be of another flow."""
        return bool(self._flow)

    def doubt(self, group: str, description: GroupDescription) -> str:
        """Return why this group cannot be joined; empty: it can, or nobody can say it while its members join."""
        if description.members and description.protocol not in ("", *self.protocols):
            who = ", ".join(f"{each.client_id} on {each.host.lstrip('/')}" for each in sorted(description.members))
            return (
                f"group {group} at the target has members of another kind (protocol {description.protocol}), "
                f"{_KINDS.get(description.protocol, _OTHERS)}: {who}; stop them, each with TERM so that it stores what "
                "it has copied, and this node takes over"
            )
        return "" if all(self._agrees(user_data_of(each)) for each in description.metadata) else self._refusal()

    def has_nodes(self, description: GroupDescription) -> bool:
        """Return True if the flow has nodes in this group, of either kind; also where nobody can say it while they
        join.
        """
        if len(description.metadata) < len(description.members) or description.protocol not in _KINDS:
            return bool(description.members)
        return any(_flow_of(user_data_of(each)) == self._flow for each in description.metadata)

    def user_data(self, counts: Mapping[str, int]) -> bytes:
        """Return the digests, and what a node that copies exactly once says of its bundles."""
        content: dict[str, object] = {"names": self._names, "topics": self._topics}
        if self._flow:
            content |= {"flow": self._flow, "partitions": [counts[topic] for topic in sorted(counts)]}
        of_bundles = None if self._bundles is None else self._bundles.user_data(counts)
        return _written(content if of_bundles is None else content | {_BUNDLES: of_bundles.decode()})

    def shares(
        self, protocol: str, members: Collection[Subscription], counts: Mapping[str, int]
    ) -> dict[str, MemberShare]:
        """Return the shares of the members that agree with their leader; the others get none, and are told so.

        Those of another flow agree with the first of them.
        """
        flows: dict[str, list[Subscription]] = {}
        for each in sorted(members, key=lambda member: member.subscriber.member):
            flows.setdefault(_flow_of(each.user_data), []).append(each)
        shares: dict[str, MemberShare] = {}
        for flow, nodes in flows.items():
            names = self._names if flow == self._flow else _read(nodes[0].user_data).get("names")
            shares |= self._shares_of_flow(protocol, nodes, names, _told(nodes) if flow else counts)
        return shares

    def _shares_of_flow(
        self, protocol: str, members: Collection[Subscription], names: object, counts: Mapping[str, int]
    ) -> dict[str, MemberShare]:
        alike = [each for each in members if _read(each.user_data).get("names") == names]
        agreeing = self._shared(protocol, alike, counts)
        differs = len({_read(each.user_data).get("topics") for each in members}) > 1
        shares: dict[str, MemberShare] = {}
        for each in members:
            member = each.subscriber.member
            content: dict[str, object] = {"refused": member not in agreeing, "differs": differs}
            share = agreeing.get(member, MemberShare(()))
            if share.user_data is not None:
                content[_BUNDLES] = share.user_data.decode()
            shares[member] = MemberShare(share.partitions, _written(content))
        return shares

    def take(self, generation: int, share: MemberShare) -> None:
        """Say when nodes want different topics, each time it begins; raise StreamFailure for a node that is refused."""
        content = _read(share.user_data)
        if content.get("refused"):
            raise StreamFailure(self._refusal())
        if self._bundles is not None:
            self._bundles.take(generation, MemberShare(share.partitions, _of_bundles(content)))
        differed, self._differs = self._differs, bool(content.get("differs"))
        if self._differs and not differed:
            result = _ALONE if self._bundles is None else _TOGETHER
            events.emit(events.NODES_DIFFER, client=self._client, group=self._group, result=result)

    def _shared(
        self, protocol: str, members: Collection[Subscription], counts: Mapping[str, int]
    ) -> Mapping[str, MemberShare]:
        if self._bundles is not None:
            content = [Subscription(each.subscriber, _of_bundles(_read(each.user_data))) for each in members]
            return self._bundles.shares(protocol, content, counts)
        shared = by_turns((each.subscriber for each in members), counts)
        return {member: MemberShare(partitions) for member, partitions in shared.items()}

    def _agrees(self, content: bytes | None) -> bool:
        return _flow_of(content) != self._flow or _read(content).get("names") == self._names

    def _refusal(self) -> str:
        return (
            f"another node of group {self._group} names copies in another way (replication policy, separator, aliases, "
            "rename rules or transforms), so the records of one topic would go to two: give all nodes the same file"
        )


def _of_bundles(content: Mapping[str, Any]) -> bytes | None:
    """Return what was said of bundles."""
    found = content.get(_BUNDLES)
    return found.encode() if isinstance(found, str) else None


def _flow_of(content: bytes | None) -> str:
    """Return the flow of a node; empty where the group has but one."""
    return str(_read(content).get("flow", ""))


def _told(members: Collection[Subscription]) -> dict[str, int]:
    """Return how many partitions each topic has, by the member that knows most."""
    found: dict[str, int] = {}
    for each in members:
        numbers = _read(each.user_data).get("partitions", ())
        for topic, number in zip(sorted(each.subscriber.topics), numbers, strict=False):
            found[topic] = max(number, found.get(topic, 0))
    return found


def _written(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _read(content: bytes | None) -> Mapping[str, Any]:
    try:
        found = json.loads(content or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
