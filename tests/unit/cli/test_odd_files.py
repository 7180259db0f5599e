"""Files with odd values at all levels: `explain`, `plan` and the start say the same of each, and none falls.

A thousand of them, always the same: a tenth in each run, all with the marker `combination`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from legacy_mm.assembly import wiring
from legacy_mm.base.errors import LegacyMMError
from legacy_mm.cli import connect_mirror_maker, mirror_maker, plan
from legacy_mm.cli.cluster_inspection import FlowPlan
from legacy_mm.cli.legacy_mm import main
from legacy_mm.clients.librdkafka.property_texts import ROWS
from legacy_mm.features import rows
from legacy_mm.flow import lifecycle
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.words.java_clients.client_properties.apply import RULES
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.mirror_maker_2 import connect_files, connect_line, driver, driver_line
from legacy_mm.words.mirror_maker_2.connector_properties import BY_NAME, OWN_FLAGS, WORKER_ROWS
from legacy_mm.words.mirror_maker_2.driver import DriverRun
from legacy_mm.words.options.option_catalogue import OwnOptions

SEED, FILES, SHARES = 20_261_129, 1_000, 10
STARTED = 0
Lines = Mapping[str, str]

VALUES = (
    *("", " ", "x", "60  # comment", '"7"', "a,,b", ",", "é", "k" * 300, "${env:NO_SUCH}", "${", "\\ud800", "\\u0000"),
    *("-5", "-1", "0", "1", "2", "3", "+7", " 9 ", "1.5", "nan", "1e3", "1_000", "0x10", "\\u0661"),
    *("2147483647", "2147483648", "9223372036854775807", "9223372036854775808", "9" * 30),
    *("true", "TRUE", " true ", "tru", "false", "null", "all", "none", "NONE", "read_committed", "consumer", "latest"),
    *("SSL", "ssl", "SASL_SSL", "SASL_PLAINTEXT", "PEM", "PKCS12", "PLAIN", "GSSAPI", "OAUTHBEARER", "zstd", "range"),
    *("*", "[", "orders.*", "a->b", "/nowhere", "no.such.Class", "IdentityReplicationPolicy", "source", "target"),
    "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
    "org.apache.kafka.common.security.plain.PlainLoginModule required username=a password=b;",
)
CLIENT_KEYS = (
    *sorted({rule.name for rules in RULES.values() for rule in rules} - {"bootstrap.servers"}),
    *(f"librdkafka.{row.name}" for row in ROWS.values()),
    *("no.such.key", "librdkafka.no.such.key", "connector.class", "config.providers", "zookeeper.connect"),
)
FLAGS = tuple(sorted(rows.BY_NAME))
CONNECTOR_KEYS = (*sorted(BY_NAME), *sorted(OWN_FLAGS), "mm2.compatibility", "use.defaults.from", "transforms.t.type")
WORKER_KEYS = (*(row.name for row in WORKER_ROWS), "group.id", "offset.storage.topic", "config.providers")
SOURCE = {"bootstrap.servers": "127.0.0.1:1"}
TARGET = {"bootstrap.servers": "127.0.0.1:2"}


TLS = {"security.protocol": "SSL"}
PLAIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required username=a password={};"
TOGETHER: Sequence[Lines] = (
    TLS,
    TLS | {"ssl.truststore.location": "/nowhere"},
    TLS | {"ssl.truststore.location": "/nowhere", "ssl.truststore.type": "PEM"},
    TLS | {"ssl.truststore.certificates": "x", "ssl.truststore.type": "PEM"},
    TLS | {"ssl.keystore.location": "/nowhere", "ssl.keystore.password": "x"},
    TLS | {"ssl.keystore.location": "/dev/null", "ssl.keystore.password": "x", "ssl.keystore.type": "PKCS12"},
    PLAIN | {"sasl.jaas.config": LOGIN.format('" blank"')},
    PLAIN | {"sasl.jaas.config": LOGIN.format('" blank"'), "group.protocol": "consumer"},
    PLAIN | {"sasl.jaas.config": LOGIN.format("b"), "sasl.login.callback.handler.class": "no.such.Class"},
    {"isolation.level": "read_uncommitted", "exactly.once": "true"},
    {"acks": "1", "exactly.once": "true"},
)
"""Properties that are wrong only beside each other, or only for Java or a client that reads them."""
FLAGS_TOGETHER: Sequence[Lines] = (
    *({"topic.creation": "true", key: "["} for key in ("topics", "topics.exclude", "config.properties.exclude")),
    {"topics": "*"},
    {"groups": "("},
    {"replication.policy.class": "no.such.Class"},
    {"replication.policy.class": "no_such_module:Policy"},
    {"exactly.once": "true", "errors.tolerance": "all"},
    {"exactly.once": "true", "exactly.once.interval.ms": "60000"},
    {"transforms": "t", "transforms.t.type": "org.apache.kafka.connect.transforms.RegexRouter"},
)
TOGETHER_SHARE = 0.3


class Case(NamedTuple):
    """A command line, and its files."""

    words: tuple[str, ...]
    files: Mapping[str, Lines]

    def write(self, folder: Path) -> None:
        for name, lines in self.files.items():
            (folder / name).write_text("".join(f"{key}={text}\n" for key, text in lines.items()), encoding="utf-8")


def odd(
    choice: random.Random, keys: Sequence[str], levels: Sequence[str] = ("",), together: Sequence[Lines] = TOGETHER
) -> Lines:
    """One to three keys with odd values, each at one of these levels; or some that go together, at one."""
    if choice.random() < TOGETHER_SHARE:
        level = choice.choice(levels)
        return {f"{level}{key}": text for key, text in choice.choice(together).items()}
    count = choice.randint(1, 3)
    return {f"{choice.choice(levels)}{choice.choice(keys)}": choice.choice(VALUES) for _ in range(count)}


def client_case(choice: random.Random) -> Case:
    together = (*TOGETHER, *FLAGS_TOGETHER)
    made = (odd(choice, (*CLIENT_KEYS, *FLAGS), together=together) for _ in range(2))
    consumer, producer = ({**base, **lines} for base, lines in zip((SOURCE, TARGET), made, strict=True))
    words = ("--consumer.config", "c", "--producer.config", "p", "--whitelist", "t")
    return Case(("kafka-mirror-maker.sh", *words), {"c": {"group.id": "g", **consumer}, "p": producer})


DRIVER_LEVELS: Mapping[str, Sequence[str]] = {
    "connector": ("", "A->B.", "A->B.", "A.", "B."),
    "client": (
        *("", "A.", "B.", "consumer.", "producer.", "admin.", "A.consumer.", "A.admin.", "B.producer.", "B.admin."),
        *("A->B.consumer.", "A->B.source.consumer.", "A->B.producer.override.", "A->B.target.producer.", "A->B.admin."),
    ),
    "worker": ("", "B.", "A->B."),
}
DRIVER_KEYS = {"connector": CONNECTOR_KEYS, "client": CLIENT_KEYS, "worker": WORKER_KEYS}


def driver_case(choice: random.Random) -> Case:
    file: dict[str, str] = {"clusters": "A, B", "A->B.enabled": "true", "B->A.enabled": choice.choice(["true", "no"])}
    file |= {f"A.{key}": text for key, text in SOURCE.items()} | {f"B.{key}": text for key, text in TARGET.items()}
    for _ in range(choice.randint(1, 2)):
        kind = choice.choice([*DRIVER_KEYS, "connector"])
        together = FLAGS_TOGETHER if kind == "connector" else TOGETHER
        file |= odd(choice, DRIVER_KEYS[kind], DRIVER_LEVELS[kind], together)
    return Case(("connect-mirror-maker.sh", "mm2"), {"mm2": file})


def connect_case(choice: random.Random) -> Case:
    source = {"name": "s", "connector.class": "MirrorSourceConnector", "source.cluster.alias": "A"}
    source |= {"target.cluster.alias": "B", "source.cluster.bootstrap.servers": "127.0.0.1:1"}
    levels = ("consumer.", "source.consumer.", "source.cluster.", "target.cluster.", "producer.override.", "admin.")
    of_connector = choice.random() < 0.6
    source |= odd(choice, CONNECTOR_KEYS, together=FLAGS_TOGETHER) if of_connector else odd(choice, CLIENT_KEYS, levels)
    worker = {**TARGET, **odd(choice, (*WORKER_KEYS, *CLIENT_KEYS), ("", "producer.", "consumer.", "admin."))}
    return Case(("connect-standalone.sh", "w", "s"), {"w": worker, "s": source})


KINDS: Mapping[str, Callable[[random.Random], Case]] = {
    "client": client_case,
    "driver": driver_case,
    "connector": connect_case,
}


def cases(share: int) -> Iterator[Case]:
    """The files of one share: those of a number are the same, whatever else is made."""
    makers = list(KINDS.values())
    for number in range(share, FILES, SHARES):
        yield makers[number // SHARES % len(makers)](random.Random(SEED + number))  # noqa: S311 - no secret


class Begins(Exception):  # noqa: N818 - no error
    """The start has come to where it asks the clusters."""


class NoClusters(Host):
    """A host that reads stores and finds classes, as the mirror's does, and asks no cluster."""

    def __init__(self, java: StartJvm) -> None:
        self._outlives_flows = True
        self.spark: Any = SimpleNamespace(jvm=java(), embedded=True)
        self.registries = []


