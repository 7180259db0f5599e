"""Native tuning: `librdkafka.<name>` in a properties file sets the field of that name, or is for a membership that
librdkafka keeps, or is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from legacy_mm.base.errors import ConfigurationError, blamed
from legacy_mm.clients.librdkafka.property_texts import ROWS, native_path, refusal
from legacy_mm.words.java_clients.client_properties.rule import Side

NATIVE_PREFIX = "librdkafka."
_COMMITS = "offsets are committed by the mirror, after their records are safe"
_REFUSED = {
    "auto.commit.enable": _COMMITS,
    "enable.auto.commit": _COMMITS,
    "enable.auto.offset.store": _COMMITS,
    "auto.offset.reset": "positions are chosen by the mirror",
    "group.id": "it is the property group.id",
    "group.instance.id": "it is the property group.instance.id",
    "client.id": "it is the property client.id",
    "bootstrap.servers": "it is the property bootstrap.servers",
    "transactional.id": "no transaction would ever begin",
    "enable.idempotence": "it is the property enable.idempotence, which keeps the order",
    "delivery.report.only.error": "the mirror counts what is delivered",
    "plugin.library.paths": "foreign code could change records",
}
_OF_SECURITY = ("ssl.", "sasl.", "https.", "enable.ssl", "enable.sasl", "security.")
"""Beginnings of names that decide whom a client trusts, and who it is: none of them is left out in silence."""
_ALIASES = {
    "metadata.broker.list": "bootstrap.servers",
    "max.in.flight": "max.in.flight.requests.per.connection",
    "request.required.acks": "acks",
    "delivery.timeout.ms": "message.timeout.ms",
    "compression.codec": "compression.type",
    "queue.buffering.max.ms": "linger.ms",
    "message.send.max.retries": "retries",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "sasl.mechanisms": "sasl.mechanism",
}
"""Second names in librdkafka: of two names for one property in a dict, the later silently wins."""


@dataclass(frozen=True, slots=True)
class NativeProperties:
    """The native properties of one file."""

    values: dict[str, Any] = field(default_factory=dict, repr=False)
    """Path of a field -> value."""
    further: dict[str, str] = field(default_factory=dict, repr=False)
    """Properties that no field holds, by librdkafka's names: its membership alone reads them."""
    given: dict[str, str] = field(default_factory=dict)
    """Path, or librdkafka's name -> the name in the file."""
    texts: dict[str, str] = field(default_factory=dict, repr=False)
    """The name in the file -> text."""


def read(side: Side, properties: Mapping[str, str]) -> NativeProperties:
    """Read the native properties among these; raises ConfigurationError for what no client could follow."""
    found = NativeProperties()
    for given, text in properties.items():
        if given.startswith(NATIVE_PREFIX):
            bare = given.removeprefix(NATIVE_PREFIX)
            name = _ALIASES.get(bare, bare)
            with blamed(given):
                if name in _REFUSED:
                    raise ConfigurationError(f"{NATIVE_PREFIX}{name} is not possible, because {_REFUSED[name]}")
                path = native_path(name, side)
                if path is not None:
                    found.values[path] = _value(path, given, text)
                elif name.startswith(_OF_SECURITY):
                    raise ConfigurationError(_unknown_security(given))
                elif side == "consumer":
                    if why := refusal(name, text):  # else it would be refused once a stream joins its group
                        raise ConfigurationError(f"{given}={text} is not possible: librdkafka says: {why}")
                    found.further[name] = text
                found.given[path or name] = given
                found.texts[given] = text
    return found


def without_effect(side: Side, native: NativeProperties) -> list[str]:
    """Return the names that nobody reads: a producer has no librdkafka that could know more of them than we do."""
    return [given for name, given in native.given.items() if side == "producer" and name not in native.values]


def _value(path: str, given: str, text: str) -> Any:
    row = ROWS[path]
    try:
        return row.read(text)
    except (ValueError, KeyError):
        error = ConfigurationError(f"{given}={text} is not possible: it must be {row.allowed}")
        error.allowed = row.allowed
        raise error from None


def _unknown_security(given: str) -> str:
    if "sasl" in given:
        return f"{given} is not possible: the mirror logs in by itself and has no such property; leave it out"
    return (
        f"{given} is not known to Python's ssl, which copies; leave it out. Java's ssl.keystore.location is read, and "
        "what OpenSSL can do is set in the file that OPENSSL_CONF names"
    )
