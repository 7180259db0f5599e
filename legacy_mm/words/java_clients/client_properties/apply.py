"""One properties file of a Java client becomes librdkafka's: the only function that applies the
rows.

Names without a row are never passed on: many are live in librdkafka and dead in Java for years.
Native tuning is written `librdkafka.<name>`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from legacy_mm.base import property_names
from legacy_mm.base.errors import ConfigurationError, LegacyMMError, blamed
from legacy_mm.base.property_names import TOKEN_STORE
from legacy_mm.base.redaction import Secrets, known_secrets
from legacy_mm.base.settings import JavaStores, KeyStore, PemFiles
from legacy_mm.features.rows import is_flag
from legacy_mm.words.java_clients import config_providers
from legacy_mm.words.java_clients.client_properties import consumer, producer, security, tls
from legacy_mm.words.java_clients.client_properties.bearer import TOKEN_URL
from legacy_mm.words.java_clients.client_properties.rule import (
    Computed,
    Emitted,
    Forgotten,
    Ours,
    PropertyReading,
    Rule,
    Rules,
    SecretText,
    Side,
    Value,
    trim,
)
from legacy_mm.words.java_clients.config_providers import KeptReference
from legacy_mm.words.java_clients.properties_file import PropertiesFile
from legacy_mm.words.options import meant

NATIVE_PREFIX = "librdkafka."
CONSUMER_RULES: Rules = (*consumer.RULES, *security.RULES)
PRODUCER_RULES: Rules = (*producer.RULES, *security.RULES)
RULES: Mapping[Side, Rules] = {"consumer": CONSUMER_RULES, "producer": PRODUCER_RULES}
_DEFAULTS: Mapping[Side, Emitted] = {"consumer": consumer.DEFAULTS, "producer": producer.DEFAULTS}
OURS: Mapping[Side, Mapping[str, Ours]] = {"consumer": consumer.OURS, "producer": producer.OURS}
_COMMITS = "offsets are committed by the mirror, after their records are safe"
_NATIVE_REFUSED = {
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
"""Beginnings of names that are refused where the connection is made, if we do not know them."""
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

Hide = Callable[[Iterable[str]], None]
"""Takes secrets as soon as they are known: no later line shows them."""


@contextmanager
def hidden_in_errors() -> Iterator[Hide]:
    """Yield a function that takes secrets; an error that is raised inside does not quote them."""
    secrets = Secrets()
    try:
        yield secrets.add
    except LegacyMMError as error:
        error.args = tuple(secrets.hidden(str(each)) for each in error.args)
        error.plain = secrets.hidden(error.plain)
        error.__notes__ = [secrets.hidden(each) for each in getattr(error, "__notes__", ())]
        raise


@dataclass(frozen=True, slots=True)
class Translated:
    """The outcome for one file."""

    properties: Mapping[str, str] = field(repr=False)
    """librdkafka property -> value. May hold secrets: never printed, never given to Spark."""
    reading: PropertyReading = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    """Values that no line may show."""
    rows: Mapping[str, Rule]
    """librdkafka property -> the row that set it; a missing one is a default or was given natively."""
    native: Mapping[str, str]
    """Properties that were given as `librdkafka.<name>`, and that name: it may be an alias."""
    stores: JavaStores = JavaStores()
    """Key stores that only Java can read; they become properties when it runs."""
    pem: PemFiles = PemFiles()
    kept: tuple[KeptReference, ...] = ()
    """References that nobody looks up."""

    def named_in(self, file: PropertiesFile) -> Translated:
        """Return the same, whose stores know the lines of the file that name them."""
        return replace(self, stores=tls.placed(self.stores, file))

    def java_properties(self) -> dict[str, str]:
        """Return the Java properties that were translated, those that nobody knows left out; may hold secrets."""
        known = {name: _text(value) for name, value in self.reading.values.items()}
        return known | {given: self.properties[name] for name, given in self.native.items()}


def apply(
    side: Side,
    properties: Mapping[str, str],
    *,
    streams: int = 1,
    literal: bool = False,
    ignore_interceptors: bool = False,
    system: Mapping[str, str] | None = None,
    class_path: Sequence[str] = (),
    hide: Hide = lambda secrets: None,
) -> Translated:
    """Read every known name, let its row speak, fill in what the file leaves out.

    `hide` takes what was looked up, before an error can quote it.
    """
    rules = RULES[side]
    resolved = config_providers.resolve(properties)
    hide(resolved.secrets)
    trimmed = {name: trim(text) for name, text in resolved.properties.items()}
    written = {_native_name(name): name for name in trimmed if name.startswith(NATIVE_PREFIX)}
    native = {name: trimmed[given] for name, given in written.items()}
    values = {rule.name: _parsed(rule, trimmed[rule.name]) for rule in rules if rule.name in trimmed}
    reading = PropertyReading(side, values, streams, literal, ignore_interceptors, class_path, system or {})
    emitted: dict[str, str] = {}
    rows: dict[str, Rule] = {}
    for rule in rules:
        meaning = rule.meaning
        asked = rule.name in values or (isinstance(meaning, Computed) and meaning.always)
        if asked and rule.applies(reading):
            made = _emitted(rule, reading)
            emitted |= made
            rows |= dict.fromkeys(made, rule)
    _note_unknown(reading, rules, trimmed)
    _check_native(side, written, native)
    _note_unread(reading, written)
    token_store = emitted.pop(TOKEN_STORE, None)
    ours = {name: preset.value for name, preset in OURS[side].items()}
    chosen = {**_DEFAULTS[side], **ours, **emitted, **native}
    if "group.protocol" in chosen and chosen["group.protocol"] == "consumer":
        chosen.pop("partition.assignment.strategy", None)
    secrets = (*_secrets(rules, trimmed, chosen), *sorted(map(trim, resolved.secrets)))
    pem = tls.pem_files(reading, native) if security.uses_tls(reading) else PemFiles()
    stores = _stores(reading, emitted, native, None if token_store is None else KeyStore(**json.loads(token_store)))
    return Translated(chosen, reading, secrets, rows, written, stores, pem, resolved.kept)


def _stores(
    reading: PropertyReading, emitted: Emitted, native: Mapping[str, str], token_store: KeyStore | None
) -> JavaStores:
    stores = tls.java_stores(reading) if security.uses_tls(reading) else JavaStores()
    asks_for_tokens = emitted.get(TOKEN_URL, "").startswith("https:")
    return replace(
        stores,
        java_trust=stores.java_trust and not any(name.startswith("ssl.ca.") for name in native),
        token_service=asks_for_tokens and not any(name.startswith("https.ca.") for name in (*native, *emitted)),
        token_trusted=token_store,
    )


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _native_name(name: str) -> str:
    bare = name.removeprefix(NATIVE_PREFIX)
    return _ALIASES.get(bare, bare)


def _parsed(rule: Rule, text: str) -> Value:
    try:
        return rule.type.parse(rule.name, text)
    except ConfigurationError as error:
        error.property_name, error.allowed = rule.name, rule.type.allowed
        raise


def _emitted(rule: Rule, reading: PropertyReading) -> Emitted:
    try:
        return rule.meaning.emit(reading, rule.name)
    except ConfigurationError as error:
        if not error.property_name:
            error.property_name, *others = _decisive(rule, reading) or [rule.name]
            error.beside = tuple(others)
        raise


def _decisive(rule: Rule, reading: PropertyReading) -> list[str]:
    """Return the given properties without any one of which the rule would not fail; the row's own last."""
    found = [name for name in reading.values if not _fails(rule, reading, without=name)]
    return sorted(found, key=lambda name: name == rule.name)


