"""librdkafka's security properties as Python's: what is understood, and one sentence about what is not."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from legacy_mm.errors import ConfigurationError
from legacy_mm.wire import tls
from legacy_mm.wire.security import Security, unsupported

SASL = {"security.protocol": "sasl_ssl"}


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({}, None),
        ({"security.protocol": "SSL"}, None),
        ({**SASL, "sasl.mechanism": "PLAIN"}, None),
        ({**SASL, "sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true"}, None),
        ({**SASL, "sasl.mechanism": "OAUTHBEARER", "sasl.legacy_mm.msk.iam": "{}"}, None),
        ({"security.protocol": "quic"}, "security.protocol=quic is unknown"),
        ({**SASL, "sasl.mechanism": "CRAM"}, "sasl.mechanism=CRAM is unknown; possible are PLAIN"),
        ({**SASL, "sasl.mechanism": "OAUTHBEARER"}, "sasl.mechanism=OAUTHBEARER without a way to get a token"),
        (
            {"security.protocol": "ssl", "ssl.keystore.location": "a.p12"},
            "ssl.keystore.location is known to librdkafka",
        ),
        ({"ssl.keystore.location": "a.p12"}, None),
    ],
)
def test_what_the_wire_can_do(properties: dict[str, str], said: str | None) -> None:
    found = unsupported(properties)
    assert found is None if said is None else (found or "").startswith(said)
    if said is not None:
        with pytest.raises(ConfigurationError, match=said):
            Security(properties)


@pytest.mark.parametrize("checked", [True, False])
def test_who_is_believed(checked: bool) -> None:
    made = tls.context({} if checked else {"enable.ssl.certificate.verification": "false"})
    assert made.check_hostname is checked
    assert made.verify_mode is (ssl.CERT_REQUIRED if checked else ssl.CERT_NONE)
    assert made.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_name_need_not_fit_where_the_file_says_so() -> None:
    made = tls.context({"ssl.endpoint.identification.algorithm": "none"})
    assert (made.check_hostname, made.verify_mode) == (False, ssl.CERT_REQUIRED)


@pytest.mark.parametrize(
    "properties",
    [
        {"ssl.ca.pem": "-----BEGIN CERTIFICATE-----\nhush\n-----END CERTIFICATE-----\n"},
        {"ssl.ca.location": "/nowhere.pem"},
        {"ssl.certificate.pem": "hush", "ssl.key.pem": "hush", "ssl.key.password": "hush"},
        {"ssl.cipher.suites": "hush"},
        {"ssl.crl.location": "/nowhere.crl"},
    ],
)
def test_what_cannot_be_read_is_named_and_not_shown(
    properties: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(properties))) as caught:
        tls.context(properties)
    assert "hush" not in str(caught.value)


def test_a_key_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ConfigurationError):
        tls.context({"ssl.certificate.pem": "hush", "ssl.key.pem": "hush"})
    assert list(tmp_path.iterdir()) == []
