"""Kerberos against a real ticket server, Debian's krb5-kdc: logins, mirrors of ours, and beside the legacy tool.

They need the package gssapi. Delegation tokens are here because it takes such a login to get one.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import socket
import struct
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.metadata import MetadataRequest

from compat.laboratory.certificates import PASSWORD
from compat.laboratory.checkout import CHECKOUT
from legacy_mm.audit.cluster_access import commit, committed, create_topic, end_offsets, members
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.net.connection import Connection, open_connection
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost
from legacy_mm.clients.net.connection_security import Security, unsupported
from legacy_mm.policies.changes import BROKER_DEFAULT, ChangeOutcome, CreateTopic
from legacy_mm.policies.config_filter import TOPIC
from tests.fixtures import client_settings
from tests.fixtures.deployments import PARTITIONS, ROWS, mirror_together
from tests.fixtures.kerberos import LISTENER, MODULE, SECURED, SERVICE, TLS, TOKENS, USER, Kerberized

pytestmark = pytest.mark.brokers
SECONDS = 120.0
RECORDS = 400
PARTITIONS_OF_NAME = 4
COMMIT_OFTEN = ("--offset.commit.interval.ms", "500")
Start = Callable[..., ToolProcess]


@pytest.fixture
def name(kerberized: Kerberized, topic: Callable[..., str]) -> str:
    """A topic, filled at the source, empty at the target."""
    found = topic("krb")
    create_topic(kerberized.target.bootstrap, found)
    load(kerberized.source.bootstrap, found, RECORDS, 100)
    return found


def arrive(kerberized: Kerberized, name: str, count: int) -> None:
    """Until so many records are at the target; more of them is an error."""
    found = wait_until(
        lambda: (n := sum(end_offsets(kerberized.target.bootstrap, name).values())) >= count and n, SECONDS, f"{count}"
    )
    assert found == count


def done(kerberized: Kerberized, group: str, name: str) -> int:
    """The sum of what is committed."""
    return sum(committed(kerberized.source.bootstrap, group, [name]).values())


def environment(kerberized: Kerberized, more: str = "") -> dict[str, str]:
    """Java's words alone say where the realm is."""
    return {"KAFKA_OPTS": f"{kerberized.java_options} {more}", "KRB5_CONFIG": "/nowhere"}


@pytest.mark.spark
def test_a_keytab_at_the_source_and_a_ticket_at_the_target(
    kerberized: Kerberized, name: str, group: str, our_tool: Start, tmp_path: Path
) -> None:
    cache, logins = tmp_path / "tickets", tmp_path / "jaas.conf"
    kerberized.realm.tickets(USER, kerberized.keytab, cache)
    logins.write_text(f'KafkaClient {{ {MODULE} useTicketCache=true ticketCache="{cache}" serviceName="kafka"; }};')
    consumer = kerberized.consumer(group)
    producer = kerberized.client(kerberized.target)
    words = ["--whitelist", name, *COMMIT_OFTEN]
    variables = environment(kerberized, f"-Djava.security.auth.login.config={logins}")
    explained = explain(tmp_path, consumer, producer, words, variables)
    assert [place["start"] for place in explained["topics"]["partitions"]] == [0, 0, 0, 0]
    with our_tool(consumer, producer, *words, environment=variables) as tool:
        arrive(kerberized, name, RECORDS)
        wait_until(lambda: done(kerberized, group, name) == RECORDS, SECONDS, "all to be committed while it runs")
        load(kerberized.source.bootstrap, name, RECORDS, 100, seed=8)
        arrive(kerberized, name, 2 * RECORDS)
        assert tool.stop(SECONDS) == 143
        assert tool.output().count("WARN") == 2  # that it is deprecated, and what range will be
        assert "ERROR" not in tool.output()
    assert done(kerberized, group, name) == 2 * RECORDS
    assert members(kerberized.source.bootstrap, group) == 0


