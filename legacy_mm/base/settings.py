"""The parts of the typed description of a mirror, `flow.flow_settings.Settings`. Frozen.

Nothing below knows a word of the legacy tool. Times are seconds, sizes are bytes.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Literal, NamedTuple

from legacy_mm.base.kafka_clients import ConnectionSettings, ConsumerSettings, ProducerSettings

OffsetReset = Literal["earliest", "latest", "none"]
LEAST_HEAP = 512 * 1024 * 1024
"""Bytes; Spark's driver refuses to start below 450 MiB."""
_TAKES_A_PORT = "-Dcom.sun.management."


@dataclass(frozen=True, slots=True)
class KeyStore:
    """A key store file in one of Java's own formats."""

    location: str
    type: str
    password: str | None = field(repr=False)
    """None: certificates are read without a check of the file."""
    key_password: str | None = field(default=None, repr=False)
    place: str = field(default="", compare=False)
    """The line of a file that names it; empty where none is known."""


@dataclass(frozen=True, slots=True)
class JavaStores:
    """The stores that Java must read before a client can connect; their contents go into its settings."""

    trusted: KeyStore | None = None
    keys: KeyStore | None = None
    java_trust: bool = False
    """Trust what Java itself trusts."""
    token_service: bool = False
    """Tokens come over HTTPS, from a service that Java trusts."""
    token_trusted: KeyStore | None = None
    """The certificates of that service, where Java's own trust is not asked."""


@dataclass(frozen=True, slots=True)
class PemFiles:
    """Stores that are PEM. What they held is in the client's settings; it is read again when they change."""

    trusted: str | None = None
    keys: str | None = None


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """Settings for reading the source cluster, as a member of the group."""

    client: ConsumerSettings = field(repr=False)
    """The consumer's, without its name, which streams set themselves."""
    offset_reset: OffsetReset
    api_timeout: float
    """Seconds one metadata, offset or commit exchange may last (`default.api.timeout.ms`)."""
    group_instance_id: str | None = None
    """The instance id of a single stream, which `client` lacks: several streams need one each."""
    stores: JavaStores = JavaStores()
    new_from_earliest: bool = False
    """With `latest`: only the group's first start is at the ends of logs; what comes later is read from its start."""
    pem: PemFiles = PemFiles()
    name: str = "source"
    """Tells it from the other sources of this process."""
    reads_uncommitted: bool = False
    """The user asked for `isolation.level=read_uncommitted` by name."""
    for_librdkafka: tuple[str, ...] = field(default=(), repr=False)
    """Properties of the file that only librdkafka's members read, by its names."""

    @property
    def group_id(self) -> str:
        """The group that all streams join."""
        return self.client.membership.group_id

    @property
    def max_poll_interval(self) -> float:
        """Seconds for which the group waits for a member that does not poll."""
        return self.client.membership.max_poll_interval

    @property
    def metadata_max_age(self) -> float:
        """Seconds between two looks for new topics and partitions."""
        return self.client.connection.metadata_max_age

    @property
    def committed_only(self) -> bool:
        """Records of transactions that were aborted, or are open, are not copied."""
        return self.client.fetch.committed_only

    @property
    def connection(self) -> ConnectionSettings:
        """The way to the cluster."""
        return self.client.connection

    def reached_by(self, connection: ConnectionSettings) -> SourceSettings:
        """Return these settings with this way to the cluster."""
        return replace(self, client=replace(self.client, connection=connection))


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """Settings for writing to the target cluster."""

    client: ProducerSettings = field(repr=False)
    """The producer's of *one stream* (`buffer.memory` is already divided; see `BufferPool`)."""
    abort_on_send_failure: bool
    name: str = "target"
    """Tells it from the other targets of this process."""
    records_may_wait: bool = False
    """True to keep a refused record at the front of its partition, and to send it again at growing pauses."""
    synchronous: bool = False
    """Every record waits for its acknowledgement (`producer.type=sync`)."""
    idempotence_required: bool = False
    """The user asked for idempotence by name: a target that refuses it is an error, not a reason to go on without."""
    stores: JavaStores = JavaStores()
    pem: PemFiles = PemFiles()

    @property
    def connection(self) -> ConnectionSettings:
        """The way to the cluster."""
        return self.client.connection

    def reached_by(self, connection: ConnectionSettings) -> TargetSettings:
        """Return these settings with this way to the cluster."""
        return replace(self, client=replace(self.client, connection=connection))


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """The topics that are mirrored."""

    pattern: str
    """A Java regular expression that must match the whole name."""
    pattern_text: str
    """The user's own text, for messages."""
    exclude_internal: bool = True
    inverted: bool = False
    """Mirrored is what the pattern does not match."""