@pytest.fixture
def host(java: StartJvm, one_java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NoClusters:
    """The start ends where a flow has its names; `plan` finds nothing to change."""

    def begins(*_: Any, **__: Any) -> None:
        raise Begins

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wiring, "identity_check", lambda settings: None)
    monkeypatch.setattr(wiring, "flow_registry", begins)
    monkeypatch.setattr(lifecycle, "Signals", lambda _: SimpleNamespace(shutdown_timeout=0.0))
    inspection = lambda settings, *_: SimpleNamespace(inspect=lambda: FlowPlan(settings.flow, {}))  # noqa: E731
    monkeypatch.setattr(plan, "FlowClusters", inspection)
    return NoClusters(java)


def builds(settings: Settings, host: Host) -> LegacyMMError | None:
    """Why the flow does not start; None: it does."""
    try:
        wiring.build_mirror(settings, host)
    except Begins:
        return None
    except LegacyMMError as error:
        return error
    raise AssertionError


def start_of_mirror(words: Sequence[str], host: Host) -> int:
    """The exit code; 0 for a mirror that comes to where it asks the clusters."""

    def build(outcome: Any, _: Any) -> int:
        why = [error for settings in outcome.flows if (error := builds(settings, host)) is not None]
        return why[0].exit_code if why else STARTED

    return mirror_maker.run(words[1:], mirror=build)


