"""SASL properties (config-map 2.2): the login module of `sasl.jaas.config`, one row for each mechanism.

Java code that would log in is refused by name, unless it is known what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from legacy_mm.base.errors import ConfigurationError, blamed
from legacy_mm.base.kafka_clients import KERBEROS, FieldValues
from legacy_mm.base.secret import Secret
from legacy_mm.words.java_clients import jaas
from legacy_mm.words.java_clients.client_properties import bearer, kerberos
from legacy_mm.words.java_clients.client_properties.rule import (
    ClientField,
    Computed,
    Double,
    Forgotten,
    Harmless,
    Number,
    PartOf,
    PropertyReading,
    RefusedProperty,
    Rule,
    Rules,
    SecretText,
    Text,
    rules_where,
    uses_sasl,
)

_MODULES = "org.apache.kafka.common.security."
_ONLY_OAUTH = "a token is renewed when four fifths of its life are over"


class _Mechanism(NamedTuple):
    """A login that this client can do."""

    modules: tuple[str, ...]
    """Login modules that give what it needs; the first is its own."""
    emit: Callable[[PropertyReading, Mapping[str, str]], FieldValues]


def _password(reading: PropertyReading, options: Mapping[str, str]) -> FieldValues:
    if not options.get("username") or "password" not in options:
        raise ConfigurationError("sasl.jaas.config must have the options username and password")
    return {
        "sasl.mechanism": reading.text("sasl.mechanism"),
        "sasl.username": options["username"],
        "sasl.password": Secret(options["password"]),
    }


def _scram(reading: PropertyReading, options: Mapping[str, str]) -> FieldValues:
    token = options.get("tokenauth", "false").lower() == "true"
    return {**_password(reading, options), "sasl.delegation_token": token}


_SCRAM_MODULE = _MODULES + "scram.ScramLoginModule"
_SCRAM = _Mechanism((_SCRAM_MODULE,), _scram)
_MECHANISMS: Mapping[str, _Mechanism] = {
    "PLAIN": _Mechanism((_MODULES + "plain.PlainLoginModule", _SCRAM_MODULE), _password),
    "SCRAM-SHA-256": _SCRAM,
    "SCRAM-SHA-512": _SCRAM,
    "OAUTHBEARER": _Mechanism((_MODULES + "oauthbearer.OAuthBearerLoginModule",), bearer.bearer),
    KERBEROS: _Mechanism((kerberos.MODULE,), kerberos.kerberos),
    "AWS_MSK_IAM": _Mechanism(("software.amazon.msk.auth.iam.IAMLoginModule",), bearer.msk_iam),
}


def _login(reading: PropertyReading) -> FieldValues:
    name = reading.text("sasl.mechanism", KERBEROS)
    mechanism = _MECHANISMS.get(name)
    if mechanism is None:
        raise ConfigurationError(f"sasl.mechanism {name} is not supported yet; possible are {', '.join(_MECHANISMS)}")
    with blamed(jaas.LOGIN):
        if not reading.text(jaas.LOGIN):
            raise ConfigurationError(jaas.no_entry(None))
        module = jaas.parse(reading.text(jaas.LOGIN))
        if module.name in mechanism.modules:
            return mechanism.emit(reading, module.options)
    with blamed(jaas.LOGIN if reading.given("sasl.mechanism") else "sasl.mechanism"):
        raise ConfigurationError(
            f"sasl.jaas.config: a login module other than {mechanism.modules[0]} is not supported with "
            f"sasl.mechanism {name}"
        )


def _login_class(reading: PropertyReading) -> FieldValues:
    """Read with the mechanism; Java code is possible for tokens only."""
    handler, mechanism = reading.text("sasl.login.callback.handler.class"), reading.text("sasl.mechanism", KERBEROS)
    if mechanism != "OAUTHBEARER" and handler not in bearer.LOGIN_HANDLERS:
        raise ConfigurationError(f"sasl.login.callback.handler.class={handler} is not supported: it is Java code")
    return {}


RULES: Rules = rules_where(
    uses_sasl,
    Rule(
        "sasl.mechanism",
        Text(),
        Computed(_login, always=True),
        reason="with what sasl.jaas.config says",
        field=ClientField("sasl.mechanism"),
    ),
    Rule(jaas.LOGIN, SecretText(), PartOf("sasl.mechanism")),
    Rule(
        "sasl.client.callback.handler.class",
        Text(),
        RefusedProperty("it is Java code", ("", bearer.MSK_CLIENT_HANDLER, bearer.CLIENT_HANDLER)),
    ),
    Rule(
        "sasl.login.callback.handler.class",
        Text(),
        Computed(_login_class),
        reason="for tokens only: Kafka's, Strimzi's and Confluent's classes, and any other in a jar",
    ),
    Rule("sasl.login.class", Text(), RefusedProperty("it is Java code", ("",))),
    Rule("sasl.enabled.mechanisms", Text(), Forgotten()),
    Rule("sasl.kerberos.principal.to.local.rules", Text(), Forgotten()),
    *(
        Rule(f"sasl.login.{name}", kind, Harmless(_ONLY_OAUTH))
        for name, kind in (
            ("connect.timeout.ms", Number()),
            ("read.timeout.ms", Number()),
            ("refresh.buffer.seconds", Number(0, 3600, short=True)),
            ("refresh.min.period.seconds", Number(0, 900, short=True)),
            ("refresh.window.factor", Double(0.5, 1.0)),
            ("refresh.window.jitter", Double(0.0, 0.25)),
            ("retry.backoff.max.ms", Number(long=True)),
            ("retry.backoff.ms", Number(long=True)),
        )
    ),
    *bearer.RULES,
    *kerberos.RULES,
)
"""Rows of SASL, wherever the protocol uses it."""