@dataclass(frozen=True, slots=True)
class AdminSettings:
    """Settings for a feature's own clients of a cluster."""

    connection: ConnectionSettings = field(repr=False)
    stores: JavaStores = JavaStores()
    pem: PemFiles = PemFiles()

    def reached_by(self, connection: ConnectionSettings) -> AdminSettings:
        """Return these settings with this way to the cluster."""
        return replace(self, connection=connection)


@dataclass(frozen=True, slots=True)
class JvmSettings:
    """The user's wishes for the Java process that drives Spark; our own flags fill in the rest."""

    options: tuple[str, ...] = field(default=(), repr=False)
    """Java options; of two that set the same thing the later one holds. May carry passwords as `-D` properties."""
    class_path: str = ""
    """Goes behind Spark's jars."""
    java_home: str | None = None

    def system_property(self, name: str) -> str | None:
        """Return the value that `-Dname=value` gives, or None."""
        start = f"-D{name}="
        return next((option.removeprefix(start) for option in reversed(self.options) if option.startswith(start)), None)

    def for_questions(self) -> JvmSettings:
        """Return the wishes for a JVM that answers questions beside the mirror's: the same Java, with its properties.

        The properties say, for example, whom Java trusts. All other options are the mirror's alone: two JVMs cannot
        listen on one port, or write one log of the garbage collector.
        """
        kept = (each for each in self.options if each.startswith("-D") and not each.startswith(_TAKES_A_PORT))
        return JvmSettings(tuple(kept), java_home=self.java_home)


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """The place where copy tasks run."""

    master: str | None = None
    """None: embedded, in this process's own tree."""
    conf: Mapping[str, str] = field(default_factory=dict)
    jvm: JvmSettings = JvmSettings()

    @property
    def embedded(self) -> bool:
        """Spark runs in this process's own tree."""
        return self.master is None or self.master.startswith("local")


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """The address at which metrics can be scraped."""

    port: int | None = None
    """None: nowhere."""
    address: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class RestSettings:
    """The address of Kafka Connect's REST API, and who may use it."""

    port: int | None = None
    """None: nowhere."""
    address: str = "127.0.0.1"
    token_file: str | None = None
    """None: callers need no token."""
    actions: bool = False
    """False: nothing can be changed."""
    certificate: str | None = None
    """A PEM file. None: no TLS."""
    key: str | None = None
    """None: it is in the file of the certificate."""
    client_ca: str | None = None
    """A PEM file of the authorities whose certificates callers need. None: they need none."""
    insecure: bool = False
    """The user takes the risk of an address that others reach without TLS and login."""


def is_loopback(address: str) -> bool:
    """Return True for an address that only this host reaches."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address.lower() == "localhost"


@dataclass(frozen=True, slots=True)
class ReceiptSettings:
    """The receipts file."""

    path: str
    """`-`: stdout."""
    max_bytes: int
    """0: the file is never put aside."""


@dataclass(frozen=True, slots=True)
class ProcessSettings:
    """Settings that all flows of a process share: our own options, and the environment."""

    spark: SparkSettings
    shutdown_timeout: float
    """Seconds."""
    metrics: MetricsSettings = MetricsSettings()
    rest: RestSettings = RestSettings()
    receipts: ReceiptSettings | None = None


@dataclass(frozen=True, slots=True)
class JavaTransforms:
    """Transforms of Kafka Connect of which Java classes are part: all of them run in the JVM of a copy task."""

    properties: Mapping[str, str] = field(repr=False)
    """The connector's, of its transforms, their predicates and its converters, with the whole names of classes."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Source topic -> the name by which the first one sees it, for the topics of a copy job."""
    plugins: Sequence[int] = ()
    """The number of the plug-in, or -1, of each entry of the class path, from the first on."""


