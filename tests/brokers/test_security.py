"""Secured brokers: what the legacy tool's files open, they open here; what it refuses is refused with its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.security import (
    BLANK_PASSWORD,
    BLANK_USER,
    LISTENERS,
    USER,
    USER_PASSWORD,
    Stores,
    forbid_records,
    login,
    secured_cluster,
)
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.ledger import Ledger
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline, epoch_ms
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.settings import JvmSettings
from legacy_mm.cli.legacy_mm import main
from legacy_mm.client import MirrorClient
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.clients.topics.topic_reader import read_to_end
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.quarantine import QuarantineFile
from legacy_mm.words.legacy_tool import client_connection
from tests.fixtures.token_service import CLIENT, SECRET, TokenService
from tests.fixtures.tools import Run

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
RECORDS = 50
SECONDS = 180.0
QUESTION_SECONDS = 5.0
ABORTED = 255
COMMIT_OFTEN = ("--offset.commit.interval.ms", "500")

Properties = dict[str, str]


@dataclass(frozen=True)
class Secured:
    """Two clusters that have every listener."""

    stores: Stores
    source: Cluster
    target: Cluster

    def files(self, listener: str, security: Properties, group: str) -> tuple[Properties, Properties]:
        """A consumer and a producer file for one listener."""
        common = {"security.protocol": LISTENERS.get(listener, listener), **security}
        read = {"bootstrap.servers": self.source.bootstrap_of(listener), "group.id": group}
        written = {"bootstrap.servers": self.target.bootstrap_of(listener)}
        return {**common, **read, "auto.offset.reset": "earliest"}, {**common, **written}

    def plain(self, group: str) -> tuple[Properties, Properties]:
        """Files without security."""
        return self.files("PLAINTEXT", {}, group)

    def new_topic(self, name: str) -> str:
        """Filled at the source, empty at the target."""
        load(self.source.bootstrap, name, RECORDS, 100)
        create_topic(self.target.bootstrap, name, 4)
        return name

    def arrived(self, topic: str) -> int:
        """Records at the target."""
        return sum(end_offsets(self.target.bootstrap, topic).values())


@pytest.fixture(scope="module")
def secured(stores: Stores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    with secured_cluster(folder / "source", stores) as source, secured_cluster(folder / "target", stores) as target:
        yield Secured(stores, source, target)


@pytest.fixture(params=[pytest.param("old_tool", marks=pytest.mark.slow), "our_mirror"])
def tool(request: pytest.FixtureRequest) -> Callable[..., ToolProcess]:
    """Each of the two, with the same files."""
    found: Callable[..., ToolProcess] = request.getfixturevalue(request.param)
    return found


OPENED: dict[str, tuple[str, Callable[[Stores], Properties]]] = {
    "one-way TLS, JKS": ("TLS", lambda stores: stores.trust()),
    "mutual TLS, PKCS12": ("MUTUAL", lambda stores: stores.trust("PKCS12") | stores.identity("PKCS12")),
    "PLAIN": ("LOGIN", lambda stores: login("PLAIN")),
    "SCRAM-SHA-256": ("LOGIN", lambda stores: login("SCRAM-SHA-256")),
    "OAUTHBEARER": ("LOGIN", lambda stores: login("OAUTHBEARER")),
    "PLAIN over TLS": ("BOTH", lambda stores: stores.trust() | login("PLAIN")),
    "OAUTHBEARER over TLS": ("BOTH", lambda stores: stores.trust("PKCS12") | login("OAUTHBEARER")),
    "another host, unchecked": (
        "ELSEWHERE",
        lambda stores: stores.trust() | {"ssl.endpoint.identification.algorithm": ""},
    ),
}
MIXTURES = ("PLAIN over TLS", "OAUTHBEARER over TLS")
"""Nothing in them that the others do not have."""
OPENED_BY_BOTH: dict[str, tuple[str, Callable[[Stores], Properties]]] = {
    "mutual TLS, JKS": ("MUTUAL", lambda stores: stores.trust() | stores.identity()),
    "PLAIN, a blank before the password": ("LOGIN", lambda stores: login("PLAIN", BLANK_PASSWORD, BLANK_USER)),
    "SCRAM-SHA-512 over TLS": ("BOTH", lambda stores: stores.trust() | login("SCRAM-SHA-512")),
}


def copies(secured: Secured, start: Callable[..., ToolProcess], row: Any, name: str, group: str) -> str:
    """Mirror one topic and stop; what the tool printed."""
    listener, security = row
    files = secured.files(listener, security(secured.stores), group)
    with start(*files, "--whitelist", secured.new_topic(name), *COMMIT_OFTEN) as process:
        wait_until(lambda: secured.arrived(name) == RECORDS, SECONDS, "the records")
        assert process.stop(SECONDS) == 143
    assert sum(committed(secured.source.bootstrap, group, [name]).values()) == RECORDS
    return process.output()


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case in MIXTURES else case for case in OPENED]
)
def test_records_pass(
    secured: Secured, case: str, topic: Callable[..., str], group: str, our_mirror: Callable[..., ToolProcess]
) -> None:
    printed = copies(secured, our_mirror, OPENED[case], topic(), group)
    assert USER_PASSWORD not in printed


@pytest.mark.parametrize("row", [OPENED_BY_BOTH["mutual TLS, JKS"], OPENED["OAUTHBEARER"]], ids=["stores", "tokens"])
def test_explain_asks_a_secured_source(
    row: Any, secured: Secured, topic: Callable[..., str], group: str, tmp_path: Path, run: Run
) -> None:
    words = line(secured, row, secured.new_topic(topic()), group, tmp_path)
    code, document, errors = run("explain", "--json", "--", *words)
    assert (code, errors) == (0, "")
    topics = json.loads(document)["topics"]
    assert topics["why_not"] == ""
    assert [place["start"] for place in topics["partitions"]] == [0, 0, 0, 0]


def test_the_commands_trust_whom_the_mirror_trusts(
    secured: Secured,
    topic: Callable[..., str],
    group: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The source by Java's stores that its file names, the target by properties of Java alone: its file names none."""
    trust, kept = secured.stores.trust(), "javax.net.ssl.trustStore"
    words = ["--", *line(secured, OPENED_BY_BOTH["mutual TLS, JKS"], secured.new_topic(topic()), group, tmp_path)]
    bare = {"bootstrap.servers": secured.target.bootstrap_of("TLS"), "security.protocol": "SSL"}
    write_properties(tmp_path / "producer", bare)
    options = f"-D{kept}={trust['ssl.truststore.location']} -D{kept}Password={trust['ssl.truststore.password']}"
    monkeypatch.setenv("KAFKA_OPTS", options)

    def run(*command: str) -> tuple[int, str]:
        code = main([*command, *words])
        printed = capsys.readouterr()
        assert not printed.err
        return code, printed.out

    def run_alone(*command: str) -> tuple[int, str]:  # a process has one Spark application
        every = [sys.executable, "-m", "legacy_mm.cli.legacy_mm", *command, *words]
        ended = subprocess.run(every, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert not ended.stderr
        return ended.returncode, ended.stdout

    name, notes = words[2], tmp_path / "ledger.txt"
    code, told = run("explain", "--json")
    assert (code, json.loads(told)["topics"]["why_not"]) == (0, "")
    code, told = run_alone("verify")
    assert (code, f"{name}: {RECORDS} records at the source" in told) == (2, True), told
    Ledger(name, notes).close()
    code, told = run("ledger", "check", "--file", str(notes))
    assert (code, told.startswith("0 records in the ledger, 0 at the target")) == (0, True), told


def line(secured: Secured, row: Any, name: str, group: str, folder: Path) -> list[str]:
    """The command line of a mirror of this topic."""
    listener, security = row
    words = ["--include", name]
    files = secured.files(listener, security(secured.stores), group)
    for side, properties in zip(("consumer", "producer"), files, strict=True):
        words += [f"--{side}.config", str(write_properties(folder / side, properties))]
    return words


def test_records_are_looked_at_and_redriven_with_key_stores(
    secured: Secured, topic: Callable[..., str], group: str, run: Run, tmp_path: Path
) -> None:
    name, file = secured.new_topic(topic()), tmp_path / "aside.jsonl"
    words = line(secured, OPENED_BY_BOTH["mutual TLS, JKS"], name, group, tmp_path)
    code, told, error = run("handler", "test", "--topic", name, "--", *words, "--handler.step", "rename.prefix=copy.")
    assert (code, f"TargetRecord(topic='copy.{name}'" in told) == (0, True), error
    QuarantineFile(str(file)).put(Record(name, 0, 0, 1, epoch_ms(), b"k", b"v", ()), "too large")
    code, told, error = run("redrive", str(file), "--", *words, "--send.on.error", "quarantine")
    assert (code, "1 records redriven, 1 sent" in told, secured.arrived(name)) == (0, True, 1), error


def test_the_client_of_mirroring_opens_what_java_opens(secured: Secured, group: str) -> None:
    """Java reads its stores, and the environment stays as it was."""
    listener, security = OPENED_BY_BOTH["mutual TLS, JKS"]
    before = dict(os.environ)
    with MirrorClient(secured.files(listener, security(secured.stores), group)[1]) as client:
        assert client.checkpoint_topics() == set()
        assert client.remote_consumer_offsets(group, "nobody", SECONDS) == {}
    assert dict(os.environ) == before


@pytest.mark.parametrize("case", OPENED_BY_BOTH)
def test_both_tools_take_the_same_files(
    secured: Secured, case: str, topic: Callable[..., str], group: str, tool: Callable[..., ToolProcess]
) -> None:
    copies(secured, tool, OPENED_BY_BOTH[case], topic(), group)


def test_a_password_that_is_kept_elsewhere(
    secured: Secured,
    topic: Callable[..., str],
    group: str,
    tool: Callable[..., ToolProcess],
    tmp_path: Path,
) -> None:
    kept = tmp_path / "kept.properties"
    kept.write_text(f"login={login('PLAIN')['sasl.jaas.config']}\n".replace("\\", "\\\\"))
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    declared = {"config.providers": "file", "config.providers.file.class": provider}
    security = {"sasl.mechanism": "PLAIN", "sasl.jaas.config": f"${{file:{kept}:login}}", **declared}
    printed = copies(secured, tool, ("LOGIN", lambda _: security), topic(), group)
    assert USER_PASSWORD not in printed


LOGIN_CLASSES = {
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler": (
        f'clientId={CLIENT} clientSecret="{SECRET}"'
    ),
    "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler": (
        f'oauth.client.id={CLIENT} oauth.client.secret="{SECRET}" oauth.token.endpoint.uri="{{url}}" '
        "oauth.audience=kafka"
    ),
    "io.confluent.kafka.clients.plugins.auth.token.TokenUserLoginCallbackHandler": (
        f'username={CLIENT} password="{SECRET}" metadataServerUrls="{{url}}"'
    ),
}


