"""The Java of every command trusts whom the mirror's trusts: it has the same properties, and none of its ports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.java_files import write_properties
from legacy_mm.base.errors import HostError
from legacy_mm.base.settings import JvmSettings, SparkSettings
from legacy_mm.cli import selftest, verify
from legacy_mm.cli.legacy_mm import main
from legacy_mm.client import MirrorClient
from legacy_mm.runtime.spark import session

TRUST = "-Djavax.net.ssl.trustStore=/etc/trust.p12"
ELSEWHERE = "-Djavax.net.ssl.trustStore=/etc/other.p12"
OPTIONS = f"-Xmx1g {TRUST} -Dcom.sun.management.jmxremote.port=9999 -javaagent:agent.jar"
LINE = ("--consumer.config", "c.properties", "--producer.config", "p.properties", "--include", "t")
SYNCS = (
    "--emit.offset-syncs.enabled=true",
    "--preserve.partitions=true",
    "--source.cluster.alias=a",
    "--target.cluster.alias=b",
)
DRIVER = {
    "clusters": "A, B",
    "A.bootstrap.servers": "127.0.0.1:1",
    "B.bootstrap.servers": "127.0.0.1:2",
    "A->B.enabled": "true",
    "security.protocol": "SSL",
}

COMMANDS: dict[str, tuple[str, ...]] = {
    "explain": (),
    "plan": (),
    "translate": ("--group", "g"),
    "cutover": ("--group", "g"),
    "adopt": ("--offsets-topic", "o"),
    "exactly-once": ("status",),
    "redrive": ("aside.jsonl",),
    "handler": ("test", "--topic", "t"),
    "clusters": (),
    "verify": (),
    "ledger": ("check", "--file", "ledger.txt"),
    "selftest": (),
}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[JvmSettings]:
    """The wishes of each JVM that would start; two files are there that name no store, and MirrorMaker 2's."""
    found: list[JvmSettings] = []

    def host(settings: SparkSettings, streams: int, **_: Any) -> session.SparkHost:
        found.append(settings.jvm)
        raise HostError("no Java here")

    for module in (session, verify):
        monkeypatch.setattr(module, "SparkHost", host)
    monkeypatch.chdir(tmp_path)
    for name, port in (("c", 1), ("p", 2)):
        file = {"bootstrap.servers": f"127.0.0.1:{port}", "security.protocol": "SSL", "group.id": "g"}
        write_properties(tmp_path / f"{name}.properties", file)
    write_properties(tmp_path / "mm2.properties", DRIVER)
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KAFKA_OPTS", OPTIONS)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_of_each_command(command: str, asked: list[JvmSettings]) -> None:
    main([command, *COMMANDS[command], "--", "kafka-mirror-maker.sh", *LINE, *SYNCS])
    assert asked
    assert {each.options for each in asked} == {(TRUST,)}


@pytest.mark.parametrize("command", ["explain", "plan", "verify", "ledger", "selftest"])
def test_of_a_flow_of_mirror_maker_2(command: str, asked: list[JvmSettings]) -> None:
    main([command, *COMMANDS[command], "--", "connect-mirror-maker.sh", "mm2.properties"])
    assert {each.options for each in asked} == {(TRUST,)}


@pytest.mark.parametrize("command", ["explain", "plan", "translate", "verify", "ledger", "selftest"])
def test_what_stands_before_the_command_counts(command: str, asked: list[JvmSettings]) -> None:
    main([command, *COMMANDS[command], "--", "env", f"KAFKA_OPTS={ELSEWHERE}", "kafka-mirror-maker.sh", *LINE, *SYNCS])
    assert {each.options for each in asked} == {(ELSEWHERE,)}


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "--source-config", "c.properties", "--target-config", "p.properties", "--topics", "t"),
        ("ledger", "produce", "--config", "c.properties", "--topic", "t", "--file", "ledger.txt"),
        ("selftest", "--source", "c.properties", "--target", "p.properties"),
        ("clusters", "--config", "c.properties"),
    ],
    ids=lambda words: words[0],
)
def test_of_files_alone(words: tuple[str, ...], asked: list[JvmSettings]) -> None:
    assert main(list(words)) == 1
    assert {each.options for each in asked} == {(TRUST,)}


def test_of_a_program_with_mirror_maker_2_s_client(asked: list[JvmSettings]) -> None:
    with pytest.raises(HostError, match="no Java here"):
        MirrorClient({"bootstrap.servers": "127.0.0.1:1", "security.protocol": "SSL"})
    assert [each.options for each in asked] == [(TRUST,)]


@pytest.mark.parametrize(
    ("option", "kept"),
    [
        ("-Djavax.net.ssl.trustStorePassword=a b", True),
        ("-Djava.security.krb5.conf=/k", True),
        ("-Dcom.sun.management.jmxremote", False),
        ("-Xlog:gc*:file=gc.log", False),
        ("-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=5005", False),
    ],
)
def test_options_of_a_second_java(option: str, kept: bool) -> None:
    mirror = JvmSettings((option,), "plugins.jar", "/java")
    assert mirror.for_questions() == JvmSettings((option,) if kept else (), java_home="/java")


def test_the_mirrors_of_a_self_test_have_them_too() -> None:
    """Their environment has no variable of Kafka's; a blank may be in a value."""
    read: Callable[[JvmSettings], Any] = selftest._environment
    assert read(JvmSettings(("-Da=b c", "-Xmx1g"))) == {"JDK_JAVA_OPTIONS": "'-Da=b c'"}
    assert read(JvmSettings()) == {}
