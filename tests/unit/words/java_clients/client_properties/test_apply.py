"""The rows against the recorded map of every Java property, and what single rows mean."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.words.java_clients.client_properties.apply import (
    CONSUMER_RULES,
    PRODUCER_RULES,
    Translated,
    apply,
)
from legacy_mm.words.java_clients.client_properties.rule import Forgotten, Number, Setting, Side, Text
from tests.fixtures.client_settings import texts

ALIASES = {
    "delivery.timeout.ms": "message.timeout.ms",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
}
OTHERWISE = {
    ("consumer", "auto.commit.interval.ms"): "our commits use it, librdkafka never commits",
    ("consumer", "auto.offset.reset"): "the core positions the partitions",
    ("consumer", "client.id"): "the core sets <group.id>-<stream>",
    ("consumer", "group.instance.id"): "the core appends the stream",
    ("producer", "transaction.timeout.ms"): "transactions are refused",
    ("consumer", "metadata.recovery.rebootstrap.trigger.ms"): "unknown to 3.9",
    ("producer", "metadata.recovery.rebootstrap.trigger.ms"): "unknown to 3.9",
}
"""Accepted values whose recorded conversion is not ours, on purpose; refusals are replayed."""
MECHANISMS_REFUSED = ("sasl.kerberos.", "sasl.oauthbearer.")
LITERAL = ("batch.size",)
"""Recorded as numbers are taken literally."""
BASE = {"bootstrap.servers": "127.0.0.1:1"}


def consumer(streams: int = 1, **properties: str) -> Translated:
    return apply("consumer", _file({"group_id": "g", **properties}), streams=streams)


def producer(
    file: Mapping[str, str] | None = None,
    *,
    streams: int = 1,
    literal: bool = False,
    **properties: str,
) -> Translated:
    named = _file({**(file or {}), **properties})
    return apply("producer", named, streams=streams, literal=literal)


def _file(properties: Mapping[str, str]) -> dict[str, str]:
    return BASE | {name.replace("_", "."): text for name, text in properties.items()}


def notes(translated: Translated) -> list[str]:
    return [note.text for note in translated.reading.notes]


def _difference(side: Side, name: str, test: Mapping[str, Any]) -> str:
    wanted = test["out"]
    file = BASE | ({"group.id": "g"} if side == "consumer" else {}) | {name: test["in"]}
    if name.startswith("ssl."):
        file |= {"security.protocol": "SSL"}
    if name == "group.remote.assignor":
        file |= {"group.protocol": "consumer"}
    if name.startswith("compression.") and isinstance(wanted, dict):
        file |= {"compression.type": wanted["compression.type"]}
    try:
        got = texts(apply(side, file, literal=name in LITERAL))
    except ConfigurationError as error:
        return "" if wanted == "fatal" else str(error)
    if wanted == "fatal":
        return "accepted"
    wanted = {ALIASES.get(key, key): value for key, value in wanted.items()}
    unread = NO_LIBRDKAFKA_READS[side]
    differing = {key: got.get(key) for key, value in wanted.items() if got.get(key) != value and key not in unread}
    return f"{differing} instead of {wanted}" if differing else ""


NO_LIBRDKAFKA_READS = {
    "consumer": {"fetch.min.bytes", "message.max.bytes"},
    "producer": {
        *("enable.metrics.push", "metadata.recovery.strategy", "retry.backoff.max.ms"),
        *("queue.buffering.max.messages", "compression.level"),
    },
}
"""No member fetches, and no producer is librdkafka's: what is recorded for them is not written, or has no range."""
LEFT_OUT = {
    ("group.id", ""): "refused by compat.translate, tested there",
    ("max.block.ms", str(2**63 - 1)): "the map's 3600000 overflows in librdkafka: measured",
    ("client.dns.lookup", "default"): "of releases before 3.0, tested with them",
}


