"""The user's Java classes in the driver's JVM, really loaded: what is refused, when, and in which words."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import HandlerSettings, ListenerSettings
from legacy_mm.flow.plugins import make_listener, ready_handler
from legacy_mm.logs import root_logger
from legacy_mm.runtime.jvm import jars as jars_module
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.jvm.java_classes import HANDLER, searched, with_interface

pytestmark = pytest.mark.spark
SOME = frozenset({TopicPartition("t", 0)})


@pytest.fixture(scope="module")
def jars(handler_jars: dict[str, Path]) -> tuple[str, ...]:
    return tuple(map(str, handler_jars.values()))


@pytest.mark.parametrize(
    ("name", "argument", "told"),
    [
        ("no.such.Handler", None, "java.lang.ClassNotFoundException: no.such.Handler"),
        ("", None, "java.lang.ClassNotFoundException: "),
        ("handlers.Rename", None, "java.lang.NoSuchMethodException: handlers.Rename.<init>()"),
        ("handlers.FanOut", "x", "java.lang.NoSuchMethodException: handlers.FanOut.<init>(java.lang.String)"),
        ("Odd", None, "java.lang.NoSuchMethodException: Odd.<init>()"),
        ("LoggingListener", "x", "java.lang.ClassCastException: class LoggingListener cannot be cast to class kafka"),
    ],
    ids=["missing", "empty name", "no constructor", "no constructor with args", "not public", "wrong type"],
)
def test_handlers_that_cannot_be_made(
    jvm: Jvm, jars: tuple[str, ...], name: str, argument: str | None, told: str
) -> None:
    """Contract 5.4. Difference: handler-checked-at-start."""
    with pytest.raises(HandlerFailure) as refused:
        ready_handler(HandlerSettings(name, argument, (), jars), lambda: jvm)
    assert str(refused.value).startswith(told)
    assert refused.value.exit_code == 255


def test_where_a_missing_class_was_looked_for_is_said(jvm: Jvm, jars: tuple[str, ...], tmp_path: Path) -> None:
    entries = (str(tmp_path / "renam.jar"), str(tmp_path), *jars)
    with pytest.raises(HandlerFailure) as refused:
        ready_handler(HandlerSettings("no.such.Handler", None, (), entries), lambda: jvm)
    place, advice = refused.value.__notes__
    assert place.startswith(f"no.such.Handler is in none of: {entries[0]} (no such file), {tmp_path}, ")
    assert "LEGACY_MM_KAFKA_HOME" in advice
    with pytest.raises(ConfigurationError) as listener:
        make_listener(ListenerSettings("no.such.Listener", None, entries), lambda: jvm)
    assert listener.value.__notes__[0].startswith("no.such.Listener is in none of: ")


def test_jars_of_a_folder_are_counted(tmp_path: Path) -> None:
    for name in ("a.jar", "b.jar"):
        (tmp_path / name).touch()
    assert searched([str(tmp_path / name) for name in ("a.jar", "b.jar")]) == [f"2 jars in {tmp_path}"]
    assert searched([str(tmp_path / "a.jar")]) == [str(tmp_path / "a.jar")]


def test_who_waits_for_the_interfaces_is_told_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also by a command that prints no log."""
    monkeypatch.setenv("LEGACY_MM_CACHE", str(tmp_path))
    fetched: list[str] = []

    def fetch(row: jars_module.Release, folder: Path) -> None:
        fetched.append(capsys.readouterr().err)
        folder.mkdir()

    monkeypatch.setattr(jars_module, "_fetch", fetch)
    root_logger.silence()
    with_interface((), HANDLER)
    with_interface((), HANDLER)
    (said,) = fetched
    assert f"WARN Fetching the Java interfaces of Kafka 3.9.1 from Maven Central into {tmp_path}" in said
    assert capsys.readouterr().err == ""


def test_no_code_of_a_handler_runs_in_the_driver(jvm: Jvm, jars: tuple[str, ...]) -> None:
    """A second object beside the copy task's could hold a file or port that this one needs."""
    asked = HandlerSettings("Odd", "throw", (), jars)
    assert ready_handler(asked, lambda: jvm).name == "Odd", "its constructor throws"


@pytest.mark.parametrize(
    ("name", "argument", "told"),
    [
        ("no.such.Listener", None, "java.lang.ClassNotFoundException: no.such.Listener"),
        ("LoggingListener", None, "java.lang.NoSuchMethodException: LoggingListener.<init>()"),
        (
            "LoggingListener",
            "/no/such/file",
            "java.io.FileNotFoundException: /no/such/file (No such file or directory)",
        ),
    ],
    ids=["missing", "no constructor", "constructor throws"],
)
def test_listeners_that_cannot_be_made(
    jvm: Jvm, jars: tuple[str, ...], name: str, argument: str | None, told: str
) -> None:
    """Contract 5.4."""
    with pytest.raises(ConfigurationError) as refused:
        make_listener(ListenerSettings(name, argument, jars), lambda: jvm)
    assert (str(refused.value), refused.value.exit_code) == (told, 1)


def test_a_listener_of_another_type_is_noticed_when_it_is_called(jvm: Jvm, jars: tuple[str, ...]) -> None:
    """Contract 5.4."""
    made = make_listener(ListenerSettings("handlers.FanOut", None, jars), lambda: jvm)
    with pytest.raises(HandlerFailure, match=r"ClassCastException: class handlers\.FanOut cannot be cast") as failure:
        made.assigned(SOME)
    assert failure.value.exit_code == 255


def test_what_a_listener_throws_ends_the_stream(jvm: Jvm, jars: tuple[str, ...], tmp_path: Path) -> None:
    """Contract 3.7."""
    folder = tmp_path / "here"
    folder.mkdir()
    made = make_listener(ListenerSettings("LoggingListener", str(folder / "log"), jars), lambda: jvm)
    made.assigned(SOME)
    assert (folder / "log").read_text() == "made\nassigned [t-0]\n"
    shutil.rmtree(folder)
    with pytest.raises(HandlerFailure, match=r"listener failed: java\.io\.FileNotFoundException") as failure:
        made.revoked(SOME)
    assert failure.value.exit_code == 255
