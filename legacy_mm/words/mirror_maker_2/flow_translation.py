"""A flow of the driver's file becomes `Settings`: Java properties for its clients, flags for its features."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import MembershipSettings
from legacy_mm.base.settings import HandlerSettings, TargetSettings, TopicSettings
from legacy_mm.features import flags
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS, ConnectOffsetSettings
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.start_from import flags as start_from
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.transactions.bundle_settings import check, of_committed_records
from legacy_mm.words.java_clients.client_properties.apply import Translated
from legacy_mm.words.java_clients.client_properties.rule import Note
from legacy_mm.words.legacy_tool.client_settings import (
    admin_settings,
    commit_interval,
    source_settings,
    target_settings,
)
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.messages import OWN
from legacy_mm.words.mirror_maker_2 import connect_names, transform_properties
from legacy_mm.words.mirror_maker_2.connector_properties import (
    BY_NAME,
    CLIENT_FAMILIES,
    CONNECTORS,
    ONE_CLASS,
    ConnectorKind,
    is_client_name,
)
from legacy_mm.words.mirror_maker_2.driver_file import Pair
from legacy_mm.words.mirror_maker_2.file_lines import FileLines, FlowSide
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading, ListWords
from legacy_mm.words.mirror_maker_2.java_transforms import java_transforms, plugin_jars

_EVERY_TOPIC = ".*"
_LOOK_FOR_TOPICS_MS = "5000"
"""Between two looks for new topics; MirrorMaker 2 takes 600 s, KIP-382 promised 5."""
_FLUSH_MS = "60000"
_OFFSETS_TOPIC = "offset.storage.topic"
_NO_GROUP = (
    "These properties of {flow}'s consumer have no effect, as with MirrorMaker 2, whose tasks are in no consumer "
    "group: {names}"
)
_FLAGS: Mapping[ConnectorKind, tuple[str, ...]] = {
    "source": (
        "replication.policy.class",
        "replication.policy.separator",
        "replication.policy.internal.topic.separator.enabled",
        "source.cluster.alias",
        "target.cluster.alias",
        "topics",
        "replication.factor",
        "refresh.topics.enabled",
        "refresh.topics.interval.seconds",
        "sync.topic.configs.enabled",
        "sync.topic.configs.interval.seconds",
        "sync.topic.acls.enabled",
        "sync.topic.acls.interval.seconds",
        "emit.offset-syncs.enabled",
        "offset-syncs.topic.location",
        "offset-syncs.topic.replication.factor",
        "offset.lag.max",
        "heartbeats.replication.enabled",
    ),
    "checkpoint": (
        "groups",
        "emit.checkpoints.interval.seconds",
        "checkpoints.topic.replication.factor",
        "refresh.groups.enabled",
        "refresh.groups.interval.seconds",
        "sync.group.offsets.enabled",
        "sync.group.offsets.interval.seconds",
    ),
    "heartbeat": (
        "emit.heartbeats.enabled",
        "emit.heartbeats.interval.seconds",
        "heartbeats.topic.replication.factor",
    ),
}
"""Properties that are flags of ours, by the connector that reads them."""
_PRODUCER = {
    "acks": "all",
    "delivery.timeout.ms": "2147483647",
    "max.block.ms": "9223372036854775807",
}
"""Properties that Connect's workers give to the producer of records; ours is idempotent, which keeps the order."""
_OF_GROUPS = (
    "group.id",
    "group.instance.id",
    "group.protocol",
    "group.remote.assignor",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "partition.assignment.strategy",
    "session.timeout.ms",
)
"""Properties that bind only a consumer group: the tasks of MirrorMaker 2 are in none."""
_WORKER_TIMES = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000, "rebalance.timeout.ms": 60_000}
"""Properties of a Connect worker's membership, and their defaults."""


@dataclass(frozen=True, slots=True)
class FlowRun:
    """A flow that this process runs."""

    pair: Pair
    settings: Settings
    secrets: tuple[str, ...] = field(repr=False)
    """Values that no line may show."""
    notes: tuple[Note, ...]
    connectors: tuple[str, ...]
    """The connectors whose work the flow does, by MirrorMaker 2's names."""
    consumer: Translated = field(repr=False)
    """The translation of the consumer's properties, which `explain` shows."""
    producer: Translated = field(repr=False)
    filters: bool = False
    """True if transforms decide which records go to the topics that the policy names."""
    lines: FileLines = FileLines()
    """The lines of the files that the flow reads."""


