"""librdkafka's properties of a client: the one place where the fields of its settings become texts again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from legacy_mm.base.kafka_clients import AnyClient
from legacy_mm.base.property_names import ROWS

_OTHER_DEFAULTS = {
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "connections.max.idle.ms",
    "queued.max.messages.kbytes",
    "max.in.flight.requests.per.connection",
    "message.max.bytes",
    "queue.buffering.max.kbytes",
    "message.timeout.ms",
    "partitioner",
}
"""Names whose default in librdkafka is not that of the field. Of the others a default is not written: librdkafka
refuses some beside others, such as the times of the classic membership beside `group.protocol=consumer`.
"""


def property_texts(settings: AnyClient) -> dict[str, str]:
    """Return librdkafka property -> value. They hold credentials: for a client of librdkafka only."""
    return dict(_texts(settings))


def _texts(settings: Any) -> Iterator[tuple[str, str]]:
    rows = ROWS.get(type(settings), {})
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name == "further":
            yield from value.items()
        elif (row := rows.get(field.name)) is None:
            yield from _texts(value)
        elif not row.ours and (value != field.default or row.name in _OTHER_DEFAULTS):
            yield row.name, row.kind.write(value)
