"""A worker of Connect with several flows, all in its one group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import COMMANDS
from legacy_mm.audit.cluster_access import create_topic, grow_topic, list_topics, read_all
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.connect_files import source_connector, worker_properties
from tests.fixtures.rest_api import RestCaller, token_file

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
FIRST, FURTHER = 500, 300


def worker_files(folder: Path, port: int, source: Any, target: Any, topics: Mapping[str, str]) -> list[str]:
    """The worker's file, and one for each flow."""
    files = [write_properties(folder / "worker.properties", worker_properties(target, str(port)))]
    for flow, name in topics.items():
        quick = {"name": flow, "refresh.topics.interval.seconds": "1"}
        config = source_connector(source, target, f"{flow}{port}", name, **quick)
        files.append(write_properties(folder / f"{flow}.properties", config))
    return [str(each) for each in files]


@pytest.mark.parametrize("guarantee", ["", "--exactly.once true"], ids=["at-least-once", "exactly-once"])
def test_flows_of_one_worker_copy_beside_each_other_and_are_stopped_alone(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    new_port: Callable[[], int],
    tmp_path: Path,
    guarantee: str,
) -> None:
    """Each out of a source of its own name; partitions come to a topic, and the offsets of a stopped flow are reset."""
    port, token = new_port(), token_file(tmp_path)
    topics = {"X": topic(), "Y": topic()}
    for name, partitions in zip(topics.values(), (2, 5), strict=True):
        create_topic(source.bootstrap, name, partitions)
    files = worker_files(tmp_path, port, source, target, topics)
    api = RestCaller.with_token(port)

    def copied() -> dict[str, int]:
        copies = {flow: f"{flow}{port}.{name}" for flow, name in topics.items()}
        there = list_topics(target.bootstrap)
        return {
            flow: len(read_all(target.bootstrap, copy, isolation="read_committed")) if copy in there else 0
            for flow, copy in copies.items()
        }

    def wait_copied(**counts: int) -> None:
        wait_until(lambda: copied() == counts, SECONDS, f"{counts}")

    words = ["--admin.port", str(port), "--admin.token.file", str(token), "--admin.actions", "true", *guarantee.split()]
    with ToolProcess([str(COMMANDS / "legacy-mm"), "connect", *files, *words], tmp_path) as tool:
        for name in topics.values():
            load(source.bootstrap, name, FIRST, 50)
        wait_copied(X=FIRST, Y=FIRST)
        # partitions are added, in one flow and then in the other: one of them is not the leader's
        counts = {"X": FIRST, "Y": FIRST}
        for flow, name in topics.items():
            grow_topic(source.bootstrap, name, 8)
            load(source.bootstrap, name, FURTHER, 50, seed=2)
            counts[flow] += FURTHER
            wait_copied(**counts)
        assert api.call("DELETE", "/connectors/X/offsets").status == 400
        assert api.call("PUT", "/connectors/X/stop").status == 204
        wait_until(lambda: api.call("DELETE", "/connectors/X/offsets").status == 200, SECONDS, "the reset of a flow")
        assert api.call("PUT", "/connectors/X/resume").status == 202
        load(source.bootstrap, topics["Y"], FURTHER, 50)
        wait_copied(X=2 * (FIRST + FURTHER), Y=FIRST + 2 * FURTHER)
        assert tool.stop(SECONDS) == 143