FEATURES = (
    *("--preserve.partitions", "true", "--emit.offset-syncs.enabled", "true", "--offset.lag.max", "0"),
    *("--emit.checkpoints.enabled", "true", "--emit.checkpoints.interval.seconds", "1"),
    *("--refresh.groups.interval.seconds", "1", "--groups", "app-.*"),
    *("--sync.group.offsets.enabled", "true", "--sync.group.offsets.interval.seconds", "1"),
    *("--emit.heartbeats.enabled", "true", "--source.cluster.alias", "A", "--target.cluster.alias", "B"),
)


@pytest.mark.slow
@pytest.mark.spark
def test_offsets_of_groups_heartbeats_and_verify_with_a_keytab(
    kerberized: Kerberized, name: str, group: str, our_tool: Start, tmp_path: Path
) -> None:
    """What needed librdkafka, which has no such login, is done over our own sockets."""
    app = f"app-{group}"
    commit(kerberized.source.bootstrap, app, {(name, number): 5 for number in range(4)})
    consumer, producer = kerberized.consumer(group), kerberized.producer()
    words = ["--whitelist", name, *COMMIT_OFTEN, *FEATURES]
    target = kerberized.target.bootstrap
    with our_tool(consumer, producer, *words, environment=environment(kerberized)) as tool:
        arrive(kerberized, name, RECORDS)
        moved = lambda: committed(target, app, [name])  # noqa: E731
        wait_until(lambda: set(moved().values()) == {5}, SECONDS, "the group to be moved")
        wait_until(lambda: sum(end_offsets(target, "heartbeats").values()), SECONDS, "a heartbeat")
        assert tool.stop(SECONDS) == 143, tool.output()
        assert "ERROR" not in tool.output()
    files = [str(write_properties(tmp_path / side, each)) for side, each in (("c", consumer), ("p", producer))]
    line = ["--consumer.config", files[0], "--producer.config", files[1], "--whitelist", name]
    command = [str(CHECKOUT / "bin" / "legacy-mm"), "verify", "--", *line]
    variables = {**os.environ, **environment(kerberized)}
    checked = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=variables)
    assert checked.returncode == 0, checked.stdout + checked.stderr


PICKY = """
def handle(record):
    if record.offset == 0:
        raise ValueError("bad")
    return [record.to(record.topic)]
"""


@pytest.mark.spark
def test_records_are_set_aside_sent_on_and_shown_with_a_keytab(
    kerberized: Kerberized, name: str, group: str, our_tool: Start, topic: Callable[..., str], tmp_path: Path
) -> None:
    """A handler, its quarantine in a topic, `redrive` and `handler test`."""
    aside, script = topic("aside"), tmp_path / "picky.py"
    create_topic(kerberized.target.bootstrap, aside)
    script.write_text(PICKY)
    words = ["--whitelist", name, "--message.handler", f"{script}:handle", "--handler.on.error", "quarantine"]
    words += ["--quarantine.topic", aside, *COMMIT_OFTEN]
    consumer, producer = kerberized.consumer(group), kerberized.producer()
    with our_tool(consumer, producer, *words, environment=environment(kerberized)) as tool:
        arrive(kerberized, name, RECORDS - PARTITIONS_OF_NAME)
        arrive(kerberized, aside, PARTITIONS_OF_NAME)
        assert tool.stop(SECONDS) == 143, tool.output()
    line = tool.command[1:]
    variables = {**os.environ, **environment(kerberized)}

    def legacy_mm(*asked: str) -> subprocess.CompletedProcess[str]:
        command = [str(CHECKOUT / "bin" / "legacy-mm"), *asked, "--", *line]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=variables)

    shown = legacy_mm("handler", "test", "--topic", name, "--from", "1", "--records", "2")
    assert shown.returncode == 0, shown.stderr
    assert (shown.stdout.count(f"{name}-0 at "), shown.stdout.count("  -> ")) == (2, 2)
    script.write_text(PICKY.replace("== 0", "< 0"))
    for sent in (PARTITIONS_OF_NAME, 0):
        done = legacy_mm("redrive")
        assert done.returncode == 0, done.stderr
        assert f"{sent} records redriven, {sent} sent" in done.stdout
    arrive(kerberized, name, RECORDS)