def translate_flow(reading: FlowReading, clients: ClientTranslation, first_stream: int) -> FlowRun:
    """Return the flow; raises ConfigurationError for a value that cannot be used, and for what only Java could run."""
    if reading.worker_fault:
        raise ConfigurationError(reading.worker_fault)
    _refuse_classes(reading)
    handler = _handler(reading, clients)
    if "checkpoint" in reading.present and "source" not in reading.present:
        raise ConfigurationError(
            f"the {CONNECTORS['checkpoint']} of {reading.pair} needs the {CONNECTORS['source']} of its flow in the "
            "same command, because who copies knows which offset became which"
        )
    streams = _streams(reading) if reading.copies else 0
    consumer = _translated(reading, clients, "source", _consumer(reading), streams)
    producer = _translated(reading, clients, "target", _producer(reading), streams)
    notes = [*consumer.reading.notes, *producer.reading.notes]
    options = clients.options
    source = source_settings(consumer, str(reading.pair), options)
    stored = _connect_offsets(reading) if streams else None
    if stored is not None and (unbound := _unbound(reading)):
        notes.append(Note(logging.INFO, OWN, _NO_GROUP.format(flow=reading.pair, names=", ".join(unbound))))
    features = _features(reading).having(CONNECT_OFFSETS, stored)
    settings = Settings(
        source=replace(source, name=reading.pair.source),
        target=_target(reading, producer),
        topics=TopicSettings(_EVERY_TOPIC, _EVERY_TOPIC),
        handler=handler,
        process=options.process(clients.environment.jvm),
        streams=streams,
        commit_interval=commit_interval(consumer.reading, _flush_ms(reading), notes),
        fail_on_gap=options.on_gap == "fail",
        first_stream=first_stream,
        features=features,
        source_admin=admin_settings(_admin(reading, clients, "source")),
        target_admin=admin_settings(_admin(reading, clients, "target")),
        worker=None if stored is None else admin_settings(_worker(reading, clients)),
        connect_names=connect_names.read(reading, streams, _running(reading), in_group=stored is not None),
    )
    secrets = (*consumer.secrets, *producer.secrets)
    filters = transform_properties.filters(reading.transforms)
    settings = of_committed_records(settings)
    with reading.lines.named():
        check(settings)
        start_from.check(features[START_FROM], source)
    return FlowRun(
        reading.pair, settings, secrets, tuple(notes), _running(reading), consumer, producer, filters, reading.lines
    )


def _translated(
    reading: FlowReading, clients: ClientTranslation, side: FlowSide, properties: Mapping[str, str], streams: int = 1
) -> Translated:
    """Translate a client of this side of the flow; raises ConfigurationError, which names the line of the file."""
    with reading.lines.named(properties, side):
        return clients.client("consumer" if side == "source" else "producer", properties, max(streams, 1))


def _target(reading: FlowReading, producer: Translated) -> TargetSettings:
    """Return the target: a refused record holds its partition up, or is left out where the connector tolerates it."""
    tolerates = reading.properties["source"].get("errors.tolerance", "").strip().lower() == "all"
    found = target_settings(producer, abort=not tolerates, synchronous=False)
    return replace(found, name=reading.pair.target, records_may_wait=not tolerates)


def _handler(reading: FlowReading, clients: ClientTranslation) -> HandlerSettings | None:
    """Return the transforms as a handler: steps of ours, or all of them in Java."""
    if not reading.transforms:
        return None
    shared, plugins = clients.connect_class_path, plugin_jars(reading)
    class_path = (*shared, *chain(*plugins))
    numbers = [-1] * len(shared) + [number for number, jars in enumerate(plugins) for _ in jars]
    if (in_java := java_transforms(reading, class_path, numbers)) is not None:
        options = clients.environment.jvm.options
        return HandlerSettings(
            "transforms", class_path=class_path, java_options=options, of_connect=True, transforms=in_java
        )
    steps = transform_properties.steps(reading.transforms, reading.header_converter, reading.pair.prefix)
    return HandlerSettings(steps=steps, of_connect=True)


