from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import fields
from math import inf
from pathlib import Path

import confluent_kafka
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from legacy_mm.base.kafka_clients import PARTS, ConnectionSettings, ConsumerSettings, MembershipSettings, fields_of
from legacy_mm.base.secret import Secret
from legacy_mm.clients.librdkafka.property_texts import (
    _OTHER_DEFAULTS,
    ROWS,
    Row,
    native_path,
    nearest_texts,
    property_texts,
    refusal,
)
from tests.fixtures import client_settings
from tests.fixtures.client_settings import KEEPER, TOKEN_AUTH

PATHS = {row.name: path for path, row in ROWS.items()}
TASKS = Path("/proc/self/task")
SERVERS = {"bootstrap.servers": "127.0.0.1:1"}

CONNECTION = {
    "bootstrap.servers": "a:1,b:2",
    "client.id": "me",
    "security.protocol": "sasl_ssl",
    "client.dns.lookup": "resolve_canonical_bootstrap_servers_only",
    "socket.timeout.ms": "30000",
    "socket.connection.setup.timeout.ms": "31000",
    "reconnect.backoff.ms": "50",
    "reconnect.backoff.max.ms": "1000",
    "retry.backoff.ms": "101",
    "topic.metadata.refresh.interval.ms": "-1",
    "connections.max.idle.ms": "0",
    "receive.message.max.bytes": "2147483647",
    "socket.keepalive.enable": "true",
    "socket.send.buffer.bytes": "4096",
    "ssl.ca.pem": "CA",
    "ssl.key.pem": "KEY",
    "ssl.key.password": "geheim",
    "ssl.endpoint.identification.algorithm": "none",
    "enable.ssl.certificate.verification": "false",
    "sasl.mechanism": "SCRAM-SHA-256",
    "sasl.username": "u",
    "sasl.password": " p=,",
    "https.ca.location": "/ca",
    "broker.address.ttl": "7",
}
CONSUMER = {
    **CONNECTION,
    "group.id": "g",
    "group.instance.id": "g-1",
    "partition.assignment.strategy": "range",
    "session.timeout.ms": "45001",
    "queued.min.messages": "20",
}
ALWAYS = {"log.connection.close": "false"}
OF_MEMBERS = {**ALWAYS, "enable.auto.commit": "false", "allow.auto.create.topics": "false"}


def test_the_way_there_and_back_changes_no_text() -> None:
    assert property_texts(client_settings.read_connection(CONNECTION)) == CONNECTION | ALWAYS
    assert property_texts(client_settings.read_consumer(CONSUMER)) == CONSUMER | OF_MEMBERS


def test_what_librdkafka_does_not_know_stays_here() -> None:
    asked = {TOKEN_AUTH: "true", KEEPER: "http://127.0.0.1:1/w/0", "kerberos.realms": "/krb5.conf"}
    assert property_texts(client_settings.read_connection({**CONNECTION, **asked})) == CONNECTION | ALWAYS


def test_a_member_commits_and_fetches_nothing_by_itself() -> None:
    texts = property_texts(client_settings.read_consumer({**CONSUMER, "fetch.min.bytes": "7", "check.crcs": "false"}))
    assert texts == CONSUMER | OF_MEMBERS


@pytest.mark.parametrize(
    ("name", "text", "taken"),
    [
        ("retry.backoff.ms", "0", "1"),
        ("retry.backoff.ms", "600000", "300000"),
        ("socket.timeout.ms", "1", "10"),
        ("topic.metadata.refresh.interval.ms", "7200000", "3600000"),
        ("session.timeout.ms", "7200000", "3600000"),
        ("max.poll.interval.ms", "1000", "45000"),
    ],
)
def test_a_number_out_of_its_range_is_the_nearest_one(name: str, text: str, taken: str) -> None:
    settings = client_settings.read_consumer({**SERVERS, "group.id": "g", name: text})
    assert property_texts(settings)[name] == taken
    assert (PATHS[name], taken) in list(nearest_texts(settings))
    Consumer({**property_texts(settings), "log_level": 0}).close()


def test_a_number_in_its_range_stays() -> None:
    settings = client_settings.read_consumer({**SERVERS, "group.id": "g", "retry.backoff.ms": "300000"})
    assert list(nearest_texts(settings)) == []
    assert property_texts(settings)["retry.backoff.max.ms"] == "300000", "the pause is constant"


def test_librdkafka_takes_the_defaults() -> None:
    there = ConnectionSettings(("127.0.0.1:1",))
    AdminClient({**property_texts(there)})
    Consumer(property_texts(ConsumerSettings(there, membership=MembershipSettings("g"))))
    assert Producer(property_texts(there)).poll(0) >= 0