def start_of_flows(words: Sequence[str], host: Host) -> set[str]:
    """The flows that copy and come to where they ask their clusters; none where the driver ends."""

    def flows(clients: ClientTranslation) -> DriverRun:
        if connect_line.is_connect(words):
            files = connect_files.load(connect_line.parse(words[1:]))
            return driver.translate_flows(files.flows(), clients, files.kept)
        return driver.translate_driver(driver.load(driver_line.parse(words[1:])), clients)

    outcome = connect_mirror_maker.prepare_flows(flows, OwnOptions())
    if outcome is None:
        return set()
    copying = (each for each in outcome.flows if each.settings.streams)
    return {str(each.pair) for each in copying if builds(each.settings, host) is None}


def explained(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """The exit code and the document; as text it is no harder to say."""
    code = main(["explain", "--offline", "--json", "--", *words])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert main(["explain", "--offline", "--", *words]) == code == document["exit_code"]
    assert document["format"] == 1
    assert capsys.readouterr().out
    return code, document


def planned(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, set[str]]:
    """The exit code, and the flows that would start."""
    capsys.readouterr()
    code, going = main(["plan", "--json", "--", *words]), set()
    with suppress(ValueError):
        for flow in json.loads(capsys.readouterr().out)["flows"]:
            going |= {flow["flow"]} if not any(duty["troubles"] for duty in flow["duties"]) else set()
    return code, going


def verdicts(words: Sequence[str], host: Host, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """What each says of a line: an exit code, or the flows that copy."""
    code, document = explained(words, capsys)
    plan_code, going = planned(words, capsys)
    if document["of"] == "mirror":
        agreed = code if (plan_code == 0) == (code == 0) else f"plan ends with {plan_code}"
        return {"explain": code, "plan": agreed, "start": start_of_mirror(words, host)}
    copying = {
        f"{flow['source']}->{flow['target']}": bool(flow["clients"]) for flow in document["flows"] if flow["copies"]
    }
    return {
        "explain": {name for name, runs in copying.items() if runs},
        "plan": going & copying.keys(),
        "start": start_of_flows(words, host),
    }


@pytest.mark.parametrize(
    "share", [0, *(pytest.param(number, marks=pytest.mark.combination) for number in range(1, SHARES))]
)
def test_all_say_the_same_of_odd_files(
    share: int, host: NoClusters, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = []
    for case in cases(share):
        case.write(tmp_path)
        found = verdicts(case.words, host, capsys)
        if any(verdict != found["start"] for verdict in found.values()):
            wrong.append(f"{found}: {dict(case.files)}")
    assert not wrong, "\n".join(wrong)
