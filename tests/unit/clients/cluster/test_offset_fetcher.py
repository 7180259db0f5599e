"""The offsets of logs: what leaders of each release answer, and when nobody waits for them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.base.model import LATEST
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.network_client import NetworkClient
from legacy_mm.clients.net.connection_errors import RequestRefused
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fixtures import client_settings
from tests.unit.clients.cluster.answering import ORDERS, PROPERTIES, Asked


def test_a_topic_without_permission_is_not_waited_for(asked: Asked) -> None:
    asked.error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    with pytest.raises(RequestRefused, match="orders-0 cannot be listed: TOPIC_AUTHORIZATION_FAILED"):
        Cluster(client_settings.read_connection(PROPERTIES), 60.0).offsets.of([ORDERS], LATEST)


@pytest.mark.parametrize(("version", "told"), [(0, {"old_style_offsets": [7]}), (1, {"offset": 7})])
def test_offsets_come_in_a_list_from_brokers_before_0_10_1(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, version: int, told: dict[str, Any]
) -> None:
    row = SimpleNamespace(partition_index=0, error_code=0, **told)
    answer = SimpleNamespace(version=version, topics=[SimpleNamespace(name="orders", partitions=[row])])
    monkeypatch.setattr(NetworkClient, "call", lambda *_: answer)
    assert Cluster(client_settings.read_connection(PROPERTIES), 1.0).offsets.of([ORDERS], LATEST) == {ORDERS: 7}