@pytest.mark.parametrize("name", LOGIN_CLASSES)
def test_a_token_service(
    name: str,
    secured: Secured,
    token_service: TokenService,
    topic: Callable[..., str],
    group: str,
    our_mirror: Callable[..., ToolProcess],
) -> None:
    module = "org.apache.kafka.common.security.oauthbearer."
    options = LOGIN_CLASSES[name].format(url=token_service.url)
    security = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": name,
        "sasl.jaas.config": f"{module}OAuthBearerLoginModule required {options};",
    }
    if name.startswith(module):
        security["sasl.oauthbearer.token.endpoint.url"] = token_service.url
    printed = copies(secured, our_mirror, ("LOGIN", lambda _: security), topic(), group)
    assert token_service.given
    assert SECRET not in printed


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"ssl.truststore.password": "hush-hush"}, "Failed to load SSL keystore {location} of type JKS"),
        ({"ssl.truststore.location": "/nowhere.jks"}, "Failed to load SSL keystore /nowhere.jks of type JKS"),
        ({"ssl.key.password": "hush-hush"}, "java.security.UnrecoverableKeyException"),
    ],
)
def test_a_store_that_cannot_be_read(
    secured: Secured, wrong: Properties, said: str, group: str, tool: Callable[..., ToolProcess]
) -> None:
    security = secured.stores.trust() | secured.stores.identity() | wrong
    files = secured.plain(group)[0], secured.files("MUTUAL", security, group)[1]
    process = tool(*files, "--whitelist", "any")
    assert process.wait(SECONDS) == 1
    assert "ERROR Exception when starting mirror maker. (kafka.tools.MirrorMaker$)" in process.output()
    assert said.format(location=security["ssl.truststore.location"]) in process.output()
    assert "hush" not in process.output()


