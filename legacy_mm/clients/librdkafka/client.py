"""The settings of a librdkafka client, with quiet logging through events and rate-limited error lines."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError

from legacy_mm.base.errors import StreamFailure, one_line
from legacy_mm.base.kafka_clients import ConnectionSettings, ConsumerSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.librdkafka.error_meanings import refusal, refuses_login, refuses_token
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.clients.net import tokens
from legacy_mm.clients.net.error_lines import ErrorLines
from legacy_mm.logs import events

_native = logging.getLogger("legacy_mm.librdkafka")


def client_properties(
    settings: ConnectionSettings | ConsumerSettings, on_error: Callable[[KafkaError], None], **own: object
) -> dict[str, Any]:
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


def _telling(fetch: tokens.TokenSource, client_id: str) -> Callable[[object], tokens.Granted]:
    """Wrap `fetch` and report why no token comes, which librdkafka does not."""

    def notified(_: object) -> tokens.Granted:
        try:
            return fetch()
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


class _NativeLog:
    """librdkafka's own lines, at debug level whatever it calls them: what matters comes to `error_cb` too."""

    def log(self, _: int, text: str, *arguments: object) -> None:
        """Log like `logging.Logger.log`."""
        with suppress(Exception):
            _native.debug(text, *arguments)


class MemberErrors(ErrorLines):
    """The lines about a membership, and what ends it."""

    def __init__(self, client: str) -> None:
        super().__init__(client)
        self.without_token = True
        """Until this login succeeds once: a service that gives no token then refuses it."""
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


def to_topic_partition(partition: Any) -> TopicPartition:
    """Convert librdkafka's topic-partition object to our value."""
    return TopicPartition(partition.topic, partition.partition)
