"""A cluster that is not there, as an administrator sees it. mypy holds it to the protocol `Admin`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from typing_extensions import override

from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.policies.changes import (
    AddPartitions,
    Alteration,
    Change,
    ChangeOutcome,
    CreateAcl,
    CreateTopic,
    DeleteAcl,
    SetQuota,
)
from legacy_mm.policies.config_filter import TopicProperty


class FakeAdmin(Admin):
    """Topics of one partition, if not of `partitions`, with these properties; None: it does not tell them.

    It `refuses` changes of these topics and properties, each with a reason; `there`: topics that are as asked for
    already. `replicas`: what it wants a number of, and would give them itself.
    """

    name = "target"

    def __init__(
        self,
        topics: Mapping[str, Mapping[str, str] | None] | None = None,
        refuses: Mapping[str, str] | None = None,
        *,
        there: Collection[str] = (),
        replicas: str = "",
    ) -> None:
        self._topics = topics or {}
        self._refuses = refuses or {}
        self._there = there
        self._replicas = replicas
        self.done: list[Change] = []
        self.tried: list[Change] = []
        """Changes of trials."""
        self.asked: list[str] = []
        """Topics whose properties were asked for."""
        self.partitions: Mapping[str, int] = {}
        """Of topics that have not one."""
        self.known: Mapping[str, str] = {}
        """Properties that topics have without an override."""

    @property
    @override
    def connection(self) -> ConnectionSettings:
        return ConnectionSettings(("127.0.0.1:1",))

    @override
    def topics(self, deadline: Deadline) -> dict[str, int]:
        return {**dict.fromkeys(self._topics, 1), **self.partitions}

    @override
    def cluster_id(self, deadline: Deadline) -> str:
        return self.name

    @override
    def cluster_ids(self, deadline: Deadline) -> tuple[str, ...]:
        return (self.cluster_id(deadline),)

    @override
    def properties(
        self, topics: Collection[str], deadline: Deadline
    ) -> tuple[dict[str, list[TopicProperty]], dict[str, str]]:
        self.asked += topics
        told = {topic: values for topic in topics if (values := self._topics[topic]) is not None}
        found = {topic: [*self._given(values)] for topic, values in told.items()}
        return found, {topic: "it is refused" for topic in topics if topic not in found}

    @override
    def broker_properties(self, deadline: Deadline) -> dict[str, str]:
        return {"default.replication.factor": self._replicas} if self._replicas else {}

    @override
    def create_topics(
        self, wanted: Sequence[CreateTopic], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[ChangeOutcome]:
        assert len({each.topic for each in wanted}) == len(wanted), "brokers refuse one that is named twice"
        for each in wanted:
            no_number = self._replicas and each.replication_factor < 0
            why = "a number of replicas is wanted" if no_number else self._why(each.topic, *each.configs)
            yield self._outcome(each, why, trial=trial)

    @override
    def add_partitions(self, wanted: Sequence[AddPartitions], deadline: Deadline) -> Iterator[ChangeOutcome]:
        return (self._outcome(each, self._why(each.topic)) for each in wanted)

    @override
    def alter(
        self, wanted: Sequence[Alteration], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[ChangeOutcome]:
        refused = {each.topic: why for each in wanted if (why := self._why(each.topic, each.name))}
        return (self._outcome(each, refused.get(each.topic, ""), trial=trial) for each in wanted)

    @override
    def create_rules(self, wanted: Sequence[CreateAcl], deadline: Deadline) -> Iterator[ChangeOutcome]:
        return (self._outcome(each, self._why(each.rule.topic, each.rule.permission)) for each in wanted)

    @override
    def delete_rules(self, wanted: Sequence[DeleteAcl], deadline: Deadline) -> Iterator[ChangeOutcome]:
        return (self._outcome(each, self._why(each.rule.topic)) for each in wanted)

    @override
    def set_quotas(self, wanted: Sequence[SetQuota], deadline: Deadline) -> Iterator[ChangeOutcome]:
        refused = {each.entity: why for each in wanted if (why := self._why(each.name))}
        return (self._outcome(each, refused.get(each.entity, "")) for each in wanted)

    def _why(self, *names: str) -> str:
        return next((self._refuses[name] for name in names if name in self._refuses), "")

    def _outcome(self, change: Change, why: str, *, trial: bool = False) -> ChangeOutcome:
        if trial:
            self.tried.append(change)
        elif not why:
            self.done.append(change)
        if isinstance(change, SetQuota):
            return ChangeOutcome(change, why)
        topic = change.rule.topic if isinstance(change, CreateAcl | DeleteAcl) else change.topic
        return ChangeOutcome(change, why, already=topic in self._there)

    def _given(self, values: Mapping[str, str]) -> Iterator[TopicProperty]:
        for name, value in values.items():
            yield TopicProperty(name, value, "DYNAMIC_TOPIC_CONFIG")
        for name, text in self.known.items():
            if name not in values:
                yield TopicProperty(name, text, "DEFAULT_CONFIG")