def explain(
    folder: Path, consumer: dict[str, str], producer: dict[str, str], words: list[str], variables: dict[str, str]
) -> Any:
    """What `legacy-mm explain` finds out."""
    files = (("consumer", consumer), ("producer", producer))
    for side, properties in files:
        write_properties(folder / side, properties)
    line = [word for side, _ in files for word in (f"--{side}.config", str(folder / side))]
    command = [str(CHECKOUT / "bin" / "legacy-mm"), "explain", "--json", "--", *line, *words]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=variables)
    assert (answer.returncode, answer.stderr) == (0, "")
    return json.loads(answer.stdout)


@pytest.mark.spark
@pytest.mark.parametrize("side", ["source", pytest.param("target", marks=pytest.mark.slow)])
def test_a_keytab_without_the_users_keys_ends_the_mirror(
    side: str, kerberized: Kerberized, name: str, group: str, our_tool: Start
) -> None:
    wrong = kerberized.by_keytab(kerberized.realm.keytab(f"somebody-{group}"))
    consumer = kerberized.consumer(group, **({"sasl_jaas_config": wrong} if side == "source" else {}))
    producer = kerberized.producer(**({"sasl_jaas_config": wrong} if side == "target" else {}))
    tool = our_tool(consumer, producer, "--whitelist", name, *COMMIT_OFTEN, environment=environment(kerberized))
    assert tool.wait(SECONDS) == 255
    told = [line for line in tool.output().splitlines() if "SASL authentication error" in line]
    (said,) = {line for line in told if "[topic-watch]" not in line}  # the watch may come first, with a WARN
    assert f"no ticket for {USER} by the keytab" in said
    assert "ERROR [mirrormaker-thread-0] Mirror maker thread failure due to" in tool.output()
    assert done(kerberized, group, name) == 0
    assert sum(end_offsets(kerberized.target.bootstrap, name).values()) == 0


@pytest.mark.spark
@pytest.mark.slow
def test_deployments_of_real_people_mirror(kerberized: Kerberized, tmp_path: Path) -> None:
    """Tickets of the host's cache and of a keytab, in login files, with and without TLS; nothing of them is changed."""
    rows = [row for row in ROWS if row.get("kerberos")]
    cache = tmp_path / "tickets"
    kerberized.realm.tickets(USER, kerberized.keytab, cache)
    addresses = {"keytab": str(kerberized.keytab), "principal": USER, "secret": PASSWORD, "store_password": PASSWORD}
    stores = {"trust": kerberized.stores.trust(), "keys": kerberized.stores.identity()}
    addresses |= {"trust": stores["trust"]["ssl.truststore.location"], "keys": stores["keys"]["ssl.keystore.location"]}
    for side, cluster in (("source", kerberized.source), ("target", kerberized.target)):
        listeners = {"": "PLAINTEXT", "_login": LISTENER, "_secured": SECURED, "_tls": TLS}
        addresses |= {f"{side}{word}": cluster.bootstrap_of(listener) for word, listener in listeners.items()}
        for row in rows:
            create_topic(cluster.bootstrap, row["topic"], partitions=PARTITIONS)
    host = {"KRB5_CONFIG": str(kerberized.realm.configuration), "KRB5CCNAME": str(cache)}
    mirror_together(rows, addresses, tmp_path, host)
    others = "hdp-docs-kerberos names two consumer files, which its own release refuses"
    print(f"\n{len(rows)} of {len(rows) + 1} real deployments that log in by Kerberos run unchanged; {others}")


