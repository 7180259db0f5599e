"""Where the control channel listens when tasks run elsewhere."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.runtime.channel.certificate import channel_identity


def test_an_address_may_be_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "localhost")
    address, tls, certificate = channel_identity(embedded=False)
    assert address in ("127.0.0.1", "::1")
    assert tls is not None
    assert certificate.startswith("-----BEGIN CERTIFICATE-----")


@pytest.mark.parametrize("named", ["192.0.2.1", "2001:db8::1", "no-such-host.invalid", "a b", "x" * 70])
def test_one_that_is_not_ours_is_told(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", named)
    with pytest.raises(ConfigurationError, match=f"SPARK_LOCAL_IP={named} is no address of this host"):
        channel_identity(embedded=False)
    assert channel_identity(embedded=True) == ("127.0.0.1", None, "")
