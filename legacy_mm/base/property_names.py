"""librdkafka's name of each field of a client's settings, and the one place where its properties become fields.

The way back is `clients/librdkafka/property_texts.py`, by the same table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from math import inf
from typing import Any, NamedTuple, TypeVar

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import (
    ConnectionSettings,
    ConsumerSettings,
    FetchSettings,
    KerberosSettings,
    MembershipSettings,
    MskIamSettings,
    OAuthSettings,
    ProducerSettings,
    ProduceSettings,
    SaslSettings,
    SecurityProtocol,
    TlsSettings,
)
from legacy_mm.base.secret import Secret

SettingsPart = TypeVar("SettingsPart")
MOST_PROPAGATION_MS = 2_147_483
"""The most that librdkafka takes; a file that says so, or more, means to wait for ever, as the legacy tool does.

librdkafka multiplies by 1000 into 32 bits: one millisecond more and every new topic fails at once (measured).
"""
TOKEN_AUTH = "sasl.scram.token.auth"
MSK_IAM = "sasl.legacy_mm.msk.iam"
GIVEN = "sasl.legacy_mm.token"
TOKEN_FILE = "sasl.legacy_mm.bearer.file"
AUDIENCE = "sasl.legacy_mm.audience"
METADATA_SERVICE = "sasl.legacy_mm.metadata.service.token.urls"
LOGIN_CLASS = "sasl.legacy_mm.token.class"
KEEPER = "sasl.legacy_mm.token.keeper"
TOKEN_STORE = "https.legacy_mm.store"
"""A store of Java's with what a token service shows; it becomes one of the client's stores, and no property."""
_CONNECTION = (
    *("bootstrap.", "security.", "sasl.", "ssl.", "https.", "socket.", "client.", "reconnect."),
    *("enable.ssl", "enable.sasl", "broker.", "api.version.", "log."),
)
"""Beginnings of names that configure the connection, whatever the client does with it."""


_WHOLE = "a whole number"
_MOST_INTEGER = 2_147_483_647
_DIGITS = re.compile("[+-]?[0-9]+")


class Kind(NamedTuple):
    """A kind of value, and its form as text."""

    read: Callable[[str], Any]
    """Raises ValueError, or KeyError for a word that is none of those it knows."""
    write: Callable[[Any], str]
    allowed: str = "any text"
    """The possible texts, for people."""


class Row(NamedTuple):
    """A property of one field."""

    name: str
    kind: Kind
    ours: bool = False
    """librdkafka does not know it."""
    least: int | None = None
    """The least number that librdkafka takes, and the most; None: it is no number."""
    most: int = _MOST_INTEGER

    @property
    def allowed(self) -> str:
        """The possible texts, for people."""
        return self.kind.allowed if self.least is None else f"{self.kind.allowed} from {self.least} to {self.most}"

    def takes(self, text: str) -> bool:
        """Return True if the property may have this text."""
        try:
            self.kind.read(text)
        except (ValueError, KeyError):
            return False
        if self.least is None:
            return True
        try:
            return self.least <= float(text) <= self.most  # not a number is nowhere
        except ValueError:  # a word, such as `all`
            return True


def _integer(text: str) -> int:
    """Return a number in plain digits; raise ValueError for others. Python alone takes `1_000`, and any script."""
    if not _DIGITS.fullmatch(text):
        raise ValueError(text)
    return int(text)


def _milliseconds(never: int | None = None) -> Kind:
    """Return the kind of times, of which this number means for ever."""
    return Kind(
        lambda text: inf if _integer(text) == never else _integer(text) / 1000,
        lambda seconds: str(never) if seconds == inf else str(round(seconds * 1000)),
        _WHOLE,
    )


def _words(*words: str) -> Kind:
    """Return the kind of these words, in any case."""
    return Kind(lambda text: words[words.index(text.lower())], str, f"one of {', '.join(words)}")


_WORDS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
"""The words that librdkafka takes for yes and no."""
_TEXT = Kind(str, str)
_SECRET = Kind(Secret, Secret.reveal)
_NUMBER = Kind(_integer, str, _WHOLE)
_KBYTES = Kind(lambda text: _integer(text) << 10, lambda size: str(-(-size // 1024)), _WHOLE)
_MS = _milliseconds()
_FRACTION_MS = Kind(lambda text: float(text) / 1000, lambda seconds: f"{seconds * 1000:g}", "a number")
_YES_NO = Kind(lambda text: _WORDS[text.lower()], lambda yes: "true" if yes else "false", "true or false")
_LIST = Kind(lambda text: tuple(word.strip() for word in text.split(",")), ",".join)
_ACKS = Kind(
    lambda text: -1 if text == "all" else _integer(text),
    lambda acks: "all" if acks == -1 else str(acks),
    f"all or {_WHOLE}",
)
_ISOLATION = Kind(
    {"read_committed": True, "read_uncommitted": False}.__getitem__,
    lambda committed: "read_committed" if committed else "read_uncommitted",
    "read_committed or read_uncommitted",
)
_DNS_LOOKUP = _words("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")
_MSK_IAM = Kind(
    lambda text: _read_login(json.loads(text)),
    lambda login: json.dumps({name: value for name, value in asdict(login).items() if value is not None}),
)
_PROTOCOL = Kind(
    lambda text: SecurityProtocol(text.lower()),
    lambda protocol: str(protocol.value),
    f"one of {', '.join(each.value for each in SecurityProtocol)}",
)

ROWS: Mapping[type, Mapping[str, Row]] = {
    TlsSettings: {
        "ca_pem": Row("ssl.ca.pem", _TEXT),
        "ca_location": Row("ssl.ca.location", _TEXT),
        "crl_location": Row("ssl.crl.location", _TEXT),
        "certificate_pem": Row("ssl.certificate.pem", _TEXT),
        "certificate_location": Row("ssl.certificate.location", _TEXT),
        "key_pem": Row("ssl.key.pem", _SECRET),
        "key_location": Row("ssl.key.location", _TEXT),
        "key_password": Row("ssl.key.password", _SECRET),
        "cipher_suites": Row("ssl.cipher.suites", _TEXT),
        "verifies": Row("enable.ssl.certificate.verification", _YES_NO),
        "endpoint_identification": Row("ssl.endpoint.identification.algorithm", _TEXT),
        "keystore_location": Row("ssl.keystore.location", _TEXT),
        "engine_location": Row("ssl.engine.location", _TEXT),
        "providers": Row("ssl.providers", _TEXT),
        "curves": Row("ssl.curves.list", _TEXT),
        "signature_algorithms": Row("ssl.sigalgs.list", _TEXT),
    },
    KerberosSettings: {
        "service": Row("sasl.kerberos.service.name", _TEXT),
        "principal": Row("sasl.kerberos.principal", _TEXT),
        "keytab": Row("sasl.kerberos.keytab", _TEXT),
        "ticket_cache": Row("sasl.kerberos.ticket.cache", _TEXT, ours=True),
        "realms": Row("sasl.kerberos.krb5.conf", _TEXT, ours=True),
    },
    OAuthSettings: {
        "method": Row("sasl.oauthbearer.method", _TEXT),
        "grant_type": Row("sasl.oauthbearer.grant.type", _TEXT),
        "token_url": Row("sasl.oauthbearer.token.endpoint.url", _TEXT),
        "client_id": Row("sasl.oauthbearer.client.id", _TEXT),
        "client_secret": Row("sasl.oauthbearer.client.secret", _SECRET),
        "scope": Row("sasl.oauthbearer.scope", _TEXT),
        "extensions": Row("sasl.oauthbearer.extensions", _TEXT),
        "unsecured": Row("enable.sasl.oauthbearer.unsecure.jwt", _YES_NO),
        "claims": Row("sasl.oauthbearer.config", _TEXT),
        "ca_pem": Row("https.ca.pem", _TEXT),
        "ca_location": Row("https.ca.location", _TEXT),
        "msk_iam": Row(MSK_IAM, _MSK_IAM, ours=True),
        "token": Row(GIVEN, _SECRET, ours=True),
        "token_file": Row(TOKEN_FILE, _TEXT, ours=True),
        "audience": Row(AUDIENCE, _TEXT, ours=True),
        "metadata_service_urls": Row(METADATA_SERVICE, _TEXT, ours=True),
        "login_class": Row(LOGIN_CLASS, _SECRET, ours=True),
        "keeper": Row(KEEPER, _SECRET, ours=True),
    },
    SaslSettings: {
        "mechanism": Row("sasl.mechanism", _TEXT),
        "username": Row("sasl.username", _TEXT),
        "password": Row("sasl.password", _SECRET),
        "delegation_token": Row(TOKEN_AUTH, _YES_NO, ours=True),
    },
    ConnectionSettings: {
        "bootstrap_servers": Row("bootstrap.servers", _LIST),
        "client_id": Row("client.id", _TEXT),
        "protocol": Row("security.protocol", _PROTOCOL),
        "dns_lookup": Row("client.dns.lookup", _DNS_LOOKUP),
        "socket_timeout": Row("socket.timeout.ms", _MS, least=10, most=300_000),
        "setup_timeout": Row("socket.connection.setup.timeout.ms", _MS, least=1000),
        "reconnect_backoff": Row("reconnect.backoff.ms", _MS, least=0, most=3_600_000),
        "reconnect_backoff_max": Row("reconnect.backoff.max.ms", _MS, least=0, most=3_600_000),
        "retry_backoff": Row("retry.backoff.ms", _MS, least=1, most=300_000),
        "metadata_max_age": Row(
            "topic.metadata.refresh.interval.ms", _milliseconds(never=-1), least=-1, most=3_600_000
        ),
        "max_idle": Row("connections.max.idle.ms", _milliseconds(never=0), least=0),
        "max_response_bytes": Row("receive.message.max.bytes", _NUMBER, least=1000),
        "keep_alive": Row("socket.keepalive.enable", _YES_NO),
        "send_buffer_bytes": Row("socket.send.buffer.bytes", _NUMBER, least=0, most=100_000_000),
        "receive_buffer_bytes": Row("socket.receive.buffer.bytes", _NUMBER, least=0, most=100_000_000),
    },
    FetchSettings: {
        "max_wait": Row("fetch.wait.max.ms", _MS, least=0, most=300_000),
        "min_bytes": Row("fetch.min.bytes", _NUMBER, least=0),
        "max_bytes": Row("fetch.max.bytes", _NUMBER, least=0, most=2_147_483_135),
        "partition_bytes": Row("fetch.message.max.bytes", _NUMBER, least=1, most=1_000_000_000),
        "backlog_bytes": Row("queued.max.messages.kbytes", _KBYTES, least=1, most=2_097_151),
        "committed_only": Row("isolation.level", _ISOLATION),
        "check_crcs": Row("check.crcs", _YES_NO),
        "rack": Row("client.rack", _TEXT),
    },
    MembershipSettings: {
        "group_id": Row("group.id", _TEXT),
        "instance_id": Row("group.instance.id", _TEXT),
        "protocol": Row("group.protocol", _words("classic", "consumer")),
        "assignors": Row("partition.assignment.strategy", _LIST),
        "session_timeout": Row("session.timeout.ms", _MS, least=1, most=3_600_000),
        "heartbeat_interval": Row("heartbeat.interval.ms", _MS, least=1, most=3_600_000),
        "max_poll_interval": Row("max.poll.interval.ms", _MS, least=1, most=86_400_000),
    },
    ProduceSettings: {
        "acks": Row("acks", _ACKS, least=-1, most=1000),
        "idempotent": Row("enable.idempotence", _YES_NO),
        "in_flight": Row("max.in.flight.requests.per.connection", _NUMBER, least=1, most=1_000_000),
        "max_request_bytes": Row("message.max.bytes", _NUMBER, least=1000, most=1_000_000_000),
        "batch_records": Row("batch.num.messages", _NUMBER, least=1, most=1_000_000),
        "batch_bytes": Row("batch.size", _NUMBER, least=1),
        "buffer_bytes": Row("queue.buffering.max.kbytes", _KBYTES, least=1),
        "linger": Row("linger.ms", _FRACTION_MS, least=0, most=900_000),
        "request_timeout": Row("request.timeout.ms", _MS, least=1, most=900_000),
        "delivery_timeout": Row("message.timeout.ms", _milliseconds(never=0), least=0),
        "missing_topic_timeout": Row(
            "topic.metadata.propagation.max.ms", _milliseconds(never=MOST_PROPAGATION_MS), least=0, most=3_600_000
        ),
        "retries": Row("retries", _NUMBER, least=0),
        "compression": Row("compression.type", _words("none", "gzip", "snappy", "lz4", "zstd")),
        "compression_level": Row("compression.level", _NUMBER, least=-1, most=12),
        "partitioner": Row("partitioner", _words("murmur2_random", "random")),
    },
}


def _read_login(login: Mapping[str, str]) -> MskIamSettings:
    return MskIamSettings(login["region"], **{name: value for name, value in login.items() if name != "region"})


def name_of(kind: type, field: str) -> str:
    """Return librdkafka's name of a field, for messages."""
    return ROWS[kind][field].name


