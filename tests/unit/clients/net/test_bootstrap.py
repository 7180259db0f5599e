"""Addresses of brokers: one that resolves is enough."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.clients.net.bootstrap import require_resolvable


@pytest.mark.parametrize("servers", [["no-such-host.invalid:9092"], ["127.0.0.1"], ["127.0.0.1:port"], []])
def test_java_s_words_name_the_client_and_all_addresses(servers: list[str]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        require_resolvable("consumer", servers)
    first, second = str(refused.value).splitlines()
    assert first.endswith("Failed to construct kafka consumer")
    assert second.endswith(f"No resolvable bootstrap urls given in bootstrap.servers ({','.join(servers)})")


@pytest.mark.parametrize("servers", [["no-such-host.invalid:1", "127.0.0.1:1"], ["[::1]:1"]])
def test_one_that_resolves_is_enough(servers: list[str]) -> None:
    require_resolvable("consumer", servers)
    with pytest.raises(ConfigurationError):
        require_resolvable("consumer", ["no-such-host.invalid:1"])
