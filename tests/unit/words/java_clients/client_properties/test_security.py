"""Which security properties are read: those of the protocol."""

from __future__ import annotations

import pytest

from legacy_mm.words.java_clients.client_properties.rule import PropertyReading
from legacy_mm.words.java_clients.client_properties.security import RULES, uses_sasl, uses_tls


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
    applied = {row.applies for row in RULES if row.applies(reading)}
    assert applied == ({uses_tls} if encrypted else set()) | ({uses_sasl} if logs_in else set())