def obstacle(name: str, text: str) -> str:
    """Return the texts that this property of librdkafka's may have, if this one is none of them; else an empty text."""
    return next((row.allowed for row in _rows(name) if not row.takes(text)), "")


def is_unknown_to_librdkafka(name: str) -> bool:
    """Return True for a property of ours among librdkafka's, which no file may set."""
    return name == TOKEN_STORE or any(row.ours for row in _rows(name))


def is_field(name: str) -> bool:
    """Return True for a property that is a field of a client's settings."""
    return any(_rows(name))


def _rows(name: str) -> Iterator[Row]:
    """Yield the fields of clients' settings that have this name."""
    return (row for rows in ROWS.values() for row in rows.values() if row.name == name)


def is_read_by_producers(name: str) -> bool:
    """Return True for a property of librdkafka's that a producer of ours reads."""
    kinds = ROWS.keys() - {FetchSettings, MembershipSettings}
    return any(row.name == name for kind in kinds for row in ROWS[kind].values())


def read_connection(properties: Mapping[str, str]) -> ConnectionSettings:
    """Return the connection that librdkafka properties of any client describe; raises ConfigurationError."""
    return _connection(dict(properties))


def read_consumer(properties: Mapping[str, str]) -> ConsumerSettings:
    """Return the consumer that librdkafka properties describe; raises ConfigurationError."""
    left = dict(properties)
    fetch, membership = _taken(FetchSettings, left), _taken(MembershipSettings, left)
    return ConsumerSettings(_connection(left), fetch, membership, left)


