"""Remarks on what a file asks of Kafka Connect and is not here: converters of records, ports between nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from legacy_mm.words.mirror_maker_2.connector_properties import java_boolean
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.mirror_maker_2.rest_listeners import SWITCH

_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
_CONVERTERS: Mapping[str, str] = {"key.converter": "keys", "value.converter": "values"}
_WRITTEN: Mapping[str, str] = {
    "org.apache.kafka.connect.json.JsonConverter": "as JSON, with the bytes in base64",
    "org.apache.kafka.connect.storage.StringConverter": "as the name of a Java object, and loses the bytes",
}
_PORTS = (
    "admin.listeners",
    "rest.advertised.listener",
    "rest.advertised.host.name",
    "rest.advertised.port",
)


def converter_remarks(readings: Sequence[FlowReading]) -> Iterator[str]:
    """Yield a sentence for each converter of a flow with which MirrorMaker 2 would write other bytes than it read."""
    for each in readings:
        for key, what in _CONVERTERS.items():
            name = each.properties["source"].get(key, "").strip() or each.worker.get(key, "").strip()
            if each.copies and name and name != _BYTES:
                written = _WRITTEN.get(name, "as this class makes them")
                yield (
                    f"{each.pair}: {key}={name} is for what transforms make: {what} are copied byte for byte here, "
                    f"where MirrorMaker 2 writes them {written}; {key}={_BYTES} has the same outcome in both"
                )


def rest_remarks(properties: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence about what a driver's or a worker's properties say of REST ports beside `listeners`."""
    named = [key for key in _PORTS if properties.get(key, "").strip()]
    if java_boolean(properties.get(SWITCH, "").strip()) and not properties.get("listeners", "").strip():
        named.append(SWITCH)
    if named:
        yield (
            f"{', '.join(named)}: without effect, because the nodes of a flow agree through its group; "
            "--admin.port NUMBER opens Connect's REST API, with /healthz, /readyz and metrics beside it"
        )
