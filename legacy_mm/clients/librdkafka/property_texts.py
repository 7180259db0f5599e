"""librdkafka's properties of a client: its name, text and range of each field, and nobody else's.

Its own members get these texts. A user's file may write them too, as `librdkafka.<name>`: `native_path` says which
field one sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

from legacy_mm.base.kafka_clients import ConnectionSettings, ConsumerSettings, SecurityProtocol, fields_of
from legacy_mm.base.secret import Secret

_WHOLE = "a whole number"
_MOST_INTEGER = 2_147_483_647
_MOST_PROPAGATION_MS = 2_147_483
"""It multiplies by 1000 into 32 bits: one millisecond more and every new topic fails at once (measured)."""
_DIGITS = re.compile("[+-]?[0-9]+")
_EAGER, _COOPERATIVE = {"range", "roundrobin"}, {"cooperative-sticky"}


class Kind(NamedTuple):
    """A kind of value, and its form as text."""

    read: Callable[[str], Any]
    """Raises ValueError, or KeyError for a word that is none of those it knows."""
    write: Callable[[Any], str] = str
    allowed: str = "any text"
    """The possible texts, for people."""


class Row(NamedTuple):
    """librdkafka's property of one field."""

    name: str
    kind: Kind
    least: int | None = None
    """The least number that librdkafka takes, and the most; None: it is no number."""
    most: int = _MOST_INTEGER

    @property
    def allowed(self) -> str:
        """The possible texts, for people."""
        return self.kind.allowed if self.least is None else f"{self.kind.allowed} from {self.least} to {self.most}"

    def read(self, text: str) -> Any:
        """Return the value of a text; raise ValueError or KeyError for one that librdkafka does not take."""
        value = self.kind.read(text)
        if self.least is not None and text != "all" and not self.least <= float(text) <= self.most:
            raise ValueError(text)  # not a number is nowhere
        return value

    def write(self, value: Any) -> str:
        """Return the text of a value, the nearest one that librdkafka takes."""
        text = self.kind.write(value)
        if self.least is None or text == "all" or self.least <= float(text) <= self.most:
            return text
        return str(min(max(round(float(text)), self.least), self.most))


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
    return Kind(lambda text: words[words.index(text.lower())], allowed=f"one of {', '.join(words)}")


def _assignors(text: str) -> tuple[str, ...]:
    names = tuple(word.strip() for word in text.split(","))
    if not (_EAGER.issuperset(names) or _COOPERATIVE.issuperset(names)):
        raise ValueError(text)
    return names


