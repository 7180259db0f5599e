"""librdkafka's security properties as Python's: what is understood, and one sentence about what is not."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.clients.net.connection_security import Security, unsupported
from tests.fixtures import client_settings

SASL = {"security.protocol": "sasl_ssl"}


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({}, None),
        ({"security.protocol": "SSL"}, None),
        ({**SASL, "sasl.mechanism": "PLAIN"}, None),
        ({**SASL, "sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true"}, None),
        ({**SASL, "sasl.mechanism": "OAUTHBEARER", "oauth.msk_iam": '{"region": "eu-west-1"}'}, None),
        ({**SASL, "sasl.mechanism": "CRAM"}, "sasl.mechanism=CRAM is unknown; possible are PLAIN"),
        ({**SASL, "sasl.mechanism": "OAUTHBEARER"}, "sasl.mechanism=OAUTHBEARER without a way to get a token"),
        ({"security.protocol": "ssl", "ssl.cipher.suites": "TLS_RSA_WITH_AES_128_CBC_SHA:no-such"}, None),
        ({"security.protocol": "ssl", "ssl.cipher.suites": "no-such"}, "ssl.cipher.suites names none"),
        ({"ssl.cipher.suites": "no-such"}, None),
    ],
)
def test_what_the_wire_can_do(properties: dict[str, str], said: str | None) -> None:
    found = unsupported(client_settings.read_connection(properties))
    assert found is None if said is None else (found or "").startswith(said)
    if said is not None:
        with pytest.raises(ConfigurationError, match=said):
            Security(client_settings.read_connection(properties))
