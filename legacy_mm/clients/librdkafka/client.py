"""Shared parts of librdkafka's clients: quiet logging through events, rate-limited error lines, name checks, questions
about topics.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, libversion

from legacy_mm.clients import tokens
from legacy_mm.clients.librdkafka.error_meanings import java_name, refusal, refuses_login, refuses_token
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.clock import Deadline, monotonic
from legacy_mm.config.kafka_clients import AnyClient, ConnectionSettings
from legacy_mm.errors import ConfigurationError, StreamFailure, one_line
from legacy_mm.logs import events
from legacy_mm.model import TopicPartition

_SAME_LINE_INTERVAL = 30.0
_LEAST_TIMEOUT = 0.1
QUESTION_TIMEOUT = 4.0
"""One question of a copy task; well below the time after which a silent task counts as stalled."""
_ROUND_TRIPS = 3
_NO_LEADER = -1
_UNNAMED = "client"
_native = logging.getLogger("legacy_mm.librdkafka")


def client_properties(settings: AnyClient, on_error: Callable[[KafkaError], None], **own: object) -> dict[str, Any]:
    """Return librdkafka's properties plus callbacks: errors go to `on_error`, its log to Python's at debug level."""
    connection = settings if isinstance(settings, ConnectionSettings) else settings.connection
    fetch = tokens.source(connection.sasl)
    return {
        **property_texts(settings),
        **({"oauth_cb": _telling(fetch, connection.client_id)} if fetch is not None else {}),
        "log_level": 3,
        "logger": _NativeLog(),
        "error_cb": _with_addresses(on_error, connection),
        **own,
    }


def _telling(fetch: tokens.TokenCallback, client_id: str) -> tokens.TokenCallback:
    """Wrap `fetch` and report why no token comes, which librdkafka does not."""

    def notified(config: object) -> tuple[str, float]:
        try:
            return fetch(config)
        except Exception as error:
            events.emit(events.CLIENT_ERROR, client=client_id, text=f"no token for OAUTHBEARER: {one_line(error)}")
            raise

    return notified


def _with_addresses(
    on_error: Callable[[KafkaError], None], connection: ConnectionSettings
) -> Callable[[KafkaError], None]:
    """Wrap `on_error` to name the brokers that are down: librdkafka reports nothing else of one that hangs up, as at
    a wrong protocol.
    """
    addresses = ",".join(connection.bootstrap_servers)
    way = f"bootstrap.servers={addresses}, security.protocol={connection.protocol.name}"

    def notified(error: KafkaError) -> None:
        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            error = KafkaError(error.code(), f"{error.str()} ({way})")
        on_error(error)

    return notified


def outside_groups(client: str) -> dict[str, object]:
    """Return properties of a consumer with this id that belongs to no group, and reports the end of a partition."""
    return {
        "client.id": client,
        "group.id": client,  # librdkafka demands one; it is never joined
        "enable.auto.commit": False,
        "enable.partition.eof": True,
    }


class _NativeLog:
    """librdkafka's own lines, at debug level whatever it calls them: what matters comes to `error_cb` too."""

    def log(self, _: int, text: str, *arguments: object) -> None:
        """Log like `logging.Logger.log`."""
        with suppress(Exception):
            _native.debug(text, *arguments)


class ErrorLines:
    """One WARN line per text and half minute. Never raises: an exception in a callback would lose records in hand."""

    def __init__(self, client: str, *, without_token: bool = False) -> None:
        self._client = client or _UNNAMED
        self.without_token = without_token
        """True until this login succeeds once: a service that gives no token then refuses it."""
        self._said: dict[str, float] = {}
        self._refusal: str | None = None

    def raise_refusal(self) -> None:
        """Raise StreamFailure when a broker and this client do not believe each other."""
        if self._refusal is not None:
            raise StreamFailure(self._refusal)

    def __call__(self, error: KafkaError) -> None:
        if refuses_login(error) or (self.without_token and refuses_token(error)):
            self._refusal = self._refusal or refusal(error)
        else:
            self.tell(error.str(), error.name())

    def tell(self, text: str, kind: str = "") -> None:
        """Say it, unless something of that kind was said just now."""
        now = monotonic()
        if now - self._said.get(kind, -_SAME_LINE_INTERVAL) >= _SAME_LINE_INTERVAL:
            self._said[kind] = now
            with suppress(Exception):  # a channel or a log that is broken is found out elsewhere
                events.emit(events.CLIENT_ERROR, client=self._client, text=text)