def _running(reading: FlowReading) -> tuple[str, ...]:
    running = {
        "source": reading.copies,
        "heartbeat": reading.has_heartbeats,
        "checkpoint": reading.copies and reading.has_checkpoints,
    }
    return tuple(name for connector, name in CONNECTORS.items() if running[connector])


def _consumer(reading: FlowReading) -> dict[str, str]:
    """Return the Java properties of the consumer of records.

    The later counts: those of the cluster, `consumer.x`, `source.consumer.x`.
    """
    found = _given_to_consumer(reading)
    if keeps_offsets_in_topic(reading):
        found = {name: text for name, text in found.items() if name not in _OF_GROUPS}
    ours = {"enable.auto.commit": "false", "client.id": connect_names.consumer_id(reading, 0)}
    defaults = {
        "auto.offset.reset": "earliest",
        "group.id": f"mm2-{reading.pair}",
        "metadata.max.age.ms": _topics_age_ms(reading),
    }
    return {**defaults, **found, **ours}


def _given_to_consumer(reading: FlowReading) -> dict[str, str]:
    return {**_cluster(reading, "source", "source"), **_client(reading, "source", "consumer", "source")}


def _unbound(reading: FlowReading) -> list[str]:
    """Return the properties of the consumer that have no effect, because the flow is in no consumer group."""
    return [name for name in _OF_GROUPS if name in _given_to_consumer(reading)]


def _producer(reading: FlowReading) -> dict[str, str]:
    """Return the Java properties of the producer of records: those of the flow's worker, then `producer.override.x`."""
    worker = reading.worker
    connection = {name: text for name, text in worker.items() if is_client_name(name)}
    given = {name: text for name, text in _stripped(worker, "producer.").items() if not name.startswith("override.")}
    override = _stripped(reading.properties["source"], "producer.override.")
    return {**_PRODUCER, "client.id": connect_names.producer_id(reading), **connection, **given, **override}


def _admin(reading: FlowReading, clients: ClientTranslation, side: FlowSide) -> Translated | None:
    """Return the clients of the duties, if `admin.` properties set them apart from those that copy."""
    given = {**_cluster(reading, "source", side), **_client(reading, "source", "admin", side)}
    copying = _consumer(reading) if side == "source" else _producer(reading)
    if all(copying.get(name) == text for name, text in given.items()):
        return None
    return _translated(reading, clients, side, given)


def _worker(reading: FlowReading, clients: ClientTranslation) -> Translated | None:
    """Return the clients of the worker's group and offsets, if they are not those of the producer of records."""
    given = {name: text for name, text in reading.worker.items() if is_client_name(name)}
    producer = _producer(reading)
    if {name: text for name, text in producer.items() if is_client_name(name)} == given:
        return None
    with reading.lines.named(given, "target"):
        return clients.client("consumer", given, 1)


def _cluster(reading: FlowReading, connector: ConnectorKind, side: str) -> dict[str, str]:
    own = _stripped(reading.properties[connector], f"{side}.cluster.")
    return {name: text for name, text in own.items() if is_client_name(name)}


def _client(reading: FlowReading, connector: ConnectorKind, kind: str, side: str) -> dict[str, str]:
    assert kind in CLIENT_FAMILIES
    given = reading.properties[connector]
    found = {**_stripped(given, f"{kind}."), **_stripped(given, f"{side}.{kind}.")}
    return {name: text for name, text in found.items() if not name.startswith("override.")}