_WORDS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
"""The words that librdkafka takes for yes and no."""
_TEXT = Kind(str)
_SECRET = Kind(Secret, Secret.reveal)
_NUMBER = Kind(_integer, allowed=_WHOLE)
_KBYTES = Kind(lambda text: _integer(text) << 10, lambda size: str(-(-size // 1024)), _WHOLE)
_MS = _milliseconds()
_FRACTION_MS = Kind(lambda text: float(text) / 1000, lambda seconds: f"{seconds * 1000:g}", "a number")
_YES_NO = Kind(lambda text: _WORDS[text.lower()], lambda yes: "true" if yes else "false", "true or false")
_LIST = Kind(lambda text: tuple(word.strip() for word in text.split(",")), ",".join)
_ASSIGNORS = Kind(_assignors, ",".join, "range, roundrobin or both, or cooperative-sticky alone")
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
_PROTOCOL = Kind(
    lambda text: SecurityProtocol(text.lower()),
    lambda protocol: str(protocol.value),
    f"one of {', '.join(each.value for each in SecurityProtocol)}",
)

ROWS: Mapping[str, Row] = {
    "tls.ca_pem": Row("ssl.ca.pem", _TEXT),
    "tls.ca_location": Row("ssl.ca.location", _TEXT),
    "tls.crl_location": Row("ssl.crl.location", _TEXT),
    "tls.certificate_pem": Row("ssl.certificate.pem", _TEXT),
    "tls.certificate_location": Row("ssl.certificate.location", _TEXT),
    "tls.key_pem": Row("ssl.key.pem", _SECRET),
    "tls.key_location": Row("ssl.key.location", _TEXT),
    "tls.key_password": Row("ssl.key.password", _SECRET),
    "tls.cipher_suites": Row("ssl.cipher.suites", _TEXT),
    "tls.verifies": Row("enable.ssl.certificate.verification", _YES_NO),
    "tls.endpoint_identification": Row("ssl.endpoint.identification.algorithm", _words("none", "https")),
    "kerberos.service": Row("sasl.kerberos.service.name", _TEXT),
    "kerberos.principal": Row("sasl.kerberos.principal", _TEXT),
    "kerberos.keytab": Row("sasl.kerberos.keytab", _TEXT),
    "oauth.method": Row("sasl.oauthbearer.method", _words("default", "oidc")),
    "oauth.grant_type": Row("sasl.oauthbearer.grant.type", _TEXT),
    "oauth.token_url": Row("sasl.oauthbearer.token.endpoint.url", _TEXT),
    "oauth.client_id": Row("sasl.oauthbearer.client.id", _TEXT),
    "oauth.client_secret": Row("sasl.oauthbearer.client.secret", _SECRET),
    "oauth.scope": Row("sasl.oauthbearer.scope", _TEXT),
    "oauth.extensions": Row("sasl.oauthbearer.extensions", _TEXT),
    "oauth.unsecured": Row("enable.sasl.oauthbearer.unsecure.jwt", _YES_NO),
    "oauth.claims": Row("sasl.oauthbearer.config", _TEXT),
    "oauth.ca_pem": Row("https.ca.pem", _TEXT),
    "oauth.ca_location": Row("https.ca.location", _TEXT),
    "sasl.mechanism": Row("sasl.mechanism", _TEXT),
    "sasl.username": Row("sasl.username", _TEXT),
    "sasl.password": Row("sasl.password", _SECRET),
    "connection.bootstrap_servers": Row("bootstrap.servers", _LIST),
    "connection.client_id": Row("client.id", _TEXT),
    "connection.protocol": Row("security.protocol", _PROTOCOL),
    "connection.dns_lookup": Row(
        "client.dns.lookup", _words("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")
    ),
    "connection.socket_timeout": Row("socket.timeout.ms", _MS, 10, 300_000),
    "connection.setup_timeout": Row("socket.connection.setup.timeout.ms", _MS, 1000),
    "connection.reconnect_backoff": Row("reconnect.backoff.ms", _MS, 0, 3_600_000),
    "connection.reconnect_backoff_max": Row("reconnect.backoff.max.ms", _MS, 0, 3_600_000),
    "connection.retry_backoff": Row("retry.backoff.ms", _MS, 1, 300_000),
    "connection.metadata_max_age": Row("topic.metadata.refresh.interval.ms", _milliseconds(-1), -1, 3_600_000),
    "connection.max_idle": Row("connections.max.idle.ms", _milliseconds(0), 0),
    "connection.max_response_bytes": Row("receive.message.max.bytes", _NUMBER, 1000),
    "connection.keep_alive": Row("socket.keepalive.enable", _YES_NO),
    "connection.send_buffer_bytes": Row("socket.send.buffer.bytes", _NUMBER, 0, 100_000_000),
    "connection.receive_buffer_bytes": Row("socket.receive.buffer.bytes", _NUMBER, 0, 100_000_000),
    "fetch.max_wait": Row("fetch.wait.max.ms", _MS, 0, 300_000),
    "fetch.min_bytes": Row("fetch.min.bytes", _NUMBER, 0),
    "fetch.max_bytes": Row("fetch.max.bytes", _NUMBER, 0, 2_147_483_135),
    "fetch.partition_bytes": Row("fetch.message.max.bytes", _NUMBER, 1, 1_000_000_000),
    "fetch.backlog_bytes": Row("queued.max.messages.kbytes", _KBYTES, 1, 2_097_151),
    "fetch.committed_only": Row("isolation.level", _ISOLATION),
    "fetch.check_crcs": Row("check.crcs", _YES_NO),
    "fetch.rack": Row("client.rack", _TEXT),
    "membership.group_id": Row("group.id", _TEXT),
    "membership.instance_id": Row("group.instance.id", _TEXT),
    "membership.protocol": Row("group.protocol", _words("classic", "consumer")),
    "membership.assignors": Row("partition.assignment.strategy", _ASSIGNORS),
    "membership.session_timeout": Row("session.timeout.ms", _MS, 1, 3_600_000),
    "membership.heartbeat_interval": Row("heartbeat.interval.ms", _MS, 1, 3_600_000),
    "membership.max_poll_interval": Row("max.poll.interval.ms", _MS, 1, 86_400_000),
    "produce.acks": Row("acks", _ACKS, -1, 1000),
    "produce.idempotent": Row("enable.idempotence", _YES_NO),
    "produce.in_flight": Row("max.in.flight.requests.per.connection", _NUMBER, 1, 1_000_000),
    "produce.max_request_bytes": Row("message.max.bytes", _NUMBER, 1000, 1_000_000_000),
    "produce.batch_records": Row("batch.num.messages", _NUMBER, 1, 1_000_000),
    "produce.batch_bytes": Row("batch.size", _NUMBER, 1),
    "produce.buffer_bytes": Row("queue.buffering.max.kbytes", _KBYTES, 1),
    "produce.linger": Row("linger.ms", _FRACTION_MS, 0, 900_000),
    "produce.request_timeout": Row("request.timeout.ms", _MS, 1, 900_000),
    "produce.delivery_timeout": Row("message.timeout.ms", _milliseconds(0), 0),
    "produce.missing_topic_timeout": Row(
        "topic.metadata.propagation.max.ms", _milliseconds(_MOST_PROPAGATION_MS), 0, 3_600_000
    ),
    "produce.retries": Row("retries", _NUMBER, 0),
    "produce.compression": Row("compression.type", _words("none", "gzip", "snappy", "lz4", "zstd")),
    "produce.compression_level": Row("compression.level", _NUMBER, -1, 12),
    "produce.partitioner": Row("partitioner", _words("murmur2_random", "random")),
}
"""Path -> librdkafka's property. A field that is not here it has not."""
_PATHS = {row.name: path for path, row in ROWS.items()}
_NOT_OF: Mapping[str, tuple[str, ...]] = {"consumer": ("produce.",), "producer": ("fetch.", "membership.")}
_DEFAULTS = dict(fields_of(ConsumerSettings(ConnectionSettings())))
_OTHER_DEFAULTS = {
    "partition.assignment.strategy",
    "socket.timeout.ms",
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "connections.max.idle.ms",
    "receive.message.max.bytes",
    "socket.keepalive.enable",
}
"""Names whose default in librdkafka is not that of the field. Of the others a default is not written: librdkafka
refuses some beside others, such as the times of the classic membership beside `group.protocol=consumer`.
"""
_OF_ALL = {"log.connection.close": "false"}
"""Brokers close idle connections; that is no news."""
_OF_MEMBERS = {"enable.auto.commit": "false", "allow.auto.create.topics": "false"}
_NONE_SUCH = "legacy_mm.none.such"
"""A name that librdkafka refuses behind any other, so that no client is made."""
_BACKOFF_MAX = 1.0
"""The longest pause of librdkafka between two tries, in seconds, where nobody says another."""


def native_path(name: str, side: str) -> str | None:
    """Return the path of the field of this client that a property of librdkafka's sets; None: no field holds it."""
    path = _PATHS.get(name)
    return None if path is None or path.startswith(_NOT_OF[side]) else path


def refusal(name: str, text: str) -> str:
    """Return why librdkafka takes no such property, or not with this text, in its words; empty: it takes it."""
    from confluent_kafka import Consumer, KafkaException  # late: most mirrors never need the library

    try:
        Consumer({"group.id": "g", name: text, _NONE_SUCH: ""})
    except KafkaException as error:
        said = str(error.args[0].str()).strip()
    except (TypeError, ValueError) as error:  # a callback has no text
        said = str(error).strip()
    return "" if _NONE_SUCH in said else said


def property_texts(settings: ConnectionSettings | ConsumerSettings) -> dict[str, str]:
    """Return librdkafka property -> value. They hold credentials: for a client of librdkafka only."""
    own = _OF_ALL | _OF_MEMBERS if isinstance(settings, ConsumerSettings) else _OF_ALL
    texts, values = dict(own), _values(settings)
    further = {**values.pop("connection.further"), **values.pop("consumer.further", {})}
    for path, row, value in _known(values):
        if value != _DEFAULTS[path] or row.name in _OTHER_DEFAULTS:
            texts[row.name] = row.write(value)
    if values["connection.retry_backoff"] > _BACKOFF_MAX:  # before 3.7 the pause was constant
        texts["retry.backoff.max.ms"] = texts["retry.backoff.ms"]
    return texts | further


def nearest_texts(settings: ConsumerSettings) -> Iterator[tuple[str, str]]:
    """Yield path and text of each number that librdkafka does not take as it is, but as this one."""
    given = dict(fields_of(settings))
    for path, row, value in _known(_values(settings)):
        if row.kind.write(given[path]) != (text := row.write(value)):
            yield path, text


def _values(settings: ConnectionSettings | ConsumerSettings) -> dict[str, Any]:
    """Return the fields that a client of librdkafka reads: a member fetches nothing."""
    values = {path: value for path, value in fields_of(settings) if not path.startswith("fetch.")}
    if values.get("membership.protocol") == "consumer":
        del values["membership.assignors"]
    elif isinstance(settings, ConsumerSettings):  # no interval below the session is taken
        longest = max(settings.membership.max_poll_interval, settings.membership.session_timeout)
        values["membership.max_poll_interval"] = longest
    return values


def _known(values: Mapping[str, Any]) -> Iterator[tuple[str, Row, Any]]:
    return ((path, ROWS[path], value) for path, value in values.items() if path in ROWS and value is not None)
