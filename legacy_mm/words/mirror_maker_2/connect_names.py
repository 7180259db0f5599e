"""The client ids of MirrorMaker 2's clients, for those of a flow that do the same work.

Quotas of brokers and queries of dashboards go by them. A connector puts the user's own `client.id` in front.
"""

from __future__ import annotations

from legacy_mm.base.settings import ConnectNames
from legacy_mm.words.mirror_maker_2.connector_properties import CONNECTORS, ConnectorKind
from legacy_mm.words.mirror_maker_2.file_lines import FlowSide
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading

_CLIENT_ID = "client.id"
_OF_HEARTBEATS: tuple[ConnectorKind, FlowSide, str] = ("heartbeat", "target", "heartbeats")
"""The only connector with an admin client where nothing is copied."""


def read(reading: FlowReading, streams: int, connectors: tuple[str, ...], *, in_group: bool) -> ConnectNames:
    """Return the names of a flow; `in_group`: its worker is in a group of Kafka Connect."""

    def admin(connector: ConnectorKind, side: FlowSide, role: str, task: str = "") -> str:
        return _of_connector(reading, connector, side, "admin", f"{role}-{side}-admin", task)

    given = reading.worker.get(_CLIENT_ID, "").strip()
    base = "-".join(filter(None, (reading.worker.get("group.id", "").strip(), given)))
    return ConnectNames(
        consumers=tuple(consumer_id(reading, stream) for stream in range(streams)),
        connectors=connectors,
        worker=(given or f"connect-{reading.pair}") if in_group else "",
        admin_of_worker=f"{base}-shared-admin" if in_group else "",
        admin_at_source=admin("source", "source", "replication") if reading.copies else "",
        admin_at_target=admin(*(("source", "target", "replication") if reading.copies else _OF_HEARTBEATS)),
        groups_at_source=admin("checkpoint", "source", "checkpoint", "-0"),
        groups_at_target=admin("checkpoint", "target", "checkpoint", "-0"),
    )


def consumer_id(reading: FlowReading, stream: int) -> str:
    """Return the client id of the consumer of a stream: that of a task of the source connector."""
    return _of_connector(reading, "source", "source", "consumer", "replication-consumer", f"-{stream}")


def producer_id(reading: FlowReading) -> str:
    """Return the client id of the producer of records where the user gives it none; all streams share it."""
    return f"connector-producer-{_name(reading, 'source')}-0"


def _of_connector(
    reading: FlowReading, connector: ConnectorKind, side: FlowSide, client: str, role: str, task: str
) -> str:
    given = reading.properties[connector]
    names = f"{side}.{client}.{_CLIENT_ID}", f"{client}.{_CLIENT_ID}"
    own = next((f"{given[name]}|" for name in names if name in given), "")
    return f"{own}{reading.pair}|{_name(reading, connector)}{task}|{role}"


def _name(reading: FlowReading, connector: ConnectorKind) -> str:
    """Return the name of a connector, also of one that is not there."""
    return reading.text(connector, "name") or CONNECTORS[connector]
