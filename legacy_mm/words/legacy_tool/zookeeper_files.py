"""Properties files of the ZooKeeper consumer and of the Scala producer (0.8 to 1.1), made into files
of Kafka's own clients (config-map 3).

No client of ours supports ZooKeeper: the file or an option must name the brokers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from legacy_mm.base.errors import ConfigurationError

_ASSIGNORS = "org.apache.kafka.clients.consumer."

ZOOKEEPER_CONNECT = "zookeeper.connect"
BROKER_LIST = "metadata.broker.list"
BOOTSTRAP_SERVERS = "bootstrap.servers"
GROUP_ID = "group.id"
_LETTERS = re.compile("[a-zA-Z0-9._-]*")
"""Letters of the names of groups and clients: they were parts of ZooKeeper's paths, and of MBeans."""
_CONSUMER_NAMES = {
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "socket.receive.buffer.bytes": "receive.buffer.bytes",
}
_PRODUCER_NAMES = {
    BROKER_LIST: BOOTSTRAP_SERVERS,
    "request.required.acks": "acks",
    "message.send.max.retries": "retries",
    "queue.buffering.max.ms": "linger.ms",
    "compression.codec": "compression.type",
}
_VALUES: Mapping[str, Mapping[str, str]] = {
    "auto.offset.reset": {"smallest": "earliest", "largest": "latest"},
    "partition.assignment.strategy": {
        "range": _ASSIGNORS + "RangeAssignor",
        "roundrobin": _ASSIGNORS + "RoundRobinAssignor",
    },
    "compression.type": {"0": "none", "1": "gzip", "2": "snappy", "3": "lz4"},
}
_VENDORS_WORDS: Mapping[str, Mapping[str, str]] = {"security.protocol": {"PLAINTEXTSASL": "SASL_PLAINTEXT"}}
"""Words of Hortonworks' Kafka before 0.10."""
NAMES = frozenset(
    {
        *_CONSUMER_NAMES,
        *_PRODUCER_NAMES,
        "auto.commit.enable",
        "consumer.timeout.ms",
        "dual.commit.enabled",
        "mirror.consumer.numthreads",
        "mirror.topics.blacklist",
        "mirror.topics.whitelist",
        "offsets.channel.backoff.ms",
        "offsets.channel.socket.timeout.ms",
        "offsets.commit.max.retries",
        "offsets.storage",
        "refresh.leader.backoff.ms",
        "shallow.iterator.enable",
        "topic.metadata.refresh.interval.ms",
        ZOOKEEPER_CONNECT,
    }
)
"""Names of these files that today's clients do not have, if they look like a name of ours."""
_OTHER_SENSE = ("partitioner.class", "queue.buffering.max.messages", "client.id")
"""Names of the Scala producer that mean something else, or another class, in Kafka's own."""


def consumer(properties: Mapping[str, str], servers: str, *, client_named: bool) -> dict[str, str]:
    """Convert a file of the ZooKeeper consumer to one of Kafka's; `servers` is used if it names none.

    `client_named`: the tool gave the client its name, whatever the file said.
    """
    for name in (ZOOKEEPER_CONNECT, GROUP_ID):
        _require(properties, name)
    group, client = properties[GROUP_ID], properties.get("client.id")
    if client_named or client is None:
        _require_letters("client.id", f"{group}-0" if client_named else group, GROUP_ID)
    else:
        _require_letters("client.id", client, "client.id")
    _require_letters(GROUP_ID, group, GROUP_ID)
    reset = properties.get("auto.offset.reset", "largest")
    if reset not in _VALUES["auto.offset.reset"]:
        raise ConfigurationError(
            f"kafka.common.InvalidConfigException: Wrong value {reset} of auto.offset.reset in ConsumerConfig; "
            "Valid values are smallest and largest"
        )
    addresses = properties.get(BOOTSTRAP_SERVERS) or servers
    if not addresses:
        raise ConfigurationError(
            f"{ZOOKEEPER_CONNECT}={properties[ZOOKEEPER_CONNECT]}: this tool does not speak ZooKeeper; name the "
            "brokers of the source with --source.bootstrap.servers or LEGACY_MM_SOURCE_BOOTSTRAP_SERVERS"
        )
    return {**_renamed(properties, _CONSUMER_NAMES), BOOTSTRAP_SERVERS: addresses}


def producer(properties: Mapping[str, str]) -> dict[str, str]:
    """Convert a file of the Scala producer to one of Kafka's."""
    _require(properties, BROKER_LIST)
    kept = {name: text for name, text in properties.items() if name not in _OTHER_SENSE}
    return _renamed(kept, _PRODUCER_NAMES)


def old_names(name: str) -> tuple[str, ...]:
    """Return the old names of a property in these files, if they differ."""
    return tuple(old for old, new in (_CONSUMER_NAMES | _PRODUCER_NAMES).items() if new == name)


def new_name(name: str) -> str:
    """Return today's name of a property of these files, if it differs."""
    return (_CONSUMER_NAMES | _PRODUCER_NAMES).get(name, "")


def todays_word(name: str, text: str) -> str:
    """Return today's word for an old value of a property."""
    return {**_VALUES, **_VENDORS_WORDS}.get(name, {}).get(text.strip(), "")


def _require(properties: Mapping[str, str], name: str) -> None:
    if name not in properties:
        raise ConfigurationError(
            f"java.lang.IllegalArgumentException: requirement failed: Missing required property '{name}'"
        )


def _require_letters(name: str, text: str, written: str) -> None:
    """Require legal letters; `written` is the property of the file that decides the name."""
    if _LETTERS.fullmatch(text):
        return
    error = ConfigurationError(
        f"kafka.common.InvalidConfigException: {name} {text} is illegal, contains a character other than ASCII "
        "alphanumerics, '.', '_' and '-'"
    )
    error.property_name, error.allowed = written, "a text of letters, digits, dots, dashes and underscores"
    raise error


def _renamed(properties: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    renamed = {names.get(name, name): text for name, text in properties.items()}
    return {name: _VALUES.get(name, {}).get(text, text) for name, text in renamed.items()}
