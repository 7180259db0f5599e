"""One properties file of a Java client becomes the fields of its settings: the only function that applies the rows.

Names without a row are never passed on: many are live in librdkafka and dead in Java for years. Native tuning is
written `librdkafka.<name>` (`native.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from legacy_mm.base.errors import ConfigurationError, LegacyMMError
from legacy_mm.base.kafka_clients import (
    ConnectionSettings,
    ConsumerSettings,
    FieldValues,
    ProducerSettings,
    connection_of,
    consumer_of,
    producer_of,
    secret_texts,
)
from legacy_mm.base.redaction import Secrets, known_secrets
from legacy_mm.base.settings import JavaStores, PemFiles
from legacy_mm.clients.librdkafka.property_texts import nearest_texts
from legacy_mm.features.rows import is_flag
from legacy_mm.policies.logins import librdkafka_keeps_membership
from legacy_mm.words.java_clients import config_providers
from legacy_mm.words.java_clients.client_properties import consumer, native, producer, sasl, tls
from legacy_mm.words.java_clients.client_properties.known_logins import TOKEN_STORE
from legacy_mm.words.java_clients.client_properties.native import NATIVE_PREFIX, NativeProperties
from legacy_mm.words.java_clients.client_properties.rule import (
    Computed,
    Forgotten,
    PropertyReading,
    Rule,
    Rules,
    SecretText,
    Side,
    Value,
    canonical,
    is_taken_as,
    trim,
    uses_tls,
)
from legacy_mm.words.java_clients.config_providers import KeptReference
from legacy_mm.words.java_clients.properties_file import PropertiesFile
from legacy_mm.words.options import unbuilt

SECURITY_RULES: Rules = (*tls.RULES, *sasl.RULES)
CONSUMER_RULES: Rules = (*consumer.RULES, *SECURITY_RULES)
PRODUCER_RULES: Rules = (*producer.RULES, *SECURITY_RULES)
RULES: Mapping[Side, Rules] = {"consumer": CONSUMER_RULES, "producer": PRODUCER_RULES}
_OF_CONNECTION = ("socket.", "client.", "reconnect.", "broker.", "api.version.", "log.")
"""Beginnings of librdkafka's names that configure a connection, whatever the client does with it."""
_FURTHER = "further."

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

    values: FieldValues = field(repr=False)
    """Path of a field -> value; a missing one has its default. May hold secrets: never printed."""
    reading: PropertyReading = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    """Values that no line may show."""
    rows: Mapping[str, Rule]
    """Path -> the row that set it; a missing one is a default or was given natively."""
    native: NativeProperties
    stores: JavaStores = JavaStores()
    """Key stores that only Java can read; they become fields when it runs."""
    pem: PemFiles = PemFiles()
    kept: tuple[KeptReference, ...] = ()
    """References that nobody looks up."""

    @property
    def connection(self) -> ConnectionSettings:
        """The way to the cluster."""
        return connection_of(self.values)

    @property
    def consumer(self) -> ConsumerSettings:
        """The settings of a consumer."""
        return consumer_of(self.values)

    @property
    def producer(self) -> ProducerSettings:
        """The settings of a producer."""
        return producer_of(self.values)

    def named_in(self, file: PropertiesFile) -> Translated:
        """Return the same, whose stores know the lines of the file that name them."""
        return replace(self, stores=tls.placed(self.stores, file))

    def java_properties(self) -> dict[str, str]:
        """Return the Java properties that were translated, those that nobody knows left out; may hold secrets."""
        return {name: canonical(value) for name, value in self.reading.values.items()} | self.native.texts


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
    """Read every known name, let its row speak, and then what is tuned natively.

    `hide` takes what was looked up, before an error can quote it.
    """
    rules = RULES[side]
    resolved = config_providers.resolve(properties)
    hide(resolved.secrets)
    trimmed = {name: trim(text) for name, text in resolved.properties.items()}
    values = {rule.name: _parsed(rule, trimmed[rule.name]) for rule in rules if rule.name in trimmed}
    reading = PropertyReading(side, values, streams, literal, ignore_interceptors, class_path, system or {})
    emitted: dict[str, Any] = {}
    rows: dict[str, Rule] = {}
    for rule in rules:
        meaning = rule.meaning
        is_wanted = rule.name in values or (isinstance(meaning, Computed) and meaning.always)
        if is_wanted and rule.applies(reading):
            made = _emitted(rule, reading)
            emitted |= made
            rows |= dict.fromkeys(made, rule)
    _note_unknown(reading, rules, trimmed)
    tuned = native.read(side, trimmed)
    for name in native.without_effect(side, tuned):
        reading.note(f"{name} has no effect: no librdkafka sends the records.", logging.WARNING)
    stores, pem = _stores(reading, emitted, tuned)
    chosen = {**emitted, **tuned.values}
    if side == "consumer":
        chosen |= _further(chosen, tuned.further)
    chosen = {path: value for path, value in chosen.items() if not path.startswith((_FURTHER, TOKEN_STORE))}
    if side == "consumer":
        _note_nearest(reading, consumer_of(chosen), tuned=bool(tuned.further))
    secrets = (*_secrets(rules, trimmed, chosen), *sorted(map(trim, resolved.secrets)))
    return Translated(chosen, reading, secrets, rows, tuned, stores, pem, resolved.kept)