def read_producer(properties: Mapping[str, str]) -> ProducerSettings:
    """Return the producer that librdkafka properties describe; raises ConfigurationError."""
    left = dict(properties)
    produce = _taken(ProduceSettings, left)
    return ProducerSettings(_connection(left), produce, left)


def _connection(left: dict[str, str]) -> ConnectionSettings:
    sasl = replace(
        _taken(SaslSettings, left), kerberos=_taken(KerberosSettings, left), oauth=_taken(OAuthSettings, left)
    )
    taken = replace(_taken(ConnectionSettings, left), tls=_taken(TlsSettings, left), sasl=sasl)
    further = {name: left.pop(name) for name in list(left) if name.startswith(_CONNECTION)}
    return replace(taken, further=further)


def _taken(kind: type[SettingsPart], left: dict[str, str]) -> SettingsPart:
    """Take the properties of the fields of this kind.

    A text that a field cannot hold is left: `obstacle` has found it before. An unknown protocol is refused here, so
    that no client goes on without encryption.
    """
    values = {}
    for field in fields(kind):  # type: ignore[arg-type]
        row = ROWS[kind].get(field.name)
        if row is None or row.name not in left:
            continue
        try:
            values[field.name] = row.kind.read(left[row.name])
        except (ValueError, KeyError):
            if row.kind is _PROTOCOL:
                raise ConfigurationError(f"security.protocol={left[row.name]} is unknown") from None
            continue
        del left[row.name]
    return kind(**values)
