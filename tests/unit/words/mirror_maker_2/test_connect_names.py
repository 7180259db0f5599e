"""The client ids of MirrorMaker 2 for the clients of a flow."""

from __future__ import annotations

from legacy_mm.base.settings import ConnectNames
from legacy_mm.words.mirror_maker_2.driver_file import Pair
from tests.unit.words.mirror_maker_2.test_flow_translation import flow

SOURCE, CHECKPOINTS = "A->B|MirrorSourceConnector", "A->B|MirrorCheckpointConnector-0"


def names(text: str = "", pair: Pair = Pair("A", "B")) -> ConnectNames:  # noqa: B008 - frozen
    found = flow(text, pair).settings.connect_names
    assert found is not None
    return found


def test_a_plain_flow_has_the_client_ids_of_mirror_maker_2() -> None:
    assert names() == ConnectNames(
        consumers=(f"{SOURCE}-0|replication-consumer",),
        connectors=("MirrorSourceConnector", "MirrorHeartbeatConnector", "MirrorCheckpointConnector"),
        worker="A->B",
        admin_of_worker="A-mm2-A->B-shared-admin",
        admin_at_source=f"{SOURCE}|replication-source-admin",
        admin_at_target=f"{SOURCE}|replication-target-admin",
        groups_at_source=f"{CHECKPOINTS}|checkpoint-source-admin",
        groups_at_target=f"{CHECKPOINTS}|checkpoint-target-admin",
    )
    settings = flow().settings
    assert settings.client_id(settings.first_stream) == f"{SOURCE}-0|replication-consumer"
    assert settings.target.connection.client_id == "connector-producer-MirrorSourceConnector-0"


def test_the_user_s_client_ids_stand_in_front_or_instead() -> None:
    text = """
B.client.id = worker
B.producer.client.id = producer
A.consumer.client.id = reader
A->B.admin.client.id = any
A->B.target.admin.client.id = admin
"""
    found = names(text)
    assert (found.worker, found.admin_of_worker) == ("worker", "A-mm2-worker-shared-admin")
    assert found.consumers == (f"reader|{SOURCE}-0|replication-consumer",)
    assert found.admin_at_source == f"any|{SOURCE}|replication-source-admin"
    assert found.groups_at_target == f"admin|{CHECKPOINTS}|checkpoint-target-admin"
    assert flow(text).settings.target.connection.client_id == "producer"


def test_a_flow_of_heartbeats_alone_has_the_admin_client_of_their_connector() -> None:
    found = names(pair=Pair("B", "A"))
    assert (found.consumers, found.connectors, found.worker) == ((), ("MirrorHeartbeatConnector",), "")
    assert (found.admin_at_source, found.admin_at_target) == (
        "",
        "B->A|MirrorHeartbeatConnector|heartbeats-target-admin",
    )
