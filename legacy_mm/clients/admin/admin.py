"""Admin requests of the duties over our own sockets.

Every request has a deadline. A request that fails as a whole raises HostError; a
failure for one topic or one rule is reported for that one alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import starmap
from typing import Any, NamedTuple, TypeVar

from kafka.protocol.admin import (
    AlterClientQuotasRequest,
    AlterConfigsRequest,
    CreateAclsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteAclsRequest,
    IncrementalAlterConfigsRequest,
)
from kafka.protocol.admin.acl import ACLOperation, ACLPermissionType, ACLResourcePatternType, ACLResourceType

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.admin.access_rules import missing_rights
from legacy_mm.clients.admin.client_quotas import entity_of
from legacy_mm.clients.admin.inspector import asking, every_topic, partition_counts
from legacy_mm.clients.cluster.admin_traffic import AdminTraffic, counted
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.cluster_errors import error_at
from legacy_mm.clients.cluster.topic_properties import broker_properties, described, properties_of
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost, UnsupportedVersion
from legacy_mm.logs import events
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.changes import (
    AddPartitions,
    Alteration,
    Change,
    ChangeOutcome,
    CreateAcl,
    CreateTopic,
    DeleteAcl,
    DeleteConfig,
    SetConfig,
    SetQuota,
    by_entity,
    by_topic,
)
from legacy_mm.policies.chunks import chunks
from legacy_mm.policies.config_filter import TopicProperty, overrides_after
from legacy_mm.policies.quota_entities import Entity
from legacy_mm.protocol.error_codes import ErrorCode

_TOPIC = 2
_SET, _DELETE = 0, 1
_ALREADY = {ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.INVALID_PARTITIONS}
"""The topic is there; it has so many partitions."""
_FORBIDDEN = (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
_RIGHTS: Mapping[type[Change], str] = {
    CreateTopic: "Create",
    AddPartitions: "Alter",
    SetConfig: "AlterConfigs",
    DeleteConfig: "AlterConfigs",
}
"""The right on the topic that a change of it needs."""
_ORIGINS = (
    *("UNKNOWN_CONFIG", "DYNAMIC_TOPIC_CONFIG", "DYNAMIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG"),
    *("STATIC_BROKER_CONFIG", "DEFAULT_CONFIG", "DYNAMIC_BROKER_LOGGER_CONFIG"),
)
_RETRY_BACKOFF = 0.2
Item = TypeVar("Item")
Sized = TypeVar("Sized", CreateTopic, AddPartitions)


class TopicLayout(NamedTuple):
    """The place of a topic on the brokers of its cluster."""

    partitions: int
    replicas: int
    """The replication factor of the partition that has the least."""
    brokers: int


class NativeAdmin:
    """One cluster, seen by the duties; connects for each call. Any thread may call it."""

    def __init__(self, name: str, settings: ConnectionSettings, traffic: AdminTraffic | None = None) -> None:
        """Create an admin client; `name` tells the clusters apart in errors, `settings` are any client's of the
        cluster. `traffic` counts what it asks, and has its client id.
        """
        self.name = name
        self.connection = settings.named(f"legacy_mm-duties-{name}" if traffic is None else traffic.client_id)
        self._traffic = traffic
        self._pause = threading.Event()
        self._replaces_properties = False

    def topics(self, deadline: Deadline) -> dict[str, int]:
        """Return topic -> number of partitions, of all topics the principal may see."""
        return partition_counts(self._listing(deadline))

    def cluster_id(self, deadline: Deadline) -> str:
        """Return the cluster id, as an advertised broker tells it; empty for brokers before 0.10.1."""
        with self._asking("asking for the cluster id", deadline) as cluster:
            cluster.metadata.refresh()
            return cluster.metadata.cluster_id()

    def cluster_ids(self, deadline: Deadline) -> tuple[str, ...]:
        """Return the ids that a bootstrap server and an advertised broker tell, the latter last; two are a mistake."""
        with self._asking("asking for the cluster id", deadline) as cluster:
            cluster.metadata.refresh()
            return cluster.metadata.cluster_ids()

    def layout(self, topic: str, deadline: Deadline) -> TopicLayout:
        """Return a topic's place on the brokers; a missing one has no partition."""
        listing = self._listing(deadline)
        rows = [row for each in listing.topics if each.name == topic for row in each.partitions]
        return TopicLayout(len(rows), min((len(row.replica_nodes) for row in rows), default=0), len(listing.brokers))

    def lowest_version(self, api_key: int, highest: int, deadline: Deadline) -> int:
        """Return the newest version of an API that all brokers have, up to `highest`; -1: one of them has none."""
        found = highest
        with self._asking("asking for versions", deadline) as cluster:
            for broker in cluster.metadata.brokers():
                with closing(cluster.connect(broker.node)) as connection:
                    try:
                        found = min(found, connection.version(api_key, 0, highest))
                    except UnsupportedVersion:
                        return -1
        return found

    def ask_a_broker(self, what: str, question: Callable[[Connection], Item], deadline: Deadline) -> Item:
        """Return the answer of the first broker that is reached; `what` names the question in a HostError."""
        lost: ConnectionLost | None = None
        with self._asking(what, deadline) as cluster:
            brokers = cluster.metadata.brokers()
            for left, broker in zip(range(len(brokers), 0, -1), brokers, strict=True):
                try:
                    with closing(cluster.connect(broker.node, deadline.remaining() / left)) as connection:
                        return question(connection)
                except ConnectionLost as error:
                    lost = error
            raise lost or ClusterUnreachable("there is no broker")

    def properties(
        self, topics: Collection[str], deadline: Deadline
    ) -> tuple[dict[str, list[TopicProperty]], dict[str, str]]:
        """Return the properties of each topic, and a reason for each topic whose properties the cluster does not
        return.
        """
        found: dict[str, list[TopicProperty]] = {}
        untold: dict[str, str] = {}
        for some in chunks(sorted(topics)):
            with self._asking("describing topics", deadline) as cluster:
                rows = described(cluster, some)
            for row in rows:
                if row.error_code:
                    why = row.error_message or error_text.text(row.error_code)
                    untold[row.resource_name] = f"the {self.name} does not tell its properties: {why}"
                else:
                    found[row.resource_name] = [_property(each) for each in row.configs]
        return found, untold

    def properties_of(self, topic: str, deadline: Deadline) -> Mapping[str, str]:
        """Return one topic's properties; empty without the right to see them. Raise HostError where no broker tells."""
        with self._asking("describing a topic", deadline) as cluster:
            return properties_of(cluster, topic)

    def missing_rights(self, topic: str, wanted: Sequence[str], deadline: Deadline) -> str:
        """Return which of these rights on a topic are missing, in a sentence; empty: none. Raise HostError."""
        with self._asking("looking at rights", deadline) as cluster:
            return missing_rights(cluster, topic, wanted, self.name)

    def broker_properties(self, deadline: Deadline) -> dict[str, str]:
        """Return the properties of one of the brokers; empty where the cluster does not return them."""
        with self._asking("describing a broker", deadline) as cluster:
            node = every_topic(cluster).brokers[0].node_id
            return broker_properties(partial(cluster.call, node), node)

    def create_topics(
        self, wanted: Sequence[CreateTopic], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[ChangeOutcome]:
        """Make these topics; in a `trial` none is made."""

        def request(some: Sequence[CreateTopic]) -> Any:
            topics = [_new_topic(each) for each in some]
            return CreateTopicsRequest(topics=topics, timeout_ms=_ms(deadline), validate_only=trial, min_version=1)

        return starmap(_outcome, self._by_controller("creating topics", wanted, request, deadline))

    def add_partitions(self, wanted: Sequence[AddPartitions], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Let these topics grow."""
        grown = CreatePartitionsRequest.CreatePartitionsTopic

        def request(some: Sequence[AddPartitions]) -> Any:
            topics = [grown(name=each.topic, count=each.new, assignments=None) for each in some]
            return CreatePartitionsRequest(topics=topics, timeout_ms=_ms(deadline), validate_only=False)

        return starmap(_outcome, self._by_controller("adding partitions", wanted, request, deadline))

    def alter(
        self, wanted: Sequence[Alteration], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[ChangeOutcome]:
        """Set and remove these properties and no others; of one topic all or none; in a `trial` none.

        Brokers before 2.3 can only replace all properties of a topic: then with those that it has, as they are now.
        """
        of_topic = by_topic(wanted)

        def request(some: Sequence[str]) -> Any:
            if self._replaces_properties:
                return _replacing(some, self._described(some, deadline), of_topic, trial=trial)
            return _altering(some, of_topic, trial=trial)

        def read_answer(answer: Any, some: Sequence[str]) -> Sequence[Any]:
            named = {row.resource_name: row for row in answer.responses}
            return [named[topic] for topic in some]

        def size(topic: str) -> int:
            return len(of_topic[topic])

        try:
            for topic, row in self._rows("setting properties", list(of_topic), request, read_answer, deadline, size):
                yield from (_outcome(change, row) for change in of_topic[topic])
        except HostError as error:
            if self._replaces_properties or not isinstance(error.__cause__, UnsupportedVersion):
                raise
            self._replaces_properties = True
            events.emit(events.PROPERTIES_REPLACED, name=self.name)
            yield from self.alter(wanted, deadline, trial=trial)

    def _described(self, topics: Sequence[str], deadline: Deadline) -> Mapping[str, Sequence[TopicProperty]]:
        """Return the properties of each topic; raise HostError where the cluster does not return them."""
        described, untold = self.properties(topics, deadline)
        if untold:
            raise HostError("; ".join(untold.values()))
        return described

    def create_rules(self, wanted: Sequence[CreateAcl], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Add these access rules."""

        def request(some: Sequence[CreateAcl]) -> Any:
            return CreateAclsRequest(creations=[_creation(each.rule) for each in some], min_version=1)

        def read_answer(answer: Any, _: Sequence[CreateAcl]) -> Sequence[Any]:
            found: Sequence[Any] = answer.results
            return found

        return starmap(_outcome, self._rows("adding access rules", wanted, request, read_answer, deadline))

    def delete_rules(self, wanted: Sequence[DeleteAcl], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Remove exactly these access rules."""

        def request(some: Sequence[DeleteAcl]) -> Any:
            return DeleteAclsRequest(filters=[_filter(each.rule) for each in some], min_version=1)

        def read_answer(answer: Any, _: Sequence[DeleteAcl]) -> Sequence[Any]:
            found: Sequence[Any] = answer.filter_results
            return found

        return starmap(_outcome, self._rows("removing access rules", wanted, request, read_answer, deadline))

    def set_quotas(self, wanted: Sequence[SetQuota], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Set these limits and no others; of one entity all or none."""
        of_entity = by_entity(wanted)

        def request(some: Sequence[Entity]) -> Any:
            entry = AlterClientQuotasRequest.EntryData
            entries = [
                entry(
                    entity=[entry.EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                    ops=[entry.OpData(key=each.name, value=each.new, remove=False) for each in of_entity[entity]],
                )
                for entity in some
            ]
            return AlterClientQuotasRequest(entries=entries, validate_only=False)

        def read_answer(answer: Any, some: Sequence[Entity]) -> Sequence[Any]:
            named = {entity_of(row.entity): row for row in answer.entries}
            return [named[entity] for entity in some]

        def size(entity: Entity) -> int:
            return len(of_entity[entity])

        rows = self._rows("setting client quotas", list(of_entity), request, read_answer, deadline, size)
        for entity, row in rows:
            yield from (_outcome(change, row) for change in of_entity[entity])

    def _listing(self, deadline: Deadline) -> Any:
        with self._asking("listing topics", deadline) as cluster:
            return every_topic(cluster)

    def _rows(
        self,
        what: str,
        wanted: Sequence[Item],
        request: Callable[[Sequence[Item]], Any],
        read_answer: Callable[[Any, Sequence[Item]], Sequence[Any]],
        deadline: Deadline,
        size: Callable[[Item], int] = lambda item: 1,
    ) -> Iterator[tuple[Item, Any]]:
        """Yield each requested item with its row of the answer, found by `read_answer`, chunk by chunk."""
        for some in chunks(wanted, size):
            with self._asking(what, deadline) as cluster:
                rows = read_answer(cluster.call_any(request(some), is_change=True), some)
            yield from zip(some, rows, strict=True)

    def _by_controller(
        self, what: str, wanted: Sequence[Sized], request: Callable[[Sequence[Sized]], Any], deadline: Deadline
    ) -> Iterator[tuple[Sized, Any]]:
        """Yield rows as `_rows` does, from the controller, which may move to another broker meanwhile."""
        for some in chunks(wanted, lambda change: change.metadata_records):
            with self._asking(what, deadline) as cluster:
                rows = self._as_the_controller_answers(cluster, partial(request, some), some, deadline)
            yield from zip(some, rows, strict=True)

    def _as_the_controller_answers(
        self, cluster: Cluster, request: Callable[[], Any], some: Sequence[Any], deadline: Deadline
    ) -> Sequence[Any]:
        while True:
            try:
                rows = _rows_by_name(cluster.call(every_topic(cluster).controller_id, request()), some)
                if deadline.expired() or all(row.error_code != ErrorCode.NOT_CONTROLLER for row in rows):
                    return rows
            except ConnectionLost:
                if deadline.expired():
                    raise
            self._pause.wait(_RETRY_BACKOFF)

    @contextmanager
    def _asking(self, what: str, deadline: Deadline) -> Iterator[Cluster]:
        named = error_at(self.name, self.connection, what)
        with asking(named), counted(Cluster(self.connection, deadline.remaining()), self._traffic) as cluster:
            yield cluster


def _ms(deadline: Deadline) -> int:
    return max(1, int(deadline.remaining() * 1000))


def _rows_by_name(answer: Any, some: Sequence[Any]) -> Sequence[Any]:
    """Return the rows of an answer that names topics, in the order of the changes."""
    rows = answer.topics if isinstance(answer, CreateTopicsResponse) else answer.results
    named = {row.name: row for row in rows}
    return [named[change.topic] for change in some]


def _outcome(change: Change, row: Any) -> ChangeOutcome:
    if not row.error_code:
        return ChangeOutcome(change)
    already = row.error_code in _ALREADY
    return ChangeOutcome(change, "" if already else _refusal(change, row), already)


def _refusal(change: Change, row: Any) -> str:
    """Return why a change was refused; for a missing right also which one it is."""
    operation = _RIGHTS.get(type(change))
    if operation is not None and row.error_code in _FORBIDDEN:
        return f"{error_text.text(row.error_code)} {error_text.needed('topic', change.topic, operation)}"  # type: ignore[union-attr]
    reason: str = row.error_message or error_text.text(row.error_code)
    if isinstance(change, SetQuota) and row.error_code in _FORBIDDEN:
        return f"{error_text.text(row.error_code)} The principal needs the right AlterConfigs on the cluster"
    return reason


def _property(row: Any) -> TopicProperty:
    return TopicProperty(row.name, row.value, _ORIGINS[row.config_source], row.read_only, row.is_sensitive)


def _new_topic(change: CreateTopic) -> Any:
    topic = CreateTopicsRequest.CreatableTopic
    configs = [topic.CreatableTopicConfig(name=name, value=value) for name, value in change.configs.items()]
    return topic(
        name=change.topic,
        num_partitions=change.partitions,
        replication_factor=change.replication_factor,
        assignments=[],
        configs=configs,
    )


def _alteration(change: Alteration) -> Any:
    config = IncrementalAlterConfigsRequest.AlterConfigsResource.AlterableConfig
    if isinstance(change, SetConfig):
        return config(name=change.name, config_operation=_SET, value=change.new)
    return config(name=change.name, config_operation=_DELETE, value=None)


def _altering(topics: Sequence[str], of_topic: Mapping[str, Sequence[Alteration]], *, trial: bool) -> Any:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    resources = [
        resource(resource_type=_TOPIC, resource_name=topic, configs=[_alteration(each) for each in of_topic[topic]])
        for topic in topics
    ]
    return IncrementalAlterConfigsRequest(resources=resources, validate_only=trial)


def _replacing(
    topics: Sequence[str],
    present: Mapping[str, Sequence[TopicProperty]],
    of_topic: Mapping[str, Sequence[Alteration]],
    *,
    trial: bool,
) -> Any:
    resource = AlterConfigsRequest.AlterConfigsResource
    after = {topic: overrides_after(present[topic], of_topic[topic]) for topic in topics}
    resources = [
        resource(
            resource_type=_TOPIC,
            resource_name=topic,
            configs=[resource.AlterableConfig(name=name, value=value) for name, value in wanted.items()],
        )
        for topic, wanted in after.items()
    ]
    return AlterConfigsRequest(resources=resources, validate_only=trial)


def _creation(rule: AclRule) -> Any:
    return CreateAclsRequest.AclCreation(
        resource_type=ACLResourceType.TOPIC,
        resource_name=rule.topic,
        resource_pattern_type=ACLResourcePatternType[rule.pattern],
        principal=rule.principal,
        host=rule.host,
        operation=ACLOperation[rule.operation],
        permission_type=ACLPermissionType[rule.permission],
    )


def _filter(rule: AclRule) -> Any:
    """Return the filter that matches only this rule."""
    return DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=ACLResourceType.TOPIC,
        resource_name_filter=rule.topic,
        pattern_type_filter=ACLResourcePatternType[rule.pattern],
        principal_filter=rule.principal,
        host_filter=rule.host,
        operation=ACLOperation[rule.operation],
        permission_type=ACLPermissionType[rule.permission],
    )