def test_a_default_of_the_classic_membership_is_not_in_the_way_of_the_next_one() -> None:
    there = ConnectionSettings(("127.0.0.1:1",))
    texts = property_texts(ConsumerSettings(there, membership=MembershipSettings("g", protocol="consumer")))
    Consumer(texts)
    assert "session.timeout.ms" not in texts and texts["group.protocol"] == "consumer"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("retries", "x"),
        ("retries", "1_000"),
        ("linger.ms", "nan"),
        ("acks", "1001"),
        ("socket.keepalive.enable", "perhaps"),
        ("security.protocol", "quic"),
        ("ssl.endpoint.identification.algorithm", "httsp"),
        ("sasl.oauthbearer.method", "odic"),
        ("partition.assignment.strategy", "sticky"),
        ("partition.assignment.strategy", "range,cooperative-sticky"),
    ],
)
def test_a_text_that_its_field_cannot_hold_is_no_value(name: str, text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        ROWS[PATHS[name]].read(text)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("connections.max.idle.ms", "0", inf),
        ("topic.metadata.refresh.interval.ms", "-1", inf),
        ("message.timeout.ms", "0", inf),
        ("linger.ms", "0.5", 0.0005),
        ("fetch.wait.max.ms", "250", 0.25),
        ("queued.max.messages.kbytes", "64", 65_536),
        ("isolation.level", "read_committed", True),
        ("ssl.endpoint.identification.algorithm", "HTTPS", "https"),
        ("sasl.password", "geheim", Secret("geheim")),
        ("ssl.key.pem", "KEY", Secret("KEY")),
    ],
)
def test_a_text_is_a_value_of_ours(name: str, text: str, value: object) -> None:
    assert ROWS[PATHS[name]].read(text) == value


def test_each_row_names_a_field() -> None:
    named = {f"{part}.{field.name}" for part, kind in PARTS.items() for field in fields(kind)}
    assert ROWS.keys() <= named
    assert len(PATHS) == len(ROWS), "each name is of one field"


def test_a_client_has_the_fields_of_its_side() -> None:
    assert native_path("linger.ms", "producer") == "produce.linger"
    assert native_path("linger.ms", "consumer") is None
    assert native_path("fetch.min.bytes", "producer") is native_path("session.timeout.ms", "producer") is None
    assert native_path("retry.backoff.ms", "consumer") == native_path("retry.backoff.ms", "producer")


KINDS = ("rd_kafka_conf", "rd_kafka_topic_conf")


@pytest.fixture
def librdkafka() -> ctypes.CDLL:
    """The library itself."""
    libraries = sorted((Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs").glob("librdkafka*.so*"))
    if not libraries:
        pytest.skip("confluent_kafka is not a wheel, which brings the library along")
    library = ctypes.CDLL(str(libraries[0]))
    for kind in KINDS:
        getattr(library, f"{kind}_new").restype = ctypes.c_void_p
    return library


@pytest.fixture
def librdkafka_default(librdkafka: ctypes.CDLL) -> Callable[[str], str]:
    """It says what it does where nothing is written."""

    def default(name: str) -> str:
        for kind in KINDS:
            text, size = ctypes.create_string_buffer(4096), ctypes.c_size_t(4096)
            asked = ctypes.c_void_p(getattr(librdkafka, f"{kind}_new")())
            if getattr(librdkafka, f"{kind}_get")(asked, name.encode(), text, ctypes.byref(size)) == 0:
                return text.value.decode()
        raise AssertionError(f"{name} is unknown")

    return default


def test_each_range_is_that_of_librdkafka(librdkafka: ctypes.CDLL) -> None:
    """The members of groups alone have a librdkafka that would refuse a number; all else is read by us."""

    def takes(name: str, number: int) -> bool:
        why, answers = ctypes.create_string_buffer(512), []
        for kind in KINDS:
            asked = ctypes.c_void_p(getattr(librdkafka, f"{kind}_new")())
            words = name.encode(), str(number).encode(), why, ctypes.c_size_t(512)
            answers.append(getattr(librdkafka, f"{kind}_set")(asked, *words))
        return 0 in answers

    rows = [row for row in ROWS.values() if row.least is not None]
    for row in rows:
        assert row.least is not None
        edges = row.least - 1, row.least, row.most, row.most + 1
        assert [takes(row.name, edge) for edge in edges] == [False, True, True, False], row
        assert [_reads(row, str(edge)) for edge in edges] == [False, True, True, False], row
    assert rows == [row for row in ROWS.values() if "number" in row.kind.allowed]


def _reads(row: Row, text: str) -> bool:
    try:
        row.read(text)
    except ValueError:
        return False
    return True


def test_a_default_that_is_not_written_is_that_of_librdkafka(librdkafka_default: Callable[[str], str]) -> None:
    """Else the two client libraries would do different things for the same settings."""
    member = dict(fields_of(ConsumerSettings(ConnectionSettings())))
    differ = {
        row.name
        for path, default in member.items()
        if (row := ROWS.get(path)) is not None and default not in (None, "", ()) and not path.startswith("fetch.")
        if not _is(row, librdkafka_default(row.name), default)
    }
    assert differ == _OTHER_DEFAULTS


def _is(row: Row, text: str, value: object) -> bool:
    try:
        return bool(row.read(text) == value)
    except (ValueError, KeyError):
        return False


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("fetch.error.backoff.ms", "-5", "outside allowed range 0..300000"),
        ("no.such.name", "x", 'No such configuration property: "no.such.name"'),
        ("enable.partition.eof", "maybe", "Expected bool value"),
        ("error_cb", "x", "a callable function"),
    ],
)
def test_what_it_refuses(name: str, text: str, why: str) -> None:
    said = refusal(name, text)
    assert why in said
    assert said == said.strip()


@pytest.mark.parametrize(
    ("name", "text"), [("queued.min.messages", "5"), ("debug", "all"), ("request.timeout.ms", "9")]
)
def test_what_it_takes_makes_no_client(name: str, text: str, capfd: pytest.CaptureFixture[str]) -> None:
    """A client would have threads, and say what `debug` asks for."""
    before = set(TASKS.iterdir())
    assert refusal(name, text) == ""
    assert set(TASKS.iterdir()) == before
    assert capfd.readouterr() == ("", "")
