"""The admin port shows no secret: every path and method, of flows that copy, are refused, and cannot log in.

Every planted secret holds the word WORD, so one search finds them all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import COMMANDS
from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.connect_files import source_connector, worker_properties
from tests.fixtures.rest_api import ROUTES, RestCaller

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
WORD = "geheim"
PLAIN_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
URL = f"https://somebody:{WORD}-url@127.0.0.1:1/token"
OTHERS = {
    "ssl.key.password": f"{WORD}-key",
    "ssl.keystore.password": f"{WORD}-store",
    "sasl.oauthbearer.token.endpoint.url": URL,
    "sasl.oauthbearer.client.credentials.client.secret": f"{WORD}-client",
}
SENT = {"topics": "none", "my.api.token": f"{WORD}-sent", "source.cluster.ssl.key.password": f"{WORD}-sent"}
NUMBER = {"source.consumer.fetch.max.wait.ms": URL}
ODD = {"tasks.max": "odd", "source.cluster.sasl.jaas.config": f'{PLAIN_LOGIN} password="{WORD}-odd'}
BODIES: tuple[object, ...] = (None, SENT, ODD, NUMBER, [ODD], {})
CONNECTORS = ("works", "refused", "waits")
QUERIES = ("", "?expand=info&expand=status", "?includeTasks=true", "?level=x&dry.run=true", "?flow={flow}&find={flow}")


@pytest.fixture(scope="module")
def guarded(module_clusters: Callable[..., Cluster]) -> Cluster:
    """A cluster that knows one user."""
    return module_clusters(
        listeners={"GUARDED": "SASL_PLAINTEXT"},
        properties={
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.guarded.plain.sasl.jaas.config": f'{PLAIN_LOGIN} user_user="{WORD}-right";',
        },
    )


def login(side: str, password: str) -> dict[str, str]:
    """The login of a connector at one side; without a password only secrets that nothing reads there."""
    plain = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{PLAIN_LOGIN} username="user" password="{password}";',
    }
    return {f"{side}.cluster.{name}": text for name, text in {**(plain if password else {}), **OTHERS}.items()}


def answers(api: RestCaller, names: dict[str, list[str]], flows: list[str]) -> Iterator[tuple[str, str]]:
    """A call, and all that came back; the methods are those that the path says it has, and two that it has not."""
    for route in ROUTES:
        slots = [slot for slot in names if f"{{{slot}}}" in route]
        for chosen in product(*(names[slot] for slot in slots)):
            path = route.format(**dict(zip(slots, chosen, strict=True)))
            allowed = api.call("OPTIONS", path).headers.get("allow", "GET").split(", ")
            # DELETE ends a connector: it comes last, by the caller
            for method in dict.fromkeys((*allowed, "TRACE")):
                reads = method in ("GET", "HEAD", "OPTIONS", "TRACE")
                queries = QUERIES if method == "GET" else ["?includeTasks=true&dry.run=true"]
                addresses = dict.fromkeys(path + query.format(flow=flow) for query in queries for flow in flows)
                for address, body in product(addresses if method != "DELETE" else (), BODIES[: 1 if reads else None]):
                    found = api.call(method, address, body)
                    yield f"{method} {address} {json.dumps(body)}", f"{found.status} {found.headers} {found.text}"


def test_no_answer_holds_a_secret(
    source: Any, guarded: Cluster, topic: Callable[..., str], new_port: Callable[[], int], tmp_path: Path
) -> None:
    """What a file has, what a reference stands for, what a request sends, and the token."""
    name, port = topic(), new_port()
    create_topic(source.bootstrap, name)
    load(source.bootstrap, name, 100, 20)
    servers: Any = type("Servers", (), {"bootstrap": guarded.bootstrap_of("GUARDED")})
    (tmp_path / "secrets").write_text(f"password={WORD}-right\n")
    quoted = f"${{file:{tmp_path / 'secrets'}:password}}"
    files = [write_properties(tmp_path / "worker.properties", _worker(guarded, port))]
    for alias, where, password in (
        ("works", source, ""),
        ("refused", servers, quoted),  # source and target are one cluster
        ("waits", servers, f"{WORD}-wrong"),
    ):
        config = source_connector(where, servers, f"{alias}{port}", name, name=alias)
        lines = {**config, **login("source", password), **login("target", quoted), "my.api.token": f"{WORD}-own"}
        files.append(write_properties(tmp_path / f"{alias}.properties", lines))
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text(f"{WORD}-token")
    api = RestCaller(port)
    api.headers = {"Authorization": f"Bearer {WORD}-token"}
    words = ["--admin.port", str(port), "--admin.token.file", str(token), "--admin.actions", "true"]
    with ToolProcess([str(COMMANDS / "legacy-mm"), "connect", *map(str, files), *words], tmp_path) as tool:

        def states() -> list[str]:
            found = [api.call("GET", f"/connectors/{each}/status") for each in CONNECTORS]
            return [each.body["connector"]["state"] if each.status == 200 else "" for each in found]

        wait_until(lambda: states() == ["RUNNING", "FAILED", "RUNNING"], SECONDS, "the flows to run, but for one")
        names = {
            "connector": [*CONNECTORS, "unknown"],
            "task": ["0", "9"],
            "plugin": ["MirrorSourceConnector", "Unknown"],
            "logger": ["root", "org.apache.kafka"],
            "action": ["pause", "restart", "unknown"],
        }
        count, found = 0, []
        for call, text in answers(api, names, [f"works{port}->B", f"refused{port}->B"]):
            count += 1
            found += [f"{call}: {_around(text)}"] if WORD in text else []
        for each in (*CONNECTORS, "unknown"):
            found += [each for path in ("/offsets", "") if WORD in api.call("DELETE", f"/connectors/{each}{path}").text]
        assert found == []
        assert count > 800
        assert WORD not in tool.output()
        assert tool.stop(SECONDS) == 143
    assert WORD not in tool.output()


def _around(text: str) -> str:
    """What is before and behind the word."""
    at = text.index(WORD)
    return text[max(0, at - 100) : at + 40]


def _worker(guarded: Cluster, port: int) -> dict[str, str]:
    plain = {name.removeprefix("source.cluster."): text for name, text in login("source", f"{WORD}-right").items()}
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    found = {**worker_properties(guarded, str(port)), **plain, "bootstrap.servers": guarded.bootstrap_of("GUARDED")}
    return {**found, "config.providers": "file", "config.providers.file.class": provider}
