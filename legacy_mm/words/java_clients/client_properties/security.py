"""Security properties of both clients. A property counts only where `security.protocol` uses it, in Java as here."""

from __future__ import annotations

from dataclasses import replace

from legacy_mm.words.java_clients.client_properties import sasl, tls
from legacy_mm.words.java_clients.client_properties.rule import PropertyReading, Rules


def uses_tls(reading: PropertyReading) -> bool:
    """Return True if the connection is encrypted."""
    return reading.text("security.protocol", "plaintext") in ("ssl", "sasl_ssl")


def uses_sasl(reading: PropertyReading) -> bool:
    """Return True if the client logs in."""
    return reading.text("security.protocol", "plaintext") in ("sasl_plaintext", "sasl_ssl")


RULES: Rules = (
    *(replace(row, applies=uses_tls) for row in tls.RULES),
    *(replace(row, applies=uses_sasl) for row in sasl.RULES),
)
"""Rows of every security property both clients share."""
