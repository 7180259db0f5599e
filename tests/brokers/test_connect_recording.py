"""`legacy-mm connect` is asked what a real Connect worker was asked, and answers alike, but for what is agreed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import COMMANDS
from compat.laboratory.cluster import Cluster
from compat.laboratory.connect_recording import SWITCHED_OFF_SUBJECT, read_recording, replay
from compat.laboratory.connect_worker import QUICK, fill_source
from compat.laboratory.ports import Ports
from compat.laboratory.releases import CURRENT
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.connect_agreed import AGREED
from tests.fixtures.rest_api import LOGIN, RestCaller, token_file

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"


def test_our_worker_answers_as_a_real_one_but_for_what_is_agreed(tmp_path: Path) -> None:
    """As the real one: from no connector to no connector, with clusters of its own.

    Ours needs a connector at its start, which is deleted first.
    """
    recording = [each for each in read_recording(CURRENT) if each.subject != SWITCHED_OFF_SUBJECT]
    ports = Ports()
    port = ports.reserve()
    api = RestCaller.with_token(port)
    with Cluster(tmp_path / "source") as source, Cluster(tmp_path / "target") as target:
        fill_source(source.bootstrap)
        command = [str(COMMANDS / "legacy-mm"), "connect", *files(tmp_path, source, target)]
        token = token_file(tmp_path)
        orders = ("--admin.port", str(port), "--admin.token.file", str(token), "--admin.actions", "true")
        with ToolProcess([*command, *orders, "--log.level", "WARN"], tmp_path / "worker") as worker:
            wait_until(lambda: api.call("GET", "/health").status == 200, SECONDS, "the port")
            assert api.call("DELETE", "/connectors/first").status == 204
            places = {"source": source.bootstrap, "target": target.bootstrap}
            found = replay(f"http://127.0.0.1:{port}", recording, places, AGREED, login=LOGIN)
            assert found == [], "\n".join(found)
            assert worker.stop(SECONDS) == 143
    ports.release()


def files(folder: Path, source: Any, target: Any) -> list[str]:
    """The worker's file as the real one's, and that of a connector."""
    worker = {"bootstrap.servers": target.bootstrap, "key.converter": BYTES, "value.converter": BYTES, **QUICK}
    worker["offset.storage.file.filename"] = str(folder / "offsets")
    first = {
        "name": "first",
        "connector.class": "MirrorHeartbeatConnector",
        "source.cluster.alias": "X",
        "target.cluster.alias": "B",
        "source.cluster.bootstrap.servers": source.bootstrap,
        "target.cluster.bootstrap.servers": target.bootstrap,
        "heartbeats.topic.replication.factor": "1",
    }
    written = ((folder / "worker.properties", worker), (folder / "first.properties", first))
    return [str(write_properties(*each)) for each in written]
