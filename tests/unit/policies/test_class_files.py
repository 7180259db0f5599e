"""What a class file says of its class."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.policies.class_files import ClassFile, read_class
from legacy_mm.policies.jar_contents import plugins_called
from tests.fixtures.class_bytes import ABSTRACT, INTERFACE, class_bytes
from tests.fixtures.transform_jars import transform_jar


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