def test_recorded_conversions(config_map: dict[str, Any]) -> None:
    equal, different, left_out = 0, {}, set()
    for row in config_map["properties"]:
        name = row["name"]
        for side, test in itertools.product(row["applies_to"], row.get("tests") or []):
            otherwise = (side, name) in OTHERWISE or name.startswith(MECHANISMS_REFUSED)
            if otherwise and test["out"] != "fatal":
                left_out.add(f"{side} {name}={test['in']}")
            elif why := LEFT_OUT.get((name, test["in"])):
                left_out.add(f"{side} {name}={test['in']} ({why})")
            elif said := _difference(side, name, test):
                different[side, name, test["in"]] = said
            else:
                equal += 1
    print(f"\n{equal} recorded conversions equal, {len(different)} not, {len(left_out)} left out:")
    print(*sorted(left_out), sep="\n")
    assert not different


@pytest.mark.parametrize("side", ["consumer", "producer"])
def test_defaults_are_those_of_the_map(config_map: dict[str, Any], side: Side) -> None:
    recorded = dict(config_map["set_when_absent"][side])
    got = texts(apply(side, BASE | ({"group.id": "g"} if side == "consumer" else {})))
    ours: dict[str, str | None] = {
        "reconnect.backoff.ms": "50",  # Java's; difference reconnect-pause has librdkafka's
        "auto.offset.reset": None,  # a Setting: the streams position themselves
        "fetch.queue.backoff.ms": None,  # no member fetches
        "queue.buffering.max.messages": None,  # no librdkafka produces
        "log.connection.close": "false" if side == "consumer" else None,
        "topic.metadata.propagation.max.ms": "2147483",  # the map's 3600000 overflows (measured)
    }
    wanted = {name: ours.get(name, value) for name, value in recorded.items()}
    assert {name: got.get(name) for name in wanted} == wanted


def test_a_member_of_librdkafka_takes_what_we_give_it() -> None:
    made = property_texts(consumer(session_timeout_ms="600000", fetch_max_bytes="100000").consumer)
    Consumer({**made, "log_level": "0"}).close()
    assert made["session.timeout.ms"] == made["max.poll.interval.ms"] == "600000"


