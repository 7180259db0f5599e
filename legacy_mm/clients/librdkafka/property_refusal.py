"""Asks librdkafka about properties that it alone reads, before it is a member of the group."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaException

_NONE_SUCH = "legacy_mm.none.such"
"""A name that librdkafka refuses behind any other, so that no client is made."""


def refusal(name: str, text: str) -> str:
    """Return why librdkafka takes no such property, or not with this text, in its words; empty: it takes it."""
    try:
        Consumer({"group.id": "g", name: text, _NONE_SUCH: ""})
    except KafkaException as error:
        said = str(error.args[0].str()).strip()
    except (TypeError, ValueError) as error:  # a callback has no text
        said = str(error).strip()
    return "" if _NONE_SUCH in said else said
