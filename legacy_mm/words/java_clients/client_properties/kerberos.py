"""Kerberos: options of Java's Krb5LoginModule become what our own login reads (`clients/net/gssapi_login.py`)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from legacy_mm.base.errors import ConfigurationError, blamed
from legacy_mm.base.kafka_clients import KERBEROS, FieldValues
from legacy_mm.words.java_clients.client_properties.rule import (
    ClientField,
    Double,
    Harmless,
    Number,
    PartOf,
    PropertyReading,
    Rule,
    Rules,
    Text,
)

MODULE = "com.sun.security.auth.module.Krb5LoginModule"
REALMS = "java.security.krb5.conf"
"""The system property that names a krb5.conf."""
_SERVICE = "sasl.kerberos.service.name"
_RENEWED = "libkrb5 gets a new ticket when one is needed"
_FILE = re.compile(r"^(?:file|FILE):(?://(?=/))?")


def kerberos(reading: PropertyReading, options: Mapping[str, str]) -> FieldValues:
    """Log in with GSSAPI by a keytab, or by the tickets of a cache. If both are named, the keytab is used."""
    keytab, cache = (options.get(name, "").lower() == "true" for name in ("useKeyTab", "useTicketCache"))
    if not keytab and not cache:
        raise ConfigurationError(
            "sasl.jaas.config must have useKeyTab=true or useTicketCache=true: nobody is there to type a password"
        )
    if keytab and not (options.get("keyTab") and options.get("principal")):
        raise ConfigurationError("sasl.jaas.config with useKeyTab=true must have the options keyTab and principal")
    with blamed(_SERVICE):
        service = _service(reading.text(_SERVICE), options.get("serviceName", ""))
    return {
        "sasl.mechanism": KERBEROS,
        "kerberos.service": service,
        "kerberos.principal": options.get("principal") or None,
        "kerberos.keytab": _path(options.get("keyTab", "")) or None if keytab else None,
        "kerberos.ticket_cache": None if keytab else _path(options.get("ticketCache", "")) or None,
    }


def with_realms(values: FieldValues, path: str | None) -> FieldValues:
    """Return a client's fields with the krb5.conf that Java was given."""
    if path is None or values.get("sasl.mechanism") != KERBEROS:
        return values
    return {**values, "kerberos.realms": path}


def _service(configured: str, in_login: str) -> str:
    if configured and in_login and configured != in_login:
        raise ConfigurationError(
            "java.lang.IllegalArgumentException: Conflicting serviceName values found in JAAS and Kafka configs value "
            f"in JAAS file {in_login}, value in Kafka config {configured}"
        )
    if not configured and not in_login:
        raise ConfigurationError(
            "java.lang.IllegalArgumentException: No serviceName defined in either JAAS or Kafka config"
        )
    return configured or in_login


def _path(written: str) -> str:
    return _FILE.sub("", written)


RULES: Rules = (
    Rule(_SERVICE, Text(), PartOf("sasl.mechanism"), field=ClientField("kerberos.service")),
    *(
        Rule(f"sasl.kerberos.{name}", kind, Harmless(_RENEWED))
        for name, kind in (
            ("kinit.cmd", Text()),
            ("min.time.before.relogin", Number(long=True)),
            ("ticket.renew.jitter", Double()),
            ("ticket.renew.window.factor", Double()),
        )
    ),
)
"""Rows that only logins with a ticket read."""
