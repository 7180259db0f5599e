"""A flow that holds MirrorMaker 2's place: positions in the workers' offsets topic, membership in their group.

Both are at the target. Imported only if MirrorMaker 2's file asks for the flow (invariant E).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from legacy_mm.base.clock import Deadline, sleep
from legacy_mm.base.errors import ConfigurationError, HostError, StreamFailure
from legacy_mm.base.kafka_clients import ConsumerSettings
from legacy_mm.base.model import CommittedOffset, Lacking, Offsets, TopicPartition
from legacy_mm.base.reports import Statistics
from legacy_mm.clients.group.group_protocol import DescribedGroup, GroupDescription
from legacy_mm.clients.group.groups import DEAD, EMPTY, raise_untold, require_no_members
from legacy_mm.clients.group.member import MembershipListener
from legacy_mm.clients.group.membership import NativeMember, WorkerGroup
from legacy_mm.clients.group.sharing import Sharing
from legacy_mm.clients.topics.compacted_topic import CompactedTopic
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter
from legacy_mm.features.connect_offsets import stored_positions as records
from legacy_mm.features.connect_offsets.connect_member import ConnectMember
from legacy_mm.features.connect_offsets.feature import ConnectOffsetSettings
from legacy_mm.features.connect_offsets.node_sharing import ByNodes
from legacy_mm.features.connect_offsets.offsets_topic import FORGOTTEN, OffsetsTopic
from legacy_mm.features.connect_offsets.source_logs import SourceLogs
from legacy_mm.flow import group_members
from legacy_mm.flow.admin_clients import AdminClients
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.metrics.registry import Registry

_CLIENT = "legacy_mm-offsets"
_TOPIC_TIMEOUT = 10.0
"""Brokers hear one after the other of a topic that was just made."""
_RETRY_BACKOFF = 0.2
_COMPACT = "compact"


class WorkersPlace:
    """The place of MirrorMaker 2's workers, for all streams of one flow."""

    def __init__(
        self,
        settings: Settings,
        offsets: ConnectOffsetSettings,
        registry: Registry | None = None,
        bundles: Callable[[str], Sharing] | None = None,
    ) -> None:
        """Take the flow, and who counts what it asks while it runs. `bundles` makes the sharing of exactly once."""
        self._bundles = bundles
        self._settings = settings
        self._storage = offsets
        self._silence = settings.source.api_timeout
        connection = settings.worker_connection
        self.positions = OffsetsTopic(
            offsets,
            CompactedTopic(connection, offsets.topic, _CLIENT),
            SourceLogs(settings.source.connection, settings.source.api_timeout),
            partial(InternalTopicWriter, connection, offsets.topic),
        )
        assert settings.connect_names is not None, "the flow is of MirrorMaker 2's file"
        self._group = WorkerGroup(connection.named(settings.connect_names.worker), offsets.workers)
        self._admin, self._groups = AdminClients(settings, registry).of_worker()
        self._names, self._topics = _digests(settings)
        self._is_there: bool | None = None
        """The offsets topic; None: nobody has looked."""

    def member(
        self,
        client: ConsumerSettings,
        name: str,
        commit_metadata: str,
        listener: MembershipListener,
        on_statistics: Callable[[Statistics], None],
    ) -> ConnectMember:
        """Return a member for one stream; `commit_metadata` goes with every position that it stores."""
        timeout = self._settings.source.api_timeout

        def join(listener: MembershipListener) -> NativeMember:
            words = client, name, listener, on_statistics, timeout
            return group_members.node_member(*words, self._group, self._sharing(name))

        return ConnectMember(join, listener, self.positions, commit_metadata)

    @property
    def rebalance_timeout(self) -> float:
        """Seconds for which the group waits for a member that has not given up its partitions yet."""
        return self._storage.workers.max_poll_interval

    def start(self) -> None:
        """Do nothing: the first commit starts the writer."""

    def stop(self) -> None:
        """Do nothing: the last commits come later."""

    def finish(self, deadline: Deadline) -> None:
        """Wait until what was committed is written."""
        self.positions.flush(deadline)

    def check(self, keepers: Collection[str]) -> None:
        """Make certain that positions can be kept, before the first record is copied; `keepers` keep offsets, too.

        (1) The principal may read and write the offsets topic, or raise StreamFailure. (2) It is there: raise
        StreamFailure if it is still not, though the duty has asked for it. (3) Raise ConfigurationError if it, or a
        keeper, forgets what it was told; a topic that is missing or may not be described does not.

        Raises HostError, to be tried again.
        """
        admin, topic = self._admin, self._storage.topic
        # (1)
        if why := admin.missing_rights(topic, ("Read", "Write"), Deadline.after(self._silence)):
            raise StreamFailure(f"positions cannot be kept. {why}")
        # (2)
        known_by = Deadline.after(_TOPIC_TIMEOUT)
        while topic not in admin.topics(Deadline.after(self._silence)):
            if known_by.expired():
                raise StreamFailure(
                    f"topic {topic}, which keeps positions, is missing at the target, and the duty internal-topics "
                    "could not make it: its line says why"
                )
            sleep(_RETRY_BACKOFF)
        self._is_there = True
        # (3)
        found, _ = admin.properties({self._storage.topic, *keepers}, Deadline.after(self._silence))
        for topic, rows in sorted(found.items()):
            policy = next((each.value for each in rows if each.name == "cleanup.policy"), _COMPACT)
            if policy != _COMPACT:
                raise ConfigurationError(
                    f"topic {topic} at the target has cleanup.policy={policy}, so it would forget positions, and "
                    "MirrorMaker 2 would refuse it: set cleanup.policy=compact, or name another topic"
                )

    def set_position(self, place: TopicPartition, where: str) -> str:
        """Return how a person sets a position; `where` in words of kafka-consumer-groups.sh."""
        offset = int(where.removeprefix("--to-offset ").replace("--to-earliest", "0"))
        record = f"{records.key(self._storage, place).decode()}|{records.value(offset).decode()}"
        return (
            f"while no node runs, {self._how_to_make_it()}write the position into topic {self._storage.topic} at the "
            "target, for example with "
            f"echo '{record}' | kafka-console-producer.sh --bootstrap-server TARGET --topic {self._storage.topic} "
            "--property parse.key=true --property key.separator='|'"
        )

    def _how_to_make_it(self) -> str:
        """Return how the topic is made where it is missing: brokers would make one that forgets positions.

        The target is asked once: hundreds of lines may need the answer.
        """
        topic, numbers = self._storage.topic, ""
        if self._is_there is None:
            try:
                self._is_there = topic in self._admin.topics(Deadline.after(self._silence))
            except HostError:
                return ""
        if self._is_there:
            return ""
        if self._storage.partitions > 0:
            numbers += f" --partitions {self._storage.partitions}"
        if self._storage.replication_factor > 0:
            numbers += f" --replication-factor {self._storage.replication_factor}"
        return (
            f"make the topic first, with kafka-topics.sh --bootstrap-server TARGET --create --topic {topic}{numbers} "
            "--config cleanup.policy=compact, and "
        )

    def has_started(self, topics: Collection[str], deadline: Deadline) -> bool:
        """Return True if a partition of one of these topics has a position. Raise HostError."""
        return any(place.topic in topics for place in self.positions.every_position(self._silence))

    def begin(self, starts: Offsets, deadline: Deadline) -> bool:
        """Keep where the flow begins; False if another node is there already. Raise HostError."""
        if self.is_in_use(deadline):
            return False
        self.commit(starts, deadline)
        return True

    def offsets(self, deadline: Deadline) -> dict[TopicPartition, CommittedOffset]:
        """Return all positions of the flow. Raise HostError."""
        return self.positions.every_position(deadline.remaining())

    def lacking(self, partitions: Collection[TopicPartition], deadline: Deadline) -> Lacking:
        """Return those that have no position which counts. Raise HostError."""
        return self.positions.lacking(partitions, deadline.remaining())

    def is_in_use(self, deadline: Deadline) -> bool:
        """Return True while nodes of the flow run. Raise HostError."""
        if self._storage.shares_group:
            return bool(self._members(deadline))
        return self._state(deadline) not in (EMPTY, DEAD)

    def commit(self, offsets: Offsets, deadline: Deadline) -> None:
        """Write positions while no node runs. Raise HostError."""
        self.positions.moved(offsets)
        self._write(offsets, deadline)

    def forget(self, partitions: Collection[TopicPartition], deadline: Deadline) -> None:
        """Write that there are no positions while no node runs. Raise HostError."""
        self._write(dict.fromkeys(partitions, FORGOTTEN), deadline)

    def _write(self, offsets: Offsets, deadline: Deadline) -> None:
        failed: list[str] = []
        self.positions.every_position(deadline.remaining())  # who has read the topic knows its partitions
        self.positions.write(offsets, "", lambda _, __, reason: failed.append(reason) if reason else None)
        if not self.positions.flush(deadline) or failed:
            raise HostError(
                f"positions cannot be stored in topic {self._storage.topic}: {(failed or ['timed out'])[0]}"
            )

    def described(self, deadline: Deadline) -> DescribedGroup:
        """Return the group of the nodes, with their partitions. Raise HostError."""
        return self._groups.described(self._storage.workers.group_id, deadline)

    def require_no_members(self, deadline: Deadline) -> None:
        """Raise HostError while nodes of the flow run, MirrorMaker 2's as well."""
        if not self._storage.shares_group:
            require_no_members(self._groups, self._storage.workers.group_id, deadline)
        elif members := self._members(deadline):
            raise HostError(
                f"nodes of this flow run in group {self._storage.workers.group_id}: stop them first, each with TERM so "
                f"that it stores what it has copied ({members})"
            )

    def require_own_kind(self, deadline: Deadline) -> None:
        """Raise StreamFailure while nodes of another kind run, or such as name copies in another way; HostError."""
        if doubt := self._groups.doubt(self._storage.workers.group_id, self._sharing("").doubt, deadline):
            raise StreamFailure(doubt)

    def would_take_us(self) -> bool:
        """Return True if the group lets this node in; False also where the target does not tell."""
        try:
            self.require_own_kind(Deadline.after(self._silence))
        except (StreamFailure, HostError):
            return False
        return True

    def _sharing(self, client: str) -> ByNodes:
        bundles = None if self._bundles is None else self._bundles(client)
        flow = self._storage.connector if self._storage.shares_group else ""
        return ByNodes(self._storage.workers.group_id, self._names, self._topics, client, bundles, flow)

    def _members(self, deadline: Deadline) -> str:
        """Return the members of a group of several flows while nodes of this one may be among them; raise HostError."""
        sharing = self._sharing("")

        def asked(_: str, found: GroupDescription) -> str:
            members = (f"{each.client_id} on {each.host.lstrip('/')}" for each in found.members)
            return ", ".join(members) if sharing.has_nodes(found) else ""

        return self._groups.doubt(self._storage.workers.group_id, asked, deadline)

    def _state(self, deadline: Deadline) -> str:
        group = self._storage.workers.group_id
        states, untold = self._groups.states([group], deadline)
        raise_untold(untold)
        return states[group]


def _digests(settings: Settings) -> tuple[str, str]:
    """Return digests of what names and choice of topics depend on: nodes of one flow have to agree on them."""
    features, handler = settings.features, settings.handler
    transforms = () if handler is None else (handler.steps, handler.transforms)
    names = replace(features.naming, properties={}), features.preserve_partitions, transforms
    topics = settings.topics, features.topics, features.canary
    return _digest(names), _digest(topics)


def _digest(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]