@pytest.mark.parametrize(
    ("side", "name", "text", "message"),
    [
        ("consumer", "fetch.min.bytes", "10k", "Not a number of type INT"),
        ("consumer", "fetch.min.bytes", "4294967297", "Not a number of type INT"),
        ("consumer", "fetch.min.bytes", 5000 * "0", "Not a number of type INT"),
        ("consumer", "fetch.min.bytes", "-1", "Value must be at least 0"),
        ("consumer", "metadata.max.age.ms", "x", "Not a number of type LONG"),
        ("consumer", "sasl.login.connect.timeout.ms", "1.5", "Not a number of type INT"),
        ("consumer", "sasl.login.retry.backoff.ms", "x", "Not a number of type LONG"),
        ("producer", "sasl.login.refresh.buffer.seconds", "99999", "Not a number of type SHORT"),
        ("producer", "sasl.login.refresh.buffer.seconds", "3601", "Value must be no more than 3600"),
        ("producer", "sasl.login.refresh.window.factor", "x", "Not a number of type DOUBLE"),
        ("producer", "sasl.login.refresh.window.factor", "0.3", "Value must be at least 0.5"),
        ("producer", "sasl.login.refresh.window.factor", "1.5", "Value must be no more than 1.0"),
        ("consumer", "sasl.login.refresh.window.jitter", "-0.1", "Value must be at least 0.0"),
        ("consumer", "sasl.login.refresh.window.jitter", "0.3", "Value must be no more than 0.25"),
        ("consumer", "sasl.kerberos.ticket.renew.jitter", "1_0", "Not a number of type DOUBLE"),
        ("consumer", "sasl.kerberos.ticket.renew.window.factor", "", "Not a number of type DOUBLE"),
        ("consumer", "sasl.kerberos.min.time.before.relogin", "0.5", "Not a number of type LONG"),
        ("consumer", "check.crcs", "yes", "Expected value to be either true or false"),
        (
            "consumer",
            "auto.offset.reset",
            "smallest",
            "String must be one of: latest, earliest, none",
        ),
        ("producer", "acks", "2", "String must be one of: all, -1, 0, 1"),
        (
            "producer",
            "compression.type",
            "zip",
            "String must be one of: none, gzip, snappy, lz4, zstd",
        ),
    ],
)
def test_java_s_error_texts(side: Side, name: str, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        apply(side, BASE | {"group.id": "g", name: text})
    assert str(refused.value) == (
        f"org.apache.kafka.common.config.ConfigException: Invalid value {text} for configuration {name}: {message}"
    )


@given(st.integers(-(2**40), 2**40), st.sampled_from(["", "+", "0", "00", " "]))
def test_numbers_are_decimal(number: int, prefix: str) -> None:
    text = f"{prefix}{number}".strip()
    try:
        value = Number().parse("n", text)
    except ConfigurationError:
        assert not -(2**31) <= number < 2**31 or (number < 0 and prefix.strip())
    else:
        assert value == number


def test_idempotence_like_java() -> None:
    name = "enable.idempotence"
    assert texts(producer())[name] == "true"
    for file in ({"acks": "1"}, {"retries": "0"}, {"max_in_flight_requests_per_connection": "6"}):
        silent = producer(file)
        assert texts(silent)[name] == "false"
        assert any("Idempotence will be disabled" in text for text in notes(silent))
        with pytest.raises(ConfigurationError, match="idempotent producer"):
            producer(file, enable_idempotence="true")
    assert texts(producer({"max_in_flight_requests_per_connection": "5"}))[name] == "true"
    off = texts(producer(enable_idempotence="false"))
    assert (off[name], off["max.in.flight.requests.per.connection"]) == ("false", "1")


def test_in_flight_is_read_by_meaning() -> None:
    """Difference in-flight-by-meaning."""
    name = "max.in.flight.requests.per.connection"
    key = name.replace(".", "_")
    assert texts(producer())[name] == "5"
    assert texts(producer(literal=True))[name] == "5"
    said = producer({key: "1"})
    assert texts(said)[name] == "5"
    assert len([text for text in notes(said) if name in text]) == 1
    assert texts(producer({key: "1"}, literal=True))[name] == "1"
    assert texts(producer({key: "3"}))[name] == "3"
    assert texts(producer({key: "1"}, acks="1"))[name] == "1"


def test_batch_size_is_a_lower_bound() -> None:
    """Difference batch-size-by-meaning."""
    assert texts(producer())["batch.size"] == "1000000"
    assert texts(producer(batch_size="16384"))["batch.size"] == "983040"
    assert texts(producer(batch_size="2000000"))["batch.size"] == "2000000"
    assert texts(producer(literal=True, batch_size="16384"))["batch.size"] == "16384"
    assert texts(producer(literal=True, batch_size="0"))["batch.num.messages"] == "1"


def test_buffer_memory_is_divided() -> None:
    """Difference buffer-memory-divided."""
    name = "queue.buffering.max.kbytes"
    assert texts(producer())[name] == "32768"
    assert texts(producer(streams=4))[name] == "8192"
    assert texts(producer(streams=1000))[name] == "1024"
    big = texts(producer(streams=4, max_request_size="20000000"))
    assert int(big[name]) * 1024 >= 20_000_000
    assert texts(producer(streams=4, buffer_memory="1"))[name] == "1"


def test_what_is_fetched_ahead_is_divided() -> None:
    name = "queued.max.messages.kbytes"
    assert [texts(apply("consumer", BASE, streams=n))[name] for n in (1, 2, 4, 100)] == [
        "16384",
        "8192",
        "4096",
        "1024",
    ]


def test_delivery_timeout() -> None:
    """0 means at once in Java, and for ever to librdkafka."""
    assert texts(producer(delivery_timeout_ms="2147483647"))["message.timeout.ms"] == "0"
    assert texts(producer(delivery_timeout_ms="0", request_timeout_ms="0"))["message.timeout.ms"] == "1"
    for file in (
        {"delivery_timeout_ms": "100"},
        {"delivery_timeout_ms": "40000", "linger_ms": "10001"},
    ):
        with pytest.raises(ConfigurationError, match=r"linger\.ms \+ request\.timeout\.ms"):
            producer(file)


def cooperative(**properties: str) -> Translated:
    """A file whose membership librdkafka keeps."""
    assignor = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
    return consumer(1, partition_assignment_strategy=assignor, **properties)


def test_max_poll_interval_is_clamped() -> None:
    """Difference max-poll-interval-clamped: in a membership that librdkafka keeps, and in no other."""
    name = "max.poll.interval.ms"
    for asked, kept in (("2147483647", "86400000"), ("1000", "45000")):
        ours = consumer(max_poll_interval_ms=asked)
        assert ours.consumer.membership.max_poll_interval == int(asked) / 1000
        assert notes(ours) == []
        read = cooperative(max_poll_interval_ms=asked)
        assert property_texts(read.consumer)[name] == kept
        assert notes(read) == [f"{name}={asked} is taken as {kept}, the nearest value this client has."]
    assert name not in property_texts(cooperative().consumer)


def test_the_ranges_of_librdkafka_are_its_members_alone() -> None:
    """Difference number-clamped: ours ends where a wait of Python's does."""
    ours, kept = (
        made(metadata_max_age_ms="86400000", retry_backoff_ms="600000", session_timeout_ms="7200000")
        for made in (consumer, cooperative)
    )
    assert ours.values.items() >= {
        ("connection.metadata_max_age", 86_400.0),
        ("connection.retry_backoff", 600.0),
        ("membership.session_timeout", 7200.0),
    }
    assert notes(ours) == []
    assert kept.connection == ours.connection, "the copying goes on with the user's numbers"
    said = {text.split(",")[0] for text in notes(kept) if "nearest" in text}
    assert said == {
        "metadata.max.age.ms=86400000 is taken as 3600000",
        "retry.backoff.ms=600000 is taken as 300000",
        "session.timeout.ms=7200000 is taken as 3600000",
    }
    Consumer({**property_texts(kept.consumer), "log_level": "0"}).close()


def test_numbers_are_clamped_and_said() -> None:
    """Difference number-clamped."""
    clamped = consumer(metadata_max_age_ms="9223372036854775807")
    assert clamped.connection.metadata_max_age == 2_147_483.647
    assert notes(clamped) == [
        "metadata.max.age.ms=9223372036854775807 is taken as 2147483647, the nearest value this client has."
    ]


def test_heartbeat_below_session() -> None:
    with pytest.raises(ConfigurationError, match="Heartbeat must be set lower"):
        consumer(session_timeout_ms="3000")
    protocol = property_texts(consumer(group_protocol="consumer", session_timeout_ms="3000").consumer)
    assert not {"session.timeout.ms", "partition.assignment.strategy"} & set(protocol)


def test_partitioners_without_keys() -> None:
    """Difference partitioner-without-keys."""
    java = "org.apache.kafka.clients.producer."
    assert texts(producer())["partitioner"] == "murmur2_random"
    for file in (
        {"partitioner_class": java + "RoundRobinPartitioner"},
        {"partitioner_class": java + "UniformStickyPartitioner"},
        {"partitioner_ignore_keys": "true"},
    ):
        assert texts(producer(file))["partitioner"] == "random"


@pytest.mark.parametrize(
    ("side", "name", "text"),
    [
        ("producer", "transactional.id", "x"),
        ("producer", "partitioner.class", "com.acme.P"),
        ("producer", "interceptor.classes", "com.acme.I"),
        ("consumer", "interceptor.classes", "com.acme.I"),
        ("consumer", "partition.assignment.strategy", "com.acme.A"),
        ("consumer", "partition.assignment.strategy", ""),
    ],
)
def test_refused_by_name(side: Side, name: str, text: str) -> None:
    """Differences transactional-id-refused, java-code-refused."""
    with pytest.raises(ConfigurationError) as refused:
        apply(side, BASE | {"group.id": "g", name: text})
    assert name in str(refused.value)


@pytest.mark.parametrize("side", ["consumer", "producer"])
def test_interceptors_are_ignored_where_that_is_asked_for(side: Side) -> None:
    """Each is named once, at WARN."""
    file = BASE | {"group.id": "g", "interceptor.classes": "brave.kafka.Tracing, com.acme.Counting"}
    read = apply(side, file, ignore_interceptors=True)
    told = [(note.level, note.text) for note in read.reading.notes if "interceptor" in note.text]
    assert told == [
        (logging.WARNING, f"interceptor.classes: {name} is not run here.")
        for name in ("brave.kafka.Tracing", "com.acme.Counting")
    ]


@pytest.mark.parametrize(
    ("side", "name", "known"),
    [
        ("producer", "metric.reporters", "org.apache.kafka.common.metrics.JmxReporter"),
        ("consumer", "key.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer"),
        ("producer", "value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer"),
    ],
)
def test_java_code_without_effect_is_said_once(side: Side, name: str, known: str) -> None:
    said = notes(apply(side, BASE | {"group.id": "g", name: "com.acme.X"}))
    assert len([text for text in said if text.startswith(f"{name} has no effect here")]) == 1
    assert not [text for text in notes(apply(side, BASE | {"group.id": "g", name: known})) if name in text]


def test_native_properties() -> None:
    """Difference native-properties."""
    tuned = apply("consumer", BASE | {"group.id": "g", "librdkafka.queued.min.messages": "5 "})
    assert texts(tuned)["queued.min.messages"] == "5"
    assert notes(tuned) == []
    given_natively = {"librdkafka.queued.max.messages.kbytes": "9"}
    read = texts(apply("consumer", BASE | {"group.id": "g"} | given_natively))
    assert read["queued.max.messages.kbytes"] == "9"
    for name in ("enable.auto.commit", "client.id", "plugin.library.paths"):
        with pytest.raises(ConfigurationError, match="because"):
            apply("consumer", BASE | {"group.id": "g", f"librdkafka.{name}": "x"})


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("retries", "x", "a whole number from 0 to 2147483647"),
        ("retries", "-5", "a whole number from 0 to 2147483647"),
        ("message.send.max.retries", "", "a whole number from 0 to 2147483647"),
        ("socket.timeout.ms", "1s", "a whole number from 10 to 300000"),
        ("retries", "1_000", "a whole number from 0 to 2147483647"),
        ("linger.ms", "soon", "a number from 0 to 900000"),
        ("linger.ms", "nan", "a number from 0 to 900000"),
        ("linger.ms", "900000.5", "a number from 0 to 900000"),
        ("socket.keepalive.enable", "maybe", "true or false"),
        ("acks", "some", "all or a whole number from -1 to 1000"),
        ("acks", "1001", "all or a whole number from -1 to 1000"),
        ("compression.type", "brotli", "one of none, gzip, snappy, lz4, zstd"),
        ("partitioner", "murmur2", "one of murmur2_random, random"),
        ("security.protocol", "TLS", "one of plaintext, ssl, sasl_plaintext, sasl_ssl"),
    ],
)
def test_a_native_value_that_cannot_be_is_refused(name: str, text: str, allowed: str) -> None:
    """No librdkafka is there to refuse it, so a default would be kept in silence."""
    given = f"librdkafka.{name}"
    with pytest.raises(ConfigurationError, match=rf"^{given}={text} is not possible: it must be {allowed}$") as refused:
        apply("producer", BASE | {given: text})
    assert (refused.value.property_name, refused.value.allowed) == (given, allowed)