def _further(values: FieldValues, tuned: Mapping[str, str]) -> FieldValues:
    """Return the properties that only librdkafka reads, as fields of the connection and of the consumer."""
    java = {path.removeprefix(_FURTHER): text for path, text in values.items() if path.startswith(_FURTHER)}
    every = {**java, **tuned}
    ways = {name: text for name, text in every.items() if name.startswith(_OF_CONNECTION)}
    return {
        "connection.further": ways,
        "consumer.further": {name: text for name, text in every.items() if name not in ways},
    }


def _stores(reading: PropertyReading, emitted: FieldValues, tuned: NativeProperties) -> tuple[JavaStores, PemFiles]:
    stores, pem = JavaStores(), PemFiles()
    if uses_tls(reading):
        stores, pem = tls.java_stores(reading), tls.pem_files(reading, tuned.values)
    asks_for_tokens = (emitted.get("oauth.token_url") or "").startswith("https:")
    known = {*tuned.values, *emitted}
    stores = replace(
        stores,
        java_trust=stores.java_trust and not any(path.startswith("tls.ca_") for path in tuned.values),
        token_service=asks_for_tokens and not any(path.startswith("oauth.ca_") for path in known),
        token_trusted=emitted.get(TOKEN_STORE),
    )
    return stores, pem


def _parsed(rule: Rule, text: str) -> Value:
    try:
        return rule.type.parse(rule.name, text)
    except ConfigurationError as error:
        error.property_name, error.allowed = rule.name, rule.type.allowed
        raise


def _emitted(rule: Rule, reading: PropertyReading) -> FieldValues:
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
    try:
        rule.meaning.emit(reading.without(without), rule.name)
    except (ConfigurationError, KeyError):
        return True
    return False


def _note_unknown(reading: PropertyReading, rules: Rules, properties: Mapping[str, str]) -> None:
    known = {rule.name for rule in rules if not isinstance(rule.meaning, Forgotten)}
    unknown = [
        name for name in properties if name not in known and not name.startswith(NATIVE_PREFIX) and not is_flag(name)
    ]
    unbuilt_names = set(filter(unbuilt.is_unbuilt, unknown))
    # 3.9 says it at INFO; whoever wrote a feature's name expects it to act, and is warned
    for names, level in ((unbuilt_names, logging.WARNING), (set(unknown) - unbuilt_names, logging.INFO)):
        if names:
            listed = ", ".join(sorted(names))
            reading.note(f"These configurations '[{listed}]' were supplied but are not used yet.", level)


def _note_nearest(reading: PropertyReading, client: ConsumerSettings, *, tuned: bool) -> None:
    """Say which numbers are other ones in a membership that librdkafka keeps."""
    if librdkafka_keeps_membership(client, tuned=tuned):
        nearest = dict(nearest_texts(client))
        for rule in RULES[reading.side]:
            if rule.shown is not None and rule.shown.path in nearest and reading.given(rule.name):
                reading.note(is_taken_as(rule.name, reading.values[rule.name], nearest[rule.shown.path]))


def _secrets(rules: Rules, properties: Mapping[str, str], chosen: FieldValues) -> tuple[str, ...]:
    secret_names = {rule.name for rule in rules if isinstance(rule.type, SecretText)}
    found = {text for name, text in properties.items() if name in secret_names}
    return tuple(sorted({*found, *known_secrets(properties), *secret_texts(chosen)} - {""}))
