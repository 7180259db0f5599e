"""Transforms that are no steps: what Java gets of a file, and the class that no jar has."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, Pair
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.mirror_maker_2.java_transforms import java_transforms, plugin_jars
from tests.fixtures.class_bytes import class_bytes

PAIR = Pair("A", "B")
START = """clusters = A, B
A.bootstrap.servers = a:9092
B.bootstrap.servers = b:9092
A->B.enabled = true
"""
CONNECT = "org.apache.kafka.connect"
MASK = "A->B.transforms = m, f\nA->B.transforms.m.type = com.acme.Mask\nA->B.transforms.f.type = Filter\n"
IS = "A->B.transforms.f.predicate = p\nA->B.predicates = p\nA->B.predicates.p.type = com.acme.Is\n"


def reading(text: str) -> FlowReading:
    file = DriverFile(dict(properties_file.loads(f"{START}{text}".encode())))
    return FlowReading.of_driver(file, PAIR)


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    path = tmp_path / "acme.jar"
    with zipfile.ZipFile(path, "w") as made:
        for name in ("Mask", "Is"):
            made.writestr(f"com/acme/{name}.class", b"")
    return path


@pytest.mark.parametrize("text", ["", "A->B.transforms = f\nA->B.transforms.f.type = Filter\n"])
def test_steps_need_no_java(text: str) -> None:
    assert java_transforms(reading(text), []) is None


def test_what_java_gets(jar: Path) -> None:
    """The properties of the chain with whole names of classes, and no other of the connector."""
    lines = "A->B.transforms.m.kept =  2\nA->B.transforms.other.type = x\nA->B.errors.tolerance = all\n"
    made = java_transforms(reading(f"{MASK}{IS}{lines}A->B.topics = t\n"), [str(jar)])
    assert made is not None
    bytes_ = f"{CONNECT}.converters.ByteArrayConverter"
    assert made.properties == {
        "transforms": "m,f",
        "transforms.m.type": "com.acme.Mask",
        "transforms.m.kept": "2",
        "transforms.f.type": f"{CONNECT}.transforms.Filter",
        "transforms.f.predicate": "p",
        "predicates.p.type": "com.acme.Is",
        "source.cluster.alias": "A",
        "name": "MirrorSourceConnector-0",
        "errors.tolerance": "all",
        "errors.retry.timeout": "0",
        "errors.retry.delay.max.ms": "60000",
        "errors.log.enable": "False",
        "errors.log.include.messages": "False",
        **dict.fromkeys(("key.converter", "value.converter", "header.converter"), bytes_),
    }
    assert "com.acme" not in repr(made)


def test_a_converter_of_the_connector_comes_with_its_own_properties(jar: Path) -> None:
    text = "A->B.value.converter = com.acme.C\nA->B.value.converter.x = 1\n"
    text += "B.key.converter = com.acme.K\nB.key.converter.y = 2\n"
    made = java_transforms(reading(f"{MASK}{text}"), [str(jar)])
    assert made is not None
    found = {key: value for key, value in made.properties.items() if "converter" in key}
    assert found == {
        "value.converter": "com.acme.C",
        "value.converter.x": "1",
        "key.converter": "com.acme.K",
        "key.converter.y": "2",
        "header.converter": f"{CONNECT}.converters.ByteArrayConverter",
    }


def test_another_class_of_connect_is_in_connect_s_own_jars() -> None:
    text = f"A->B.transforms = m\nA->B.transforms.m.type = {CONNECT}.transforms.MaskField$Value\n"
    made = java_transforms(reading(text), [])
    assert made is not None and made.properties["transforms.m.type"].endswith("MaskField$Value")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (MASK, r"transforms\.m\.type=com\.acme\.Mask is not possible, .*InsertHeader, RegexRouter, TimestampRouter"),
        (
            f"{MASK.replace('m, f', 'f')}{IS}",
            r"predicates\.p\.type=com\.acme\.Is is not possible, .*HasHeaderKey, RecordIsTombstone, TopicNameMatches",
        ),
    ],
)
def test_a_class_that_no_jar_has(text: str, key: str, tmp_path: Path) -> None:
    """The line names the class and the class path."""
    missing = tmp_path / "gone.jar"
    with pytest.raises(ConfigurationError, match=rf"^A->B\.{key}") as refused:
        java_transforms(reading(text), [str(missing)])
    assert f"{missing} (no such file)" in str(refused.value)


def test_jars_of_the_plugin_path(jar: Path, tmp_path: Path) -> None:
    """A folder of jars, a folder of plug-ins, a jar."""
    inner = tmp_path / "plugins" / "acme" / "lib.jar"
    inner.parent.mkdir(parents=True)
    inner.write_bytes(b"")
    (inner.parent / "LICENSE").write_bytes(b"")
    given = f"B.plugin.path = {tmp_path}/plugins , {jar},{tmp_path}/none,\n"
    assert plugin_jars(reading(given)) == [[str(inner)], [str(jar)]]
    assert plugin_jars(reading("")) == []


def test_each_plug_in_has_a_class_path_of_its_own(jar: Path) -> None:
    made = java_transforms(reading(MASK), [str(jar)], [-1, 0, 0, 1])
    path = ("all.jar", "a.jar", "b.jar", "c.jar", "connect.jar")
    settings = HandlerSettings("transforms", class_path=path, transforms=made)
    assert settings.shared_path() == ["all.jar", "connect.jar"]
    assert settings.plugin_paths() == [["a.jar", "b.jar"], ["c.jar"]]
    assert HandlerSettings("com.acme.Handler", class_path=path).shared_path() == [*path]


SHORT = "A->B.transforms = m\nA->B.transforms.m.type = {}\n"


@pytest.fixture
def twice(tmp_path: Path) -> str:
    kind = f"{CONNECT}.transforms.Transformation"
    with zipfile.ZipFile(tmp_path / "twice.jar", "w") as made:
        for name in ("a.Twice", "b.Twice", "a.OnceTransformation"):
            made.writestr(f"{name.replace('.', '/')}.class", class_bytes(name, "java.lang.Object", kind))
    return str(tmp_path / "twice.jar")


@pytest.mark.parametrize(
    ("short", "whole"),
    [("Once", "a.OnceTransformation"), ("OnceTransformation", "a.OnceTransformation"),
     ("ValueToKey", f"{CONNECT}.transforms.ValueToKey")],
)  # fmt: skip
def test_a_short_name(short: str, whole: str, twice: str) -> None:
    made = java_transforms(reading(SHORT.format(short)), [twice])
    assert made is not None and made.properties["transforms.m.type"] == whole


@pytest.mark.parametrize(("short", "said"), [("Twice", "it may be a.Twice or b.Twice"), ("Value", "no jar has")])
def test_a_short_name_that_says_too_little(short: str, said: str, twice: str) -> None:
    with pytest.raises(ConfigurationError, match=f"A->B.transforms.m.type={short} is not possible, because {said}"):
        java_transforms(reading(SHORT.format(short)), [twice])
