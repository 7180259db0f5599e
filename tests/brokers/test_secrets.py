"""Invariant G on the whole command: what the files keep secret turns up nowhere, whatever goes wrong.

Every planted secret holds the word WORD, so one search finds them all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.words.java_clients.client_properties.apply import PRODUCER_RULES
from legacy_mm.words.java_clients.client_properties.rule import SecretText

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
WORD = "geheim"
PATIENCE = 60.0
KEY = f"-----BEGIN PRIVATE KEY-----\n{WORD}MIIEvQIBADANBgkqhkiG9w0\n-----END PRIVATE KEY-----"
PLAIN_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
EVERYWHERE = {
    "ssl.key.password": f"{WORD}-key",
    "ssl.keystore.password": f"{WORD}-store",
    "ssl.keystore.key": KEY,
    "schema.registry.basic.auth.user.info": f"somebody:{WORD}-registry",
    "sasl.oauthbearer.token.endpoint.url": f"https://somebody:{WORD}-url@127.0.0.1:1/token",
    "some.interceptor.sasl.jaas.config": f'{PLAIN_LOGIN} username="x" password="{WORD}-inner";',
    "my.api.token": f"{WORD}-token",
}


def login(password: str) -> dict[str, str]:
    """SASL PLAIN over plain text, and every other kind of secret beside it."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{PLAIN_LOGIN} username="user" password="{password}";',
        **EVERYWHERE,
    }


@pytest.fixture(scope="module")
def guarded(module_clusters: Callable[..., Cluster]) -> Iterator[Cluster]:
    """A cluster that knows one user."""
    user = f'{PLAIN_LOGIN} user_user="{WORD}-right";'
    yield module_clusters(
        listeners={"GUARDED": "SASL_PLAINTEXT"},
        properties={
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.guarded.plain.sasl.jaas.config": user,
        },
    )


class Search:
    """Folders of one run, and everything in them and in its processes."""

    def __init__(self, folder: Path) -> None:
        self.temporary, self.logs, self.events = (folder / name for name in ("tmp", "logs", "events"))
        for each in (self.temporary, self.logs, self.events):
            each.mkdir(parents=True)
        self.log4j = folder / "mirror-log4j.properties"
        self.log4j.write_text(
            "log4j.rootLogger=DEBUG, file, console\n"
            "log4j.appender.console=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.file=org.apache.log4j.RollingFileAppender\n"
            "log4j.appender.file.File=${kafka.logs.dir}/mirror.log\n"
            "log4j.appender.file.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.file.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n\n"
        )
        self.environment = {
            "TMPDIR": str(self.temporary),
            "LOG_DIR": str(self.logs),
            "KAFKA_LOG4J_OPTS": f"-Dlog4j.configuration=file:{self.log4j}",
        }

    def found(self, tool: ToolProcess) -> list[str]:
        """Where the word is."""
        places = [str(path) for path in self._files() if WORD.encode() in path.read_bytes()]
        for pid, name in tool.tree.names().items():
            for what in ("cmdline", "environ"):
                if WORD.encode() in _read(Path(f"/proc/{pid}/{what}")):
                    places.append(f"{what} of {name}")
        if WORD in tool.output():
            places.append(next(line for line in tool.output().splitlines() if WORD in line))
        return places

    def _files(self) -> list[Path]:
        folders = (self.temporary, self.logs, self.events)
        return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.fixture
def search(tmp_path: Path) -> Search:
    return Search(tmp_path / "search")


@pytest.mark.parametrize("options", [("--log.level", "TRACE", "--log.format", "json"), ()], ids=["trace-json", "file"])
def test_a_running_mirror_and_a_login_that_fails(
    options: tuple[str, ...],
    guarded: Cluster,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    search: Search,
) -> None:
    """The source lets us in, so the plan with all credentials reaches a worker; the target does not."""
    name = topic()
    create_topic(guarded.bootstrap, name)
    load(guarded.bootstrap, name, 100, 20)
    servers = {"bootstrap.servers": guarded.bootstrap_of("GUARDED")}
    tool = our_tool(
        {**servers, "group.id": group, "auto.offset.reset": "earliest", **login(f"{WORD}-right")},
        {**servers, **login(f"{WORD}-wrong")},
        "--whitelist",
        name,
        "--shutdown.timeout.ms=3000",
        "--spark.conf=spark.eventLog.enabled=true",
        "--spark.conf=spark.eventLog.compress=false",
        f"--spark.conf=spark.eventLog.dir=file:{search.events}",
        *options,
        environment=search.environment,
    )
    tool.wait_for_output("Stream 0 copies from", PATIENCE)
    assert len(tool.tree.pids()) > 2
    assert search.found(tool) == []
    assert tool.wait(PATIENCE) == 255
    assert search.found(tool) == []
    assert "Authentication failed" in (search.logs / "mirror.log").read_text()
    told = [path.read_bytes() for path in search.events.rglob("*") if path.is_file()]
    assert any(b"Spark Properties" in text for text in told)
    if options:
        lines = [json.loads(line) for line in tool.output().splitlines() if line.startswith("{")]
        assert {"starting", "copy-started", "stream-failed"} <= {line.get("event") for line in lines}


BROKEN: dict[str, dict[str, Any]] = {
    "login without an end": {"sasl.jaas.config": f'{PLAIN_LOGIN} username="x" password="{WORD}-x"'},
    "login of an unknown kind": {"sasl.jaas.config": f'x.Y required password="{WORD}-x";'},
    "no number": {"linger.ms": f"https://somebody:{WORD}@x"},
    "native": {"librdkafka.sasl.password": f"{WORD}-x", "librdkafka.group.id": f"{WORD}-x"},
    "key that is none": {"security.protocol": "SSL", "ssl.keystore.type": "PEM", "ssl.keystore.key": KEY},
    "every secret": {
        **{rule.name: f"-----BEGIN {WORD}" for rule in PRODUCER_RULES if isinstance(rule.type, SecretText)},
        "security.protocol": "SASL_SSL",
        "ssl.keystore.type": "PEM",
        "ssl.truststore.type": "PEM",
    },
    "no word": {"security.protocol": f"https://somebody:{WORD}@x"},
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("options", [("--log.level", "TRACE"), ("--log.format", "json")], ids=["trace", "json"])
def test_a_broken_value(
    case: str, options: tuple[str, ...], our_tool: Callable[..., ToolProcess], search: Search
) -> None:
    servers = {"bootstrap.servers": "127.0.0.1:1"}
    tool = our_tool(
        {**servers, "group.id": "g", **login(f"{WORD}-right")},
        {**servers, **login(f"{WORD}-wrong"), **BROKEN[case]},
        "--whitelist",
        "t",
        *options,
        environment=search.environment,
    )
    assert tool.wait(PATIENCE) == 1, tool.output()
    assert search.found(tool) == []
    assert (search.logs / "mirror.log").read_text()
