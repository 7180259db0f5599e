"""What `--admin.port` may be with what."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import JvmSettings, RestSettings
from legacy_mm.cli.parser import read_own_options

TLS = ("--admin.tls.certificate=c", "--admin.tls.key=k")
TOKEN, CA, ALL = "--admin.token.file=t", "--admin.tls.client.ca=a", "--admin.address=0.0.0.0"
SECURE, TAKEN = "is open to other hosts: give --admin.tls.certificate", "needs --admin.tls.certificate"


def rest(*words: str) -> RestSettings:
    return read_own_options(list(words), {}).process(JvmSettings()).rest


def test_it_is_off_and_all_of_it_is_read() -> None:
    assert rest() == RestSettings()
    assert rest("--admin.port=8083") == RestSettings(8083)
    found = rest("--admin.port=1", ALL, TOKEN, "--admin.actions=true", *TLS, CA, "--admin.insecure=TRUE")
    assert found == RestSettings(1, "0.0.0.0", "t", True, "c", "k", "a", True)


@pytest.mark.parametrize(
    "words",
    [
        (TOKEN,),
        (TOKEN, "--admin.actions=true"),
        ("--admin.address=localhost",),
        ("--admin.address=127.0.0.2",),
        ("--admin.address=::1",),
        (ALL, *TLS, TOKEN),
        (ALL, *TLS, CA),
        (ALL, *TLS, TOKEN, CA, "--admin.actions=true"),
        (ALL, "--admin.insecure=true"),
        (ALL, "--admin.insecure=true", TOKEN, "--admin.actions=true"),
    ],
)
def test_what_is_closed_to_others_is_taken(words: tuple[str, ...]) -> None:
    assert rest("--admin.port=8083", *words).port == 8083


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((ALL,), SECURE),
        ((ALL, TOKEN), SECURE),
        ((ALL, *TLS), SECURE),
        (("--admin.address=mirror.example", *TLS), SECURE),
        (("--admin.address=::", TOKEN), SECURE),
        (("--admin.actions=true",), "--admin.actions needs --admin.token.file"),
        ((ALL, "--admin.insecure=true", "--admin.actions=true"), "--admin.actions needs --admin.token.file"),
        ((ALL, *TLS, CA, "--admin.actions=true"), "--admin.actions needs --admin.token.file"),
        (("--admin.tls.key=k",), f"--admin.tls.key {TAKEN}"),
        ((CA, TOKEN), f"--admin.tls.client.ca {TAKEN}"),
    ],
)
def test_what_would_be_open_to_others_is_refused(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        rest("--admin.port=8083", *words)
    assert said in str(refused.value)
    assert rest(*words).port is None  # without a port nothing is open