def _features(reading: FlowReading) -> FeatureSettings:
    """Return the features of the flow; one that is off for MirrorMaker 2 creates nothing here either."""
    runs = {
        "source": reading.copies,
        "checkpoint": reading.copies and reading.has_checkpoints,
        "heartbeat": "heartbeat" not in reading.refusals,
    }
    given = {
        name: [reading.flag(connector, name)]
        for connector, names in _FLAGS.items()
        if runs[connector]
        for name in names
    }
    given |= {name: [reading.text("heartbeat", name)] for name in ("source.cluster.alias", "target.cluster.alias")}
    given["mm2.compatibility"] = [reading.release]
    if limits := [_admin_timeout(reading, connector) for connector in CONNECTORS if runs[connector]]:
        given["admin.timeout.ms"] = [str(max(limits))]
    if reading.copies:
        given |= {"preserve.partitions": ["true"], "topic.creation": ["true"]}
        given["emit.checkpoints.enabled"] = [str(reading.has_checkpoints).lower()]
        given |= _exclusions("topics.exclude", reading.topics()) | _exclusions("groups.exclude", reading.groups())
        given |= reading.config_filter()
        given |= flags.given_in(reading.own_flags)
    else:
        given["heartbeats.replication.enabled"] = ["false"]
    with reading.lines.named():
        return flags.of_mirror_maker_2({name: [text.strip() for text in texts] for name, texts in given.items()})


def _admin_timeout(reading: FlowReading, connector: ConnectorKind) -> int:
    """Return how long a look of this connector may take; none is in time for less than 1 ms."""
    return max(0, int(str(reading.value(connector, "admin.timeout.ms"))))


def _exclusions(name: str, lists: ListWords) -> dict[str, list[str]]:
    return {} if lists.exclude is None else {name: [", ".join(lists.exclude)]}


def _streams(reading: FlowReading) -> int:
    """Return how many streams copy: as many as tasks may be, but no more than there are cores."""
    return max(1, min(int(str(reading.value("source", "tasks.max"))), os.cpu_count() or 1))


def _topics_age_ms(reading: FlowReading) -> str:
    """Return the time between two looks for new topics."""
    given = reading.properties["source"].get("refresh.topics.interval.seconds")
    if given is None or not reading.copies or int(given) < 1:  # 0 is refused where flags are read
        return _LOOK_FOR_TOPICS_MS
    return str(min(int(given) * 1000, 2_147_483_647))


def _flush_ms(reading: FlowReading) -> int:
    return int(reading.worker.get("offset.flush.interval.ms", _FLUSH_MS).strip())


def keeps_offsets_in_topic(reading: FlowReading) -> bool:
    """Return True if the flow's worker keeps offsets in a topic; a standalone worker keeps them in a file."""
    return _OFFSETS_TOPIC in reading.worker


def _connect_offsets(reading: FlowReading) -> ConnectOffsetSettings | None:
    """Return the topic of the worker's offsets, and its group; None where the worker keeps offsets in a file."""
    worker = reading.worker
    if not keeps_offsets_in_topic(reading):
        return None
    times = {name: int(worker.get(name, str(default)).strip()) / 1000 for name, default in _WORKER_TIMES.items()}
    return ConnectOffsetSettings(
        topic=worker[_OFFSETS_TOPIC].strip(),
        partitions=int(worker.get("offset.storage.partitions", "25").strip()),
        replication_factor=int(worker.get("offset.storage.replication.factor", "3").strip()),
        connector=reading.text("source", "name"),
        cluster=reading.text("source", "source.cluster.alias"),
        workers=MembershipSettings(
            group_id=_required(worker, "group.id").strip(),
            session_timeout=times["session.timeout.ms"],
            heartbeat_interval=times["heartbeat.interval.ms"],
            max_poll_interval=times["rebalance.timeout.ms"],
        ),
        shares_group=reading.shares_group,
    )


def _required(worker: Mapping[str, str], name: str) -> str:
    if name not in worker:
        raise ConfigurationError(
            f'org.apache.kafka.common.config.ConfigException: Missing required configuration "{name}" which has no '
            "default value."
        )
    return worker[name]


def _stripped(properties: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): text for name, text in properties.items() if name.startswith(prefix)}


def _refuse_classes(reading: FlowReading) -> None:
    """Raise ConfigurationError for a filter or an admin that only Java could run."""
    for row in (BY_NAME[name] for name in ONE_CLASS):
        name, ours = row.name, row.default.rpartition(".")[2]
        class_name = reading.text("source" if row.belongs_to("source") else "checkpoint", name)
        if class_name and class_name.rpartition(".")[2] != ours:
            raise ConfigurationError(
                f"{reading.pair.prefix}{name}={class_name} is not possible, because this is a Java class of its own; "
                f"leave the line out to have {ours}"
            )