def require_resolvable(client: str, bootstrap_servers: Sequence[str]) -> None:
    """Raise ConfigurationError, in the Java client's words, when no bootstrap name resolves."""
    for server in bootstrap_servers:
        host, _, port = server.rpartition(":")
        try:
            socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
            return
        except (OSError, ValueError):
            continue
    raise ConfigurationError(
        f"org.apache.kafka.common.KafkaException: Failed to construct kafka {client}\n"
        "Caused by: org.apache.kafka.common.config.ConfigException: "
        f"No resolvable bootstrap urls given in bootstrap.servers ({','.join(bootstrap_servers)})"
    )


def client_version() -> str:
    """Return the name and version of the Kafka client library."""
    return f"librdkafka {libversion()[0]}"


def count_partitions(client: Any, topic: str) -> int | None:
    """Count a topic's partitions: 0 if it does not exist, None if the cluster does not answer in time."""
    try:
        return len(client.list_topics(topic, timeout=QUESTION_TIMEOUT).topics[topic].partitions)
    except KafkaException:
        return None


class TopicAnswer(NamedTuple):
    """A cluster's answer about a topic."""

    problem: str
    """Why it cannot be written now, as Java calls it; empty where it can."""
    cluster_id: str


def ask_topic(client: Any, topic: str) -> TopicAnswer | None:
    """Ask whether a topic can be written; None if the cluster does not answer in time."""
    try:
        answer = client.list_topics(topic, timeout=QUESTION_TIMEOUT)
    except KafkaException:
        return None
    found = answer.topics[topic]
    if found.error is not None:
        return TopicAnswer(java_name(found.error), answer.cluster_id or "")
    leaderless = [number for number, partition in found.partitions.items() if partition.leader == _NO_LEADER]
    return TopicAnswer(f"{topic}-{min(leaderless)}: it has no leader" if leaderless else "", answer.cluster_id or "")


def missing_topics(client: Any, topics: Collection[str]) -> set[str] | None:
    """Return the topics that do not exist, without creating them; None if the cluster does not answer in time."""
    try:
        return set(topics).difference(client.list_topics(timeout=QUESTION_TIMEOUT).topics)
    except KafkaException:
        return None


def leaders(client: Any, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Return the leader of each partition that has one; empty if the cluster does not answer in time."""
    try:
        topics = client.list_topics(timeout=QUESTION_TIMEOUT).topics
    except KafkaException:
        return {}
    found = {each: topics[each.topic].partitions.get(each.partition) for each in partitions if each.topic in topics}
    return {each: row.leader for each, row in found.items() if row is not None and row.leader != _NO_LEADER}


class NetworkLine(NamedTuple):
    """The distance to the leaders of a topic's partitions, and their number."""

    round_trip: float
    """Seconds; the shortest of some."""
    leaders: int


def measure_line(client: Any, topic: str, *, short: float) -> NetworkLine | None:
    """Measure the line to the leaders of a topic; None if it has none, or the cluster does not answer in time.

    A round trip below `short` seconds is believed at once, a longer one only when others are as long.
    """
    round_trip = inf
    deadline = Deadline.after(QUESTION_TIMEOUT)
    for _ in range(_ROUND_TRIPS):
        begin = monotonic()
        try:
            partitions = client.list_topics(topic, timeout=seconds(deadline)).topics[topic].partitions
        except KafkaException:
            return None
        round_trip = min(round_trip, monotonic() - begin)
        if round_trip < short:
            break
    leaders = {partition.leader for partition in partitions.values()} - {_NO_LEADER}
    return NetworkLine(round_trip, len(leaders)) if leaders else None


def to_topic_partition(partition: Any) -> TopicPartition:
    """Convert librdkafka's topic-partition object to our value."""
    return TopicPartition(partition.topic, partition.partition)


def seconds(deadline: Deadline) -> float:
    """Return the time left for one request, with a minimum that allows an answer."""
    return max(_LEAST_TIMEOUT, deadline.remaining())