@pytest.mark.spark
@pytest.mark.slow
def test_the_old_tool_and_ours_take_over_from_each_other(
    kerberized: Kerberized, name: str, group: str, old_tool: Start, our_tool: Start
) -> None:
    """The same files, group and offsets: one after the other, then host by host."""
    files = kerberized.consumer(group), kerberized.producer()
    words = ("--whitelist", name, "--num.streams", "2", *COMMIT_OFTEN)
    variables = environment(kerberized)
    count = RECORDS
    for start in (old_tool, our_tool, old_tool):
        with start(*files, *words, environment=variables) as tool:
            arrive(kerberized, name, count)
            assert tool.stop(SECONDS) == 143, tool.output()
        assert done(kerberized, group, name) == count
        count += RECORDS
        load(kerberized.source.bootstrap, name, RECORDS, 100, seed=count)
    tools: list[ToolProcess] = []
    for turn, start in enumerate((our_tool, old_tool, our_tool)):
        tools.append(start(*files, *words, environment=variables))
        arrive(kerberized, name, count)
        wait_until(lambda: members(kerberized.source.bootstrap, group) == 2 * len(tools), SECONDS, "all members")
        wait_until(lambda wanted=count: done(kerberized, group, name) == wanted, SECONDS, "commits")  # type: ignore[misc]
        count += RECORDS
        load(kerberized.source.bootstrap, name, RECORDS, 100, seed=count + turn)
        arrive(kerberized, name, count)
        if turn:
            assert tools.pop(0).stop(SECONDS) == 143
            count += RECORDS
            load(kerberized.source.bootstrap, name, RECORDS, 100, seed=count + turn)
            arrive(kerberized, name, count)
    assert tools.pop().stop(SECONDS) == 143
    assert done(kerberized, group, name) == count


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("realms")
def test_a_delegation_token(kerberized: Kerberized, name: str, group: str, our_tool: Start) -> None:
    login = token_login(kerberized)
    security = {"sasl_mechanism": "SCRAM-SHA-256", "sasl_jaas_config": login}
    consumer, producer = kerberized.consumer(group, **security), kerberized.producer()
    with our_tool(consumer, producer, "--whitelist", name, *COMMIT_OFTEN, environment=environment(kerberized)) as tool:
        arrive(kerberized, name, RECORDS)
        assert tool.stop(SECONDS) == 143
    assert done(kerberized, group, name) == RECORDS


def token_login(kerberized: Kerberized) -> str:
    """A token of the user's, as a file uses it. No package here knows CreateDelegationToken (API 38)."""
    with closing(opened(kerberized)) as connection:
        connection.send(38, 1, [struct.pack(">iq", 0, -1)])
        answer = io.BytesIO(connection.receive())

    def read(form: str) -> int:
        found: int = struct.unpack(form, answer.read(struct.calcsize(form)))[0]
        return found

    assert read(">h") == 0
    _principal = [answer.read(read(">h")) for _ in range(2)]
    _times = [read(">q") for _ in range(3)]
    token = answer.read(read(">h")).decode()
    key = base64.b64encode(answer.read(read(">i"))).decode()
    return f'{TOKENS} username="{token}" password="{key}" tokenauth=true;'


def by_ticket(kerberized: Kerberized, **changed: str) -> dict[str, str]:
    """As the user, unless something is changed: underscores for dots."""
    return {
        "bootstrap.servers": kerberized.source.bootstrap_of(LISTENER),
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": SERVICE,
        "sasl.kerberos.principal": USER,
        "sasl.kerberos.keytab": str(kerberized.keytab),
        "kerberos.realms": str(kerberized.realm.configuration),
        **{name.replace("_", "."): text for name, text in changed.items()},
    }


def opened(kerberized: Kerberized, **changed: str) -> Connection:
    """A connection to the source."""
    properties = by_ticket(kerberized, **changed)
    host, _, port = properties["bootstrap.servers"].rpartition(":")
    assert unsupported(client_settings.read_connection(properties)) is None
    return open_connection(
        Security(client_settings.read_connection(properties)),
        host,
        int(port),
        client_settings.read_connection(properties),
    )


