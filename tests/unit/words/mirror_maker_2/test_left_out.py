"""Parts of Kafka Connect that a file asks for and that are not here."""

from __future__ import annotations

import pytest

from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, Pair
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.mirror_maker_2.left_out import converter_remarks, rest_remarks

AB = "clusters = A, B\nA.bootstrap.servers = a:9092\nB.bootstrap.servers = b:9092\nA->B.enabled = true\n"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
JSON, STRING = "org.apache.kafka.connect.json.JsonConverter", "org.apache.kafka.connect.storage.StringConverter"


def remarks(text: str) -> list[str]:
    file = DriverFile(properties_file.loads(f"{AB}{text}".encode()))
    return list(converter_remarks([FlowReading.of_driver(file, Pair("A", "B"))]))


@pytest.mark.parametrize("place", ["", "A->B.", "B."])
def test_a_converter_of_other_bytes_is_told(place: str) -> None:
    """The connector's, else the worker's."""
    (text,) = remarks(f"{place}value.converter = {JSON}\n")
    assert text == (
        f"A->B: value.converter={JSON} is for what transforms make: values are copied byte for byte here, where "
        "MirrorMaker 2 writes them as JSON, with the bytes in base64; "
        f"value.converter={BYTES} has the same outcome in both"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"key.converter = {BYTES}\nvalue.converter = {BYTES}\n",
        f"A.value.converter = {JSON}\n",
        f"B.value.converter = {JSON}\nA->B.value.converter = {BYTES}\n",
        f"value.converter = {JSON}\nA->B.enabled = false\n",
    ],
)
def test_what_writes_the_same_bytes_is_not(text: str) -> None:
    assert remarks(text) == []


def test_keys_and_values_may_have_different_ones() -> None:
    key, value = remarks(f"key.converter = {STRING}\nvalue.converter = com.acme.Own\n")
    assert "keys are copied byte for byte here, where MirrorMaker 2 writes them as the name of a Java object" in key
    assert "MirrorMaker 2 writes them as this class makes them" in value


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, ""),
        ({"dedicated.mode.enable.internal.rest": "false", "listeners": "http://:2", "admin.listeners": " "}, ""),
        ({"dedicated.mode.enable.internal.rest": "true", "listeners": "http://:2"}, ""),
        ({"dedicated.mode.enable.internal.rest": " true"}, "dedicated.mode.enable.internal.rest: without effect"),
        (
            {"admin.listeners": "http://:1", "rest.advertised.port": "2"},
            "admin.listeners, rest.advertised.port: without effect, because the nodes of a flow agree through its "
            "group; --admin.port NUMBER opens Connect's REST API",
        ),
    ],
)
def test_ports_that_are_not_opened(given: dict[str, str], told: str) -> None:
    found = list(rest_remarks(given))
    assert len(found) == bool(told)
    assert all(text.startswith(told) for text in found)
