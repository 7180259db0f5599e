"""The real worker of Kafka Connect against the recording of its REST API: what a server is judged by is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.connect_recording import SWITCHED_OFF_SUBJECT, read_recording, replay
from compat.laboratory.connect_requests import SWITCHES
from compat.laboratory.connect_worker import ConnectWorker, fill_source
from compat.laboratory.releases import CURRENT

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.slow]


def test_a_real_worker_answers_as_recorded(tmp_path: Path) -> None:
    recording = read_recording(CURRENT)
    with Cluster(tmp_path / "source") as source, Cluster(tmp_path / "target") as target:
        fill_source(source.bootstrap)
        places = {"source": source.bootstrap, "target": target.bootstrap}
        with ConnectWorker(tmp_path / "worker", target.bootstrap) as worker:
            asked = [each for each in recording if each.subject != SWITCHED_OFF_SUBJECT]
            assert replay(worker.url, asked, places) == []
        with ConnectWorker(tmp_path / "off", target.bootstrap, properties=SWITCHES) as worker:
            asked = [each for each in recording if each.subject == SWITCHED_OFF_SUBJECT]
            assert replay(worker.url, asked, places) == []