def _fails(rule: Rule, reading: PropertyReading, without: str) -> bool:
    values = {name: value for name, value in reading.values.items() if name != without}
    try:
        rule.meaning.emit(replace(reading, values=values, notes=[]), rule.name)
    except (ConfigurationError, KeyError):
        return True
    return False


def _note_unknown(reading: PropertyReading, rules: Rules, properties: Mapping[str, str]) -> None:
    known = {rule.name for rule in rules if not isinstance(rule.meaning, Forgotten)}
    unknown = [
        name for name in properties if name not in known and not name.startswith(NATIVE_PREFIX) and not is_flag(name)
    ]
    unbuilt_names = set(filter(meant.is_unbuilt, unknown))
    # 3.9 says it at INFO; whoever wrote a feature's name expects it to act, and is warned
    for names, level in ((unbuilt_names, logging.WARNING), (set(unknown) - unbuilt_names, logging.INFO)):
        if names:
            listed = ", ".join(sorted(names))
            reading.note(f"These configurations '[{listed}]' were supplied but are not used yet.", level)


def _check_native(side: Side, written: Mapping[str, str], native: Mapping[str, str]) -> None:
    for name, given in written.items():
        with blamed(given):
            if name in _NATIVE_REFUSED:
                raise ConfigurationError(f"{NATIVE_PREFIX}{name} is not possible, because {_NATIVE_REFUSED[name]}")
            if property_names.is_unknown_to_librdkafka(name):
                raise ConfigurationError(f"{given} is not possible, because librdkafka has no such property")
            if allowed := property_names.obstacle(name, native[name]):
                error = ConfigurationError(f"{given}={native[name]} is not possible: it must be {allowed}")
                error.allowed = allowed
                raise error
            if side == "consumer" and not property_names.is_field(name) and not name.startswith(_OF_SECURITY):
                _require_librdkafka(name, native[name], given)


def _require_librdkafka(name: str, text: str, given: str) -> None:
    """Raise ConfigurationError for a property that librdkafka would refuse once a stream joins its group."""
    from legacy_mm.clients.librdkafka.property_refusal import refusal

    if why := refusal(name, text):
        raise ConfigurationError(f"{given}={text} is not possible: librdkafka says: {why}")


def _note_unread(reading: PropertyReading, written: Mapping[str, str]) -> None:
    """Say which native names nobody reads: a producer has no librdkafka that could know more of them than we do."""
    if reading.side == "consumer":
        return
    for name, given in written.items():
        if not property_names.is_read_by_producers(name) and not name.startswith(_OF_SECURITY):
            reading.note(f"{given} has no effect: no librdkafka sends the records.", logging.WARNING)


def _secrets(rules: Rules, properties: Mapping[str, str], chosen: Mapping[str, str]) -> tuple[str, ...]:
    secret_names = {rule.name for rule in rules if isinstance(rule.type, SecretText)}
    found = {text for name, text in properties.items() if name in secret_names}
    return tuple(sorted({*found, *known_secrets(properties), *known_secrets(chosen)} - {""}))