REFUSED: dict[str, tuple[str, Callable[[Stores], Properties]]] = {
    "wrong password": ("LOGIN", lambda stores: login("PLAIN", "not-the-password")),
    "expired certificate": ("EXPIRED", lambda stores: stores.trust()),
    "another host": ("ELSEWHERE", lambda stores: stores.trust()),
    "no client certificate": ("MUTUAL", lambda stores: stores.trust()),
    "unknown authority": ("TLS", lambda stores: {}),
}


ALIKE = ("another host", "unknown authority")
"""Certificates that are refused as an expired one is."""


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case in ALIKE else case for case in REFUSED]
)
def test_a_source_that_refuses_ends_the_mirror(
    secured: Secured, case: str, topic: Callable[..., str], group: str, tool: Callable[..., ToolProcess]
) -> None:
    listener, security = REFUSED[case]
    files = secured.files(listener, security(secured.stores), group)[0], secured.plain(group)[1]
    name = secured.new_topic(topic())
    assert_ends(secured, tool(*files, "--whitelist", name, *COMMIT_OFTEN), name, group)


@pytest.mark.parametrize(
    "case",
    [
        "wrong password",
        pytest.param("expired certificate", marks=pytest.mark.slow),
        pytest.param("no client certificate", marks=pytest.mark.slow),
    ],
)
def test_a_target_that_refuses_ends_the_mirror(
    secured: Secured, case: str, topic: Callable[..., str], group: str, tool: Callable[..., ToolProcess]
) -> None:
    listener, security = REFUSED[case]
    files = secured.plain(group)[0], secured.files(listener, security(secured.stores), group)[1]
    name = secured.new_topic(topic())
    assert_ends(secured, tool(*files, "--whitelist", name, *COMMIT_OFTEN), name, group)


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_topic_without_permission_ends_the_mirror(
    secured: Secured, side: str, topic: Callable[..., str], group: str, tool: Callable[..., ToolProcess]
) -> None:
    name = secured.new_topic(topic())
    forbid_records(getattr(secured, side), name)
    files = secured.files("LOGIN", login("SCRAM-SHA-256"), group)
    assert_ends(secured, tool(*files, "--whitelist", name, *COMMIT_OFTEN), name, group)


