"""PEM texts as they stand in properties: of several kinds, in one line, broken; no error quotes a key."""

from __future__ import annotations

import ssl

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.policies import pem
from legacy_mm.runtime.channel import certificate

CHAIN, KEY = (text.decode() for text in certificate._self_signed("127.0.0.1"))


def flat(text: str) -> str:
    """The same in one line, as a properties file may have it."""
    return " ".join(text.split("\n"))


def test_a_chain_in_one_line_is_what_openssl_reads() -> None:
    trusted = pem.certificates("ssl.truststore.certificates", flat(CHAIN))
    assert trusted == pem.certificates("ssl.truststore.certificates", CHAIN) == CHAIN
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=trusted)
    assert len(context.get_ca_certs()) == 1


def test_each_part_takes_its_own_kind_out_of_a_mixed_text() -> None:
    everything = f"subject=me\n{KEY}issuer=it\n{CHAIN}{CHAIN}"
    assert (pem.private_key("k", everything), pem.certificates("c", everything)) == (KEY, CHAIN * 2)


@pytest.mark.parametrize("kind", ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"])
def test_kinds_of_keys(kind: str) -> None:
    key = f"-----BEGIN {kind}-----\nhush\n-----END {kind}-----\n"
    assert pem.private_key("k", key) == key


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "k holds no PEM block of the kind PRIVATE KEY"),
        (CHAIN, "k holds no PEM block of the kind PRIVATE KEY"),
        ("-----BEGIN PRIVATE KEY-----hush", "k holds no PEM block"),
        ("-----BEGIN PRIVATE KEY-----hush-----END RSA PRIVATE KEY-----", "k holds no PEM block"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nhush\n-----END RSA PRIVATE KEY-----",
            "k: a PKCS#1 key with a password is not supported",
        ),
    ],
)
def test_a_key_that_cannot_be_used(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        pem.private_key("k", text)
    assert str(caught.value).startswith(said)
    assert "hush" not in str(caught.value)
    assert caught.value.property_name == "k"


def test_the_chain_is_blamed_for_itself() -> None:
    with pytest.raises(ConfigurationError, match="c holds no PEM block of the kind CERTIFICATE") as caught:
        pem.certificates("c", KEY)
    assert caught.value.property_name == "c"


def test_rubbish_of_any_length_ends() -> None:
    """Of a megabyte of beginnings without an end."""
    with pytest.raises(ConfigurationError, match="holds no PEM block"):
        pem.certificates("t", "-----BEGIN CERTIFICATE-----" * 2_000)
