"""Admin requests of the duties: topics, their properties, access rules.

Every request has a deadline. A request that fails as a whole raises HostError; a failure for one topic or one rule is
reported for that one alone, in Kafka's words.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from itertools import starmap
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AdminClient,
    AlterConfigOpType,
    ClusterMetadata,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from legacy_mm.clients import cluster_errors
from legacy_mm.clients.librdkafka.client import ErrorLines, client_properties, seconds
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.errors import HostError
from legacy_mm.logs import events
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.changes import (
    AddPartitions,
    Alteration,
    ChangeOutcome,
    CreateAcl,
    CreateTopic,
    DeleteAcl,
    SetConfig,
    by_topic,
)
from legacy_mm.policies.chunks import chunks
from legacy_mm.policies.config_filter import TopicProperty, overrides_after

_ALREADY = {KafkaError.TOPIC_ALREADY_EXISTS, KafkaError.INVALID_PARTITIONS}
Item = TypeVar("Item")


class LibrdkafkaAdmin:
    """One cluster, seen by the duties; connects when it is first asked. Any thread may call it."""

    def __init__(self, name: str, settings: ConnectionSettings) -> None:
        """Create an admin client; `name` tells the clusters apart in errors, `settings` are any client's of the
        cluster.
        """
        self.name = name
        self.connection = settings
        self._client_id = f"legacy_mm-duties-{name}"
        self._errors = ErrorLines(self._client_id)
        self._lock = threading.Lock()
        self._made: AdminClient | None = None
        self._replaces_properties = False

    def topics(self, deadline: Deadline) -> dict[str, int]:
        """Return topic -> number of partitions, of all topics the principal may see."""
        found = self._listing(deadline).topics
        return {name: len(topic.partitions) for name, topic in found.items() if topic.error is None}

    def cluster_id(self, deadline: Deadline) -> str:
        """Return the cluster id; empty for brokers before 0.10.1."""
        return self._listing(deadline).cluster_id or ""

    def _listing(self, deadline: Deadline) -> ClusterMetadata:
        client = self._admin()
        try:
            return client.list_topics(timeout=seconds(deadline))
        except KafkaException as error:
            why = f"listing topics failed: {self._errors.why(client, error)}"
            raise HostError(cluster_errors.error_at(self.name, self.connection, why)) from error

    def properties(
        self, topics: Collection[str], deadline: Deadline
    ) -> tuple[dict[str, list[TopicProperty]], dict[str, str]]:
        """Return the properties of each topic, and a reason for each topic whose properties the cluster does not
        return.
        """
        found: dict[str, list[TopicProperty]] = {}
        untold: dict[str, str] = {}
        for some in chunks(sorted(topics)):
            resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in some]
            asked = self._admin().describe_configs(resources, request_timeout=seconds(deadline))
            for resource, future in asked.items():
                if failed := _failure(future, deadline):
                    untold[resource.name] = f"the {self.name} does not tell its properties: {failed.str()}"
                else:
                    found[resource.name] = [_property(entry) for entry in future.result().values()]
        return found, untold

    def broker_properties(self, deadline: Deadline) -> dict[str, str]:
        """Return the properties of one of the brokers; empty where the cluster does not return them."""
        (node, *_) = self._listing(deadline).brokers
        (asked,) = self._admin().describe_configs([ConfigResource(ResourceType.BROKER, str(node))]).values()
        if _failure(asked, deadline):
            return {}
        return {name: entry.value for name, entry in asked.result().items() if entry.value is not None}

    def create_topics(
        self, wanted: Sequence[CreateTopic], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[ChangeOutcome]:
        """Make these topics; in a `trial` none is made."""

        def send(some: Sequence[CreateTopic]) -> Mapping[str, Future[Any]]:
            new = [
                NewTopic(each.topic, each.partitions, each.replication_factor, config=dict(each.configs))
                for each in some
            ]
            return self._admin().create_topics(new, request_timeout=seconds(deadline), validate_only=trial)

        done = _ask_each(wanted, lambda change: change.topic, send, deadline, lambda change: change.metadata_records)
        return starmap(_outcome, done)

    def add_partitions(self, wanted: Sequence[AddPartitions], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Let these topics grow."""

        def send(some: Sequence[AddPartitions]) -> Mapping[str, Future[Any]]:
            grown = [NewPartitions(each.topic, each.new) for each in some]
            return self._admin().create_partitions(grown, request_timeout=seconds(deadline))

        done = _ask_each(wanted, lambda change: change.topic, send, deadline, lambda change: change.metadata_records)
        return starmap(_outcome, done)

    def alter(
        self, wanted: Sequence[Alteration], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[ChangeOutcome]:
        """Set and remove these properties and no others; of one topic all or none; in a `trial` none.

        Brokers before 2.3 can only replace all properties of a topic: then with those that it has, as they are now.
        """
        of_topic = by_topic(wanted)

        def send(some: Sequence[str]) -> Mapping[str, Future[Any]]:
            settings: dict[str, Any] = {"request_timeout": seconds(deadline), "validate_only": trial}
            if self._replaces_properties:
                with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # there is nothing else
                    asked = self._admin().alter_configs(self._replacing(some, of_topic, deadline), **settings)
            else:
                asked = self._admin().incremental_alter_configs(_altering(some, of_topic), **settings)
            return {resource.name: future for resource, future in asked.items()}

        for topic, error in _ask_each(list(of_topic), str, send, deadline, lambda topic: len(of_topic[topic])):
            if error is not None and error.code() == KafkaError._UNSUPPORTED_FEATURE and not self._replaces_properties:
                self._replaces_properties = True
                events.emit(events.PROPERTIES_REPLACED, name=self.name)
                yield from self.alter(wanted, deadline, trial=trial)
                return
            yield from (_outcome(change, error) for change in of_topic[topic])

    def _replacing(
        self, topics: Sequence[str], of_topic: Mapping[str, Sequence[Alteration]], deadline: Deadline
    ) -> list[ConfigResource]:
        """Return all properties that these topics shall have; raise HostError where the current ones cannot be read."""
        described, untold = self.properties(topics, deadline)
        if untold:
            raise HostError("; ".join(untold.values()))
        return [
            ConfigResource(ResourceType.TOPIC, topic, set_config=overrides_after(described[topic], of_topic[topic]))
            for topic in topics
        ]

    def create_rules(self, wanted: Sequence[CreateAcl], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Add these access rules."""

        def send(some: Sequence[CreateAcl]) -> Mapping[AclRule, Future[Any]]:
            bindings = [AclBinding(*_fields(each.rule)) for each in some]
            asked = self._admin().create_acls(bindings, request_timeout=seconds(deadline))
            return {_rule(binding): future for binding, future in asked.items()}

        return starmap(_outcome, _ask_each(wanted, lambda change: change.rule, send, deadline))

    def delete_rules(self, wanted: Sequence[DeleteAcl], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Remove exactly these access rules."""

        def send(some: Sequence[DeleteAcl]) -> Mapping[AclRule, Future[Any]]:
            filters = [AclBindingFilter(*_fields(each.rule)) for each in some]
            asked = self._admin().delete_acls(filters, request_timeout=seconds(deadline))
            return {_rule(binding): future for binding, future in asked.items()}

        return starmap(_outcome, _ask_each(wanted, lambda change: change.rule, send, deadline))

    def _admin(self) -> AdminClient:
        """Return the client, which is kept: its answers would be lost with it."""
        with self._lock:
            if self._made is None:
                own = {"client.id": self._client_id}
                try:
                    self._made = AdminClient(client_properties(self.connection, self._errors, **own))
                except KafkaException as error:
                    raise HostError(f"the {self.name}'s client cannot be made: {error.args[0].str()}") from error
            return self._made


def _ask_each(
    wanted: Sequence[Item],
    key: Callable[[Item], Hashable],
    send: Callable[[Sequence[Item]], Mapping[Any, Future[Any]]],
    deadline: Deadline,
    size: Callable[[Item], int] = lambda item: 1,
) -> Iterator[tuple[Item, KafkaError | None]]:
    """Send the requests chunk by chunk and yield each item with its error, if any."""
    for some in chunks(wanted, size):
        asked = send(some)
        for item in some:
            yield item, _failure(asked[key(item)], deadline)


def _failure(future: Future[Any], deadline: Deadline) -> KafkaError | None:
    try:
        future.result(seconds(deadline))
    except KafkaException as error:
        found: KafkaError = error.args[0]
        return found
    except TimeoutError:
        return KafkaError(KafkaError._TIMED_OUT)
    return None


def _outcome(change: Any, error: KafkaError | None) -> ChangeOutcome:
    if error is None:
        return ChangeOutcome(change)
    already = error.code() in _ALREADY
    return ChangeOutcome(change, "" if already else error.str(), already)


def _property(entry: ConfigEntry) -> TopicProperty:
    return TopicProperty(
        entry.name, entry.value, ConfigSource(entry.source).name, entry.is_read_only, entry.is_sensitive
    )


def _entry(change: Alteration) -> ConfigEntry:
    if isinstance(change, SetConfig):
        return ConfigEntry(change.name, change.new, incremental_operation=AlterConfigOpType.SET)
    return ConfigEntry(change.name, None, incremental_operation=AlterConfigOpType.DELETE)


def _altering(topics: Sequence[str], of_topic: Mapping[str, Sequence[Alteration]]) -> list[ConfigResource]:
    return [
        ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[_entry(each) for each in of_topic[topic]])
        for topic in topics
    ]


def _fields(rule: AclRule) -> tuple[ResourceType, str, str, str, str, str, str]:
    return ResourceType.TOPIC, rule.topic, rule.pattern, rule.principal, rule.host, rule.operation, rule.permission


def _rule(binding: Any) -> AclRule:
    pattern, operation, permission = binding.resource_pattern_type, binding.operation, binding.permission_type
    return AclRule(binding.name, pattern.name, binding.principal, binding.host, operation.name, permission.name)