@pytest.fixture
def realms(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a login in this process makes of its environment is undone."""
    monkeypatch.setenv("KRB5_CONFIG", "/nowhere")


@pytest.mark.usefixtures("realms")
def test_a_keytab_opens_the_broker(kerberized: Kerberized) -> None:
    for _ in range(2):
        with closing(opened(kerberized)) as connection:
            assert len(connection.call(MetadataRequest(topics=[])).brokers) == 1


@pytest.mark.usefixtures("realms")
def test_no_service_is_called_by_a_host_that_ends_with_a_dot(
    kerberized: Kerberized, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _, port = kerberized.source.bootstrap_of(LISTENER).rpartition(":")
    named, found = f"{socket.gethostbyaddr(address)[0]}.", socket.getaddrinfo(address, int(port))
    monkeypatch.setattr("socket.getaddrinfo", lambda host, *_, **__: found if host == named else [])
    with closing(opened(kerberized, bootstrap_servers=f"{named}:{port}")) as connection:
        assert len(connection.call(MetadataRequest(topics=[])).brokers) == 1


@pytest.mark.usefixtures("realms")
def test_duties_ask_and_change_with_a_ticket(kerberized: Kerberized, topic: Callable[..., str]) -> None:
    """Everything that they do is in `test_topic_duties.py`."""
    admin, name = NativeAdmin("source", client_settings.read_connection(by_ticket(kerberized))), topic("krb")
    made = CreateTopic(name, 3, BROKER_DEFAULT, {"flush.ms": "7"})
    assert list(admin.create_topics([made], Deadline.after(SECONDS))) == [ChangeOutcome(made)]
    wait_until(lambda: admin.topics(Deadline.after(SECONDS)).get(name) == 3, SECONDS, "the topic")
    (described,) = admin.properties([name], Deadline.after(SECONDS))[0].values()
    assert [(each.value, each.origin) for each in described if each.name == "flush.ms"] == [("7", TOPIC)]


@pytest.mark.usefixtures("realms")
def test_many_logins_at_once_before_there_is_a_ticket(kerberized: Kerberized, tmp_path: Path) -> None:
    keytab = copied(kerberized.keytab, tmp_path)

    def login(_: int) -> int:
        with closing(opened(kerberized, sasl_kerberos_keytab=str(keytab))) as connection:
            return len(connection.call(MetadataRequest(topics=[])).brokers)

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(login, range(32))) == [1] * 32


@pytest.mark.usefixtures("realms")
def test_a_keytab_of_somebody_else(kerberized: Kerberized) -> None:
    with pytest.raises(AuthenticationFailed, match="SASL authentication error"):
        opened(kerberized, sasl_kerberos_principal="nobody")


@pytest.mark.usefixtures("realms")
def test_a_service_that_the_realm_does_not_know(kerberized: Kerberized) -> None:
    with pytest.raises(AuthenticationFailed, match="not found in Kerberos database"):
        opened(kerberized, sasl_kerberos_service_name="other")


@pytest.mark.usefixtures("realms")
def test_a_ticket_server_that_is_away(kerberized: Kerberized, tmp_path: Path) -> None:
    away = tmp_path / "krb5.conf"
    away.write_text(re.sub("kdc = .*", "kdc = 127.0.0.1:1", kerberized.realm.configuration.read_text()))
    keytab = copied(kerberized.keytab, tmp_path)
    with pytest.raises(ConnectionLost, match="Cannot contact any KDC"):
        opened(kerberized, kerberos_realms=str(away), sasl_kerberos_keytab=str(keytab))


def copied(file: Path, folder: Path) -> Path:
    """The same keys under another name, so that no ticket is in memory yet."""
    copy = folder / file.name
    copy.write_bytes(file.read_bytes())
    return copy