def test_what_only_librdkafka_reads_it_judges_itself() -> None:
    """At the start: its client is made when a stream joins."""
    given = "librdkafka.fetch.error.backoff.ms"
    with pytest.raises(ConfigurationError, match=f"{given}=-5 is not possible: librdkafka says: .* range") as refused:
        apply("consumer", BASE | {"group.id": "g", given: "-5"})
    assert refused.value.property_name == given


@pytest.mark.parametrize(("name", "text"), [("isolation.level", "none"), ("fetch.min.bytes", "x")])
def test_a_native_value_of_a_consumer_is_refused_alike(name: str, text: str) -> None:
    with pytest.raises(ConfigurationError, match="is not possible: it must be"):
        apply("consumer", BASE | {"group.id": "g", f"librdkafka.{name}": text})


def test_a_native_name_that_nobody_reads_is_said() -> None:
    """The membership of a consumer may be librdkafka's; no producer is."""
    given = {"librdkafka.debug": "all", "librdkafka.retries": "5", "librdkafka.ssl.ca.location": "probe"}
    read = apply("producer", BASE | given)
    assert [(note.level, note.text) for note in read.reading.notes] == [
        (logging.WARNING, "librdkafka.debug has no effect: no librdkafka sends the records.")
    ]
    assert notes(apply("consumer", BASE | {"group.id": "g", "librdkafka.debug": "all"})) == []


