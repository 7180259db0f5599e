"""Types of Java's values, and which security properties are read."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.client_properties.apply import SECURITY_RULES
from legacy_mm.words.java_clients.client_properties.rule import Double, PropertyReading, uses_sasl, uses_tls


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), ("-.5e1", -5.0), ("2.d", 2.0), ("Infinity", float("inf"))])
def test_a_number(text: str, value: float) -> None:
    assert Double().parse("x", text) == value


@pytest.mark.parametrize("text", ["", "inf", "1,5", "0x1p3", "1e"])
def test_no_number(text: str) -> None:
    with pytest.raises(ConfigurationError, match="Not a number of type DOUBLE"):
        Double().parse("x", text)


def test_a_range() -> None:
    assert Double(0.5, 1.0).parse("x", "0.5") == 0.5
    with pytest.raises(ConfigurationError):
        Double(0.5, 1.0).parse("x", "0.4")
    assert (Double().allowed, Double(0.5, 1.0).allowed) == ("a number", "a number from 0.5 to 1.0")


@pytest.mark.parametrize(
    ("protocol", "encrypted", "logs_in"),
    [
        (None, False, False),
        ("plaintext", False, False),
        ("ssl", True, False),
        ("sasl_plaintext", False, True),
        ("sasl_ssl", True, True),
    ],
)
def test_the_protocol_says_what_is_read(protocol: str | None, encrypted: bool, logs_in: bool) -> None:
    reading = PropertyReading("consumer", {} if protocol is None else {"security.protocol": protocol})
    assert (uses_tls(reading), uses_sasl(reading)) == (encrypted, logs_in)
    applied = {row.applies for row in SECURITY_RULES if row.applies(reading)}
    assert applied == ({uses_tls} if encrypted else set()) | ({uses_sasl} if logs_in else set())
