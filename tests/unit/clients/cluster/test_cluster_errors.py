"""Which of the clusters does not answer, and where it was asked."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.cluster.cluster_errors import at_cluster, error_at
from tests.fixtures import client_settings


def test_an_error_names_the_cluster_and_its_addresses() -> None:
    with (
        pytest.raises(HostError) as told,
        at_cluster("source", client_settings.read_connection({"bootstrap.servers": "a:1,b:2"})),
    ):
        raise HostError("listing topics failed: gone")
    assert str(told.value) == "the source (a:1,b:2): listing topics failed: gone"
    assert error_at("cluster", ConnectionSettings(), "gone") == "the cluster (without an address): gone"