def test_unknown_names_are_said_in_one_line() -> None:
    said = apply("producer", BASE | {"foo.bar": "1", "timeout.ms": "x", "acks": "all"})
    assert notes(said) == ["These configurations '[foo.bar, timeout.ms]' were supplied but are not used yet."]
    assert said.reading.notes[0].level == logging.INFO


def test_names_of_features_that_are_not_there_are_said_in_one_warning() -> None:
    legacy_mode = {"replication.policy.class": "LegacyReplicationPolicy", "emit.heartbeats.enabled": "false"}
    said = apply("consumer", BASE | {"group.id": "g", "foo": "1", "connector.class": "x"} | legacy_mode)
    assert [(note.level, note.text) for note in said.reading.notes] == [
        (
            logging.WARNING,
            "These configurations '[connector.class]' were supplied but are not used yet.",
        ),
        (logging.INFO, "These configurations '[foo]' were supplied but are not used yet."),
    ]
    assert not set(legacy_mode) & set(texts(said))


@pytest.mark.parametrize(
    ("servers", "wanted"),
    [
        ("a:1,b:2", "a:1,b:2"),
        (" SSL://a:1 , ", "a:1"),
        ("[::1]:9092", "[::1]:9092"),
        (":9092,PLAINTEXT://:9093", "localhost:9092,localhost:9093"),
    ],
)
def test_bootstrap_servers(servers: str, wanted: str) -> None:
    read = texts(apply("producer", {"bootstrap.servers": servers}))
    assert read["bootstrap.servers"] == wanted


@pytest.mark.parametrize("servers", ["localhost", "a:x", "a:99999", "${HOST}:1", "a:" + 5000 * "1", "", " , "])
def test_bad_bootstrap_servers(servers: str) -> None:
    with pytest.raises(ConfigurationError, match=r"bootstrap\.servers"):
        apply("producer", {"bootstrap.servers": servers})


def test_rows_that_are_settings_emit_nothing() -> None:
    settings = [rule for rule in CONSUMER_RULES if isinstance(rule.meaning, Setting)]
    assert "auto.offset.reset" in {rule.name for rule in settings}
    assert not [rule for rule in settings if rule.meaning.emit(consumer().reading, rule.name)]


def test_forgotten_names_take_any_text() -> None:
    for rule in (*CONSUMER_RULES, *PRODUCER_RULES):
        if isinstance(rule.meaning, Forgotten):
            assert isinstance(rule.type, Text)
            assert not rule.type.valid