QUESTIONS: dict[str, Callable[[ConnectionSettings], object]] = {
    "explain": lambda known: NativeInspector(known).partitions(Deadline.after(QUESTION_SECONDS)),
    "duties": lambda known: NativeAdmin("target", known).topics(Deadline.after(QUESTION_SECONDS)),
    "checkpoints": lambda known: list(read_to_end(known, "t", Deadline.after(QUESTION_SECONDS))),
}


@pytest.mark.parametrize("asker", QUESTIONS)
def test_a_question_that_is_refused_says_why(secured: Secured, asker: str, tmp_path: Path) -> None:
    """Not only that there was no answer."""
    file = tmp_path / "client.properties"
    write_properties(file, secured.files("LOGIN", login("PLAIN", "not-the-password"), "a group")[1])
    with pytest.raises(HostError, match="[Aa]uthentication failed") as caught:
        QUESTIONS[asker](client_connection.read(str(file), JvmSettings()).written)
    assert "not-the-password" not in str(caught.value)


def assert_ends(secured: Secured, process: ToolProcess, name: str, group: str) -> None:
    """By itself, with the code of a dead thread and one line that says why; nothing was committed."""
    assert process.wait(SECONDS) == ABORTED
    assert "ERROR" in process.output()
    assert "not-the-password" not in process.output()
    assert committed(secured.source.bootstrap, group, [name]) == {}
    assert secured.arrived(name) == 0


def tokens_of_a_class(word: str, *options: str) -> Properties:
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": "Tokens",
        "sasl.jaas.config": f'{module} required who="{USER}" word="{word}" {" ".join(options)};',
    }


def test_a_class_in_a_jar_gives_tokens(
    secured: Secured,
    handler_jars: dict[str, Path],
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
) -> None:
    """It runs in the driver's JVM, for the membership and for both clients of the copy task."""
    start = partial(our_tool, classpath=[handler_jars["Tokens"]])
    printed = copies(secured, start, ("LOGIN", lambda _: tokens_of_a_class("right", "pool=p")), topic(), group)
    assert "right" not in printed


def test_a_class_that_gives_no_token_ends_the_start(
    secured: Secured,
    handler_jars: dict[str, Path],
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
) -> None:
    files = secured.files("LOGIN", tokens_of_a_class("wrong"), group)
    tool = our_tool(*files, "--whitelist", secured.new_topic(topic()), classpath=[handler_jars["Tokens"]])
    assert tool.wait(SECONDS) == 1
    assert "it gives no token: wrong_word" in tool.output()
