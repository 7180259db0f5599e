"""Whether a class path has a class: in a folder or a jar, whatever else lies there."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from legacy_mm.policies.jar_contents import ClassFile, has_class, plugins_called, read_class
from tests.fixtures.class_bytes import ABSTRACT, INTERFACE, class_bytes
from tests.fixtures.transform_jars import transform_jar

KIND = "k.Transformation"


@pytest.fixture
def class_path(tmp_path: Path) -> list[str]:
    (tmp_path / "classes" / "a").mkdir(parents=True)
    (tmp_path / "classes" / "a" / "InFolder.class").touch()
    with ZipFile(tmp_path / "b.jar", "w") as jar:
        jar.writestr("b/InJar.class", b"")
    (tmp_path / "notes.txt").write_text("no jar")
    return [str(tmp_path / name) for name in ("missing.jar", "notes.txt", "classes", "b.jar")]


@pytest.mark.parametrize(
    ("name", "there"), [("a.InFolder", True), ("b.InJar", True), ("b.InFolder", False), ("a", False)]
)
def test_a_class(class_path: list[str], name: str, there: bool) -> None:
    assert has_class(class_path, name) == there


def test_nothing_has_no_class() -> None:
    assert not has_class((), "a.InFolder")


@pytest.fixture
def plugins(tmp_path: Path) -> list[str]:
    """A jar and a folder with transforms, of which some have their interface from a parent."""
    with ZipFile(tmp_path / "a.jar", "w") as jar:
        jar.writestr("a/Mask.class", class_bytes("a.Mask", "a.Base"))
        jar.writestr("a/Base.class", class_bytes("a.Base", "java.lang.Object", KIND, flags=ABSTRACT))
        jar.writestr("a/RouteTransformation.class", class_bytes("a.RouteTransformation", "java.lang.Object", KIND))
        jar.writestr("a/Cut$Key.class", class_bytes("a.Cut$Key", "a.Base"))
        jar.writestr("a/Cut$Value.class", class_bytes("a.Cut$Value", "a.Base"))
        jar.writestr("a/Twice.class", class_bytes("a.Twice", "a.Base"))
        jar.writestr("a/Other.class", class_bytes("a.Other"))
        jar.writestr("a/Torn.class", b"")
    (tmp_path / "b" / "b").mkdir(parents=True)
    (tmp_path / "b" / "b" / "Twice.class").write_bytes(class_bytes("b.Twice", "java.lang.Object", KIND))
    (tmp_path / "b" / "b" / "OtherTransformation.class").write_bytes(class_bytes("b.OtherTransformation", "a.Base"))
    return [str(tmp_path / name) for name in ("a.jar", "missing.jar", "b")]


@pytest.mark.parametrize(
    ("alias", "found"),
    [
        ("Mask", ["a.Mask"]),
        ("Route", ["a.RouteTransformation"]),
        ("RouteTransformation", ["a.RouteTransformation"]),
        ("Key", ["a.Cut$Key"]),
        ("Twice", ["a.Twice", "b.Twice"]),
        ("Other", ["b.OtherTransformation"]),
        ("Base", []),
        ("Torn", []),
        ("Cut", []),
        ("mask", []),
    ],
)
def test_what_connect_s_short_name_may_mean(plugins: list[str], alias: str, found: list[str]) -> None:
    assert plugins_called(plugins, alias, KIND) == found


def test_a_class_with_parents() -> None:
    read = read_class(class_bytes("a.B$C", "a.Base", "x.One", "x.Two"))
    assert read == ClassFile("a.B$C", True, ("a.Base", "x.One", "x.Two"))


@pytest.mark.parametrize(("flags", "concrete"), [(0x21, True), (0x20, False), (ABSTRACT, False), (INTERFACE, False)])
def test_who_can_have_objects(flags: int, concrete: bool) -> None:
    read = read_class(class_bytes("a.B", flags=flags))
    assert read is not None and read.is_concrete is concrete


@pytest.mark.parametrize("data", [b"", b"\xca\xfe", b"no class" * 9, class_bytes("a.B")[:-9], b"\xca\xfe\xba\xbe" * 9])
def test_what_is_no_class(data: bytes) -> None:
    assert read_class(data) is None


@pytest.mark.spark
def test_what_java_s_compiler_writes(tmp_path: Path) -> None:
    jar = str(transform_jar(tmp_path))
    kinds = {name: f"org.apache.kafka.connect.transforms.{name}" for name in ("Transformation", "predicates.Predicate")}
    assert plugins_called([jar], "Mask", kinds["Transformation"]) == ["com.acme.Mask"]
    assert plugins_called([jar], "Longer", kinds["predicates.Predicate"]) == ["com.acme.Longer"]
    assert plugins_called([jar], "Longer", kinds["Transformation"]) == []
    assert plugins_called([jar], "Plain", kinds["Transformation"]) == []
