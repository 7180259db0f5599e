"""TLS as the properties say it: suites, who is believed, and errors that show no secret."""

from __future__ import annotations

import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from legacy_mm.base import property_names
from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import TlsSettings
from legacy_mm.clients.net import tls_context
from legacy_mm.runtime.channel import certificate
from tests.unit.certificates import certify, key_pem, pem

SUITES = """
TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 ECDHE-ECDSA-AES256-GCM-SHA384
TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 ECDHE-RSA-AES128-GCM-SHA256
TLS_DHE_DSS_WITH_AES_128_GCM_SHA256 DHE-DSS-AES128-GCM-SHA256
TLS_DH_anon_WITH_AES_256_GCM_SHA384 ADH-AES256-GCM-SHA384
TLS_ECDH_anon_WITH_AES_128_CBC_SHA AECDH-AES128-SHA
TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 ECDHE-RSA-CHACHA20-POLY1305
TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256 DHE-RSA-CHACHA20-POLY1305
TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8 ECDHE-ECDSA-AES256-CCM8
TLS_RSA_WITH_AES_128_CCM AES128-CCM
TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384 ECDHE-RSA-AES256-SHA384
TLS_ECDHE_ECDSA_WITH_CAMELLIA_128_CBC_SHA256 ECDHE-ECDSA-CAMELLIA128-SHA256
TLS_DHE_RSA_WITH_ARIA_256_GCM_SHA384 DHE-RSA-ARIA256-GCM-SHA384
TLS_DHE_RSA_WITH_AES_256_CBC_SHA DHE-RSA-AES256-SHA
TLS_RSA_WITH_AES_256_GCM_SHA384 AES256-GCM-SHA384
TLS_RSA_WITH_AES_128_CBC_SHA256 AES128-SHA256
TLS_RSA_WITH_AES_128_CBC_SHA AES128-SHA
TLS_RSA_WITH_NULL_SHA256 NULL-SHA256
TLS_RSA_WITH_3DES_EDE_CBC_SHA DES-CBC3-SHA
SSL_RSA_WITH_3DES_EDE_CBC_SHA DES-CBC3-SHA
TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA ECDHE-RSA-DES-CBC3-SHA
TLS_AES_256_GCM_SHA384 TLS_AES_256_GCM_SHA384
ECDHE-RSA-AES128-SHA ECDHE-RSA-AES128-SHA
DEFAULT:!aNULL DEFAULT:!aNULL
"""


@pytest.mark.parametrize("pair", SUITES.split("\n")[1:-1])
def test_java_s_names_of_suites(pair: str) -> None:
    """As `openssl ciphers -stdname ALL:COMPLEMENTOFALL` has them."""
    java, openssl = pair.split()
    assert tls_context.openssl_names(java) == openssl
    assert tls_context.openssl_names(f"{java}:{java}") == f"{openssl}:{openssl}"


def names(properties: dict[str, str]) -> set[str]:
    return {
        suite["name"]
        for suite in tls_context.context(property_names.read_connection(properties).tls).get_ciphers()
        if suite["protocol"] != "TLSv1.3"
    }


def test_suites_are_those_asked_for_else_those_that_java_has() -> None:
    assert names({"ssl.cipher.suites": "TLS_RSA_WITH_AES_128_CBC_SHA:TLS_NO_WITH_SUCH"}) == {"AES128-SHA"}
    assert {"AES128-SHA", "AES256-GCM-SHA384", "ECDHE-RSA-AES128-SHA"} <= names({})
    level = tls_context.context(
        property_names.read_connection({"ssl.cipher.suites": "TLS_RSA_WITH_AES_128_CBC_SHA"}).tls
    ).security_level
    assert level == tls_context.context(TlsSettings()).security_level == 1
    assert (
        tls_context.context(
            property_names.read_connection({"ssl.cipher.suites": "DEFAULT:@SECLEVEL=2"}).tls
        ).security_level
        == 2
    )


@pytest.mark.parametrize("checked", [True, False])
def test_who_is_believed(checked: bool) -> None:
    made = tls_context.context(
        property_names.read_connection({} if checked else {"enable.ssl.certificate.verification": "false"}).tls
    )
    assert made.check_hostname is checked
    assert made.verify_mode is (ssl.CERT_REQUIRED if checked else ssl.CERT_NONE)
    assert made.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_name_need_not_fit_where_the_file_says_so() -> None:
    made = tls_context.context(property_names.read_connection({"ssl.endpoint.identification.algorithm": "none"}).tls)
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
        tls_context.context(property_names.read_connection(properties).tls)
    assert "hush" not in str(caught.value)


def test_a_key_needs_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full one ended the mirror at its next connection."""
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    own, key = (text.decode() for text in certificate._self_signed("127.0.0.1"))
    assert tls_context.context(property_names.read_connection({"ssl.certificate.pem": own, "ssl.key.pem": key}).tls)


def test_a_host_that_ends_with_a_dot_is_named_without_it(tmp_path: Path) -> None:
    """Java refuses it as the server's name, and certificates do not have it."""
    key, certificate = certify("broker", None, authority=True)
    file = tmp_path / "broker.pem"
    file.write_text(key_pem(key) + pem(certificate))
    serving, named = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), list[str | None]()
    serving.load_cert_chain(file)
    serving.sni_callback = lambda _, name, __: named.append(name)
    made = tls_context.context(TlsSettings(ca_pem=pem(certificate)))
    ours, theirs = socket.socketpair()
    with ThreadPoolExecutor(1) as threads:
        accepted = threads.submit(serving.wrap_socket, theirs, server_side=True)
        with made.wrap_socket(ours, server_hostname="localhost."):
            accepted.result().close()
    assert named == ["localhost"]