@dataclass(frozen=True, slots=True)
class HandlerSettings:
    """The handler between source and target."""

    name: str = ""
    """`module:Class`, dotted name, script, or Java class; empty: only `steps`."""
    argument: str | None = field(default=None, repr=False)
    """Given to the constructor; None: it takes none."""
    steps: Sequence[str] = ()
    """Built-in handlers, `name=value`, one after the other."""
    class_path: Sequence[str] = ()
    """Jars and folders, in their order; folders also hold Python modules."""
    java_options: Sequence[str] = field(default=(), repr=False)
    of_connect: bool = False
    """True for transforms of Kafka Connect: the steps see topics by their names at the target."""
    transforms: JavaTransforms | None = None
    """Transforms that Java runs, in place of a handler and of steps."""

    def seeing(self, names: Mapping[str, str]) -> HandlerSettings:
        """Return these transforms in Java for a task with these topics, by their names at the target."""
        assert self.transforms is not None
        return replace(self, transforms=replace(self.transforms, names=dict(names)))

    def shared_path(self) -> list[str]:
        """Return the class path without the plug-ins that have a class loader of their own."""
        return [entry for entry, number in self._with_plugins() if number < 0]

    def plugin_paths(self) -> list[list[str]]:
        """Return the class path of each plug-in."""
        found: dict[int, list[str]] = {}
        for entry, number in self._with_plugins():
            if number >= 0:
                found.setdefault(number, []).append(entry)
        return [*found.values()]

    def _with_plugins(self) -> Iterator[tuple[str, int]]:
        plugins = () if self.transforms is None else self.transforms.plugins
        return zip(self.class_path, chain(plugins, repeat(-1)), strict=False)


@dataclass(frozen=True, slots=True)
class QuarantineSettings:
    """The quarantine: its records and its place."""

    failed: bool = False
    """True to keep records on which the handler fails; else the first of them ends the mirror."""
    refused: bool = False
    """True to keep records that the target refuses for their own sake; else `abort_on_send_failure` decides."""
    topic: str | None = None
    """At the target. None: the file."""
    file: str = ""

    @property
    def needs_file(self) -> bool:
        """A record may have no other place: a topic does not take all that the target has refused."""
        return self.refused or (self.failed and self.topic is None)


class MarkedOffset(NamedTuple):
    """The committed offset of a source partition, and its metadata."""

    topic: str
    partition: int
    offset: int
    metadata: str


@dataclass(frozen=True, slots=True)
class ExactlyOnceSettings:
    """Exactly once: records and positions are committed at the target together."""

    group: str
    source: str
    """The alias of the source cluster."""
    target: str
    interval: float = 1.0
    """Seconds for which a transaction takes records."""
    transaction_timeout: float = 60.0
    """Seconds after which the target's coordinator gives an open transaction up (`transaction.timeout.ms`)."""
    old_brokers: bool = False
    """The user takes the risk of a target before Kafka 2.5."""
    generation: int = -1
    """The generation of the group in which a copy job runs."""
    group_offsets: Sequence[MarkedOffset] = ()
    """The committed offsets for the partitions of a copy job."""
    offsets_topic: str = ""
    """MirrorMaker 2's topic at the target in which they are; empty: they are the group's at the source."""


@dataclass(frozen=True, slots=True)
class ConnectNames:
    """The client ids that a flow's clients have in MirrorMaker 2, by which brokers and MBeans know them."""

    consumers: tuple[str, ...]
    """The consumer of each stream."""
    connectors: tuple[str, ...] = ()
    """The connectors whose work the flow does."""
    worker: str = ""
    """The worker in its group; empty for a worker without a group."""
    admin_of_worker: str = ""
    admin_at_source: str = ""
    admin_at_target: str = ""
    groups_at_source: str = ""
    """The admin client that asks for groups and their offsets."""
    groups_at_target: str = ""


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    """A custom rebalance listener."""

    name: str
    argument: str | None = field(default=None, repr=False)
    class_path: Sequence[str] = ()
