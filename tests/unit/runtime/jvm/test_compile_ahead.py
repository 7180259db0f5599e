"""Java sources of ours that are compiled ahead: the jar is used, and what is compiled now does the same."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from legacy_mm.base.settings import JvmSettings
from legacy_mm.handlers.bridge_signatures import CONNECT_SIGNATURES, SIGNATURES
from legacy_mm.handlers.java_source import BY_ARGUMENTS, source, transform_source
from legacy_mm.policies.compiled_java import path_for
from legacy_mm.runtime.jvm import compile_ahead, mbeans
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.jvm.mbeans import MBeans
from legacy_mm.runtime.spark.session import java_when_asked

pytestmark = pytest.mark.spark
ROW = ("count", "double", "Double", 1.5)


@pytest.fixture(scope="module")
def java() -> Iterator[Jvm]:
    with java_when_asked(JvmSettings()) as made:
        yield made()


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the jars are; none yet."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path / "share" / "legacy_mm"


def classes(text: str) -> list[str]:
    with zipfile.ZipFile(path_for(text)) as jar:
        return sorted(jar.namelist())


@pytest.mark.parametrize("arguments", BY_ARGUMENTS)
@pytest.mark.usefixtures("share")
def test_the_bridge_is_compiled_without_kafka(java: Jvm, arguments: int) -> None:
    """Against signatures, of which none gets into the jar."""
    text = source(arguments)
    compile_ahead.write(java, text, SIGNATURES[arguments])
    assert classes(text)[0] == "legacy_mm/HandlerBridge$Column.class"
    assert all(name.startswith("legacy_mm/HandlerBridge") for name in classes(text))


@pytest.mark.usefixtures("share")
def test_the_bridge_of_transforms_is_compiled_without_connect(java: Jvm) -> None:
    compile_ahead.write(java, transform_source(), CONNECT_SIGNATURES)
    names = classes(transform_source())
    assert "legacy_mm/TransformChain.class" in names
    assert all(name.startswith("legacy_mm/") for name in names), "Kafka's own classes are the user's"


def test_a_jar_is_of_one_text_and_written_once(java: Jvm, share: Path) -> None:
    text = "package legacy_mm; public class Small { public int one() { return 1; } }"
    compile_ahead.write(java, text)
    (first,) = share.iterdir()
    before = first.stat().st_mtime_ns
    compile_ahead.write(java, text)
    assert first.stat().st_mtime_ns == before
    assert path_for(text.replace("1", "2")) != first
    assert classes(text) == ["legacy_mm/Small.class"]


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.usefixtures("share")
def test_beans_come_from_the_jar_or_are_compiled_now(java: Jvm, ahead: bool) -> None:
    """In a JVM of its own: py4j remembers methods by the name of their class."""
    if ahead:
        compile_ahead.write(java, mbeans.source())
    with java_when_asked(JvmSettings()) as another:
        beans = MBeans(another())
        beans.publish({"legacy_mm.tests:type=ahead": [ROW]})
        code = beans._beans.getClass().getProtectionDomain().getCodeSource()
        assert (code is not None and "compiled-" in code.getLocation().toString()) is ahead
