"""Checks that the target stores record headers: brokers do since 0.11; for older ones librdkafka silently drops
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    ResourceType,
)

from legacy_mm.clients.librdkafka.client import QUESTION_TIMEOUT, ErrorLines, client_properties
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.protocol.message_set import NO_HEADERS, HeadersRefused

_NO_ANSWER = {KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._DESTROY}


class HeaderCheck:
    """Asks the target when the first record with headers is to be sent, and not again."""

    def __init__(self, settings: ProducerSettings, errors: ErrorLines) -> None:
        self._connection = settings.connection
        self._errors = errors
        self._stored = settings.produce.idempotent  # who gives producer ids stores headers, too

    def admits(self, headers: Iterable[Any], topic: str) -> bool:
        """Return True if records with these headers may be sent to this topic now; False: the target does not answer.

        Raise HeadersRefused when they would be lost.
        """
        if self._stored or not any(headers):
            return True
        stored = self._ask(topic)
        if stored is False:
            raise HeadersRefused(f"sending to {topic} failed: {NO_HEADERS}")
        self._stored = bool(stored)
        return self._stored

    def _ask(self, topic: str) -> bool | None:
        """Ask by DescribeConfigs, which came with the record format that has headers; a refusal is an answer as
        well.
        """
        resource = ConfigResource(ResourceType.TOPIC, topic)
        admin = AdminClient(client_properties(self._connection, self._errors))
        asked = admin.describe_configs([resource], request_timeout=QUESTION_TIMEOUT)
        try:
            asked[resource].result()
        except KafkaException as error:
            code = error.args[0].code()
            return None if code in _NO_ANSWER else code != KafkaError._UNSUPPORTED_FEATURE
        return True
