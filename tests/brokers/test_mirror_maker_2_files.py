"""Public files of MirrorMaker 2's driver, run by ours on real brokers: each flow that is to copy copies.

What is not theirs: addresses are those of the test's clusters, without logins; replication factors are 1, and intervals
short. A template is run as what it becomes. One file is run by a process, the others by one that is there.
"""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import our_driver
from legacy_mm.audit.cluster_access import create_topic, delete_topic, end_offsets, list_topics
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.mirror_maker_2.connector_properties import is_client_name
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark, pytest.mark.slow]
SECONDS = 60.0
STOPPED = 128 + signal.SIGTERM
RECORDED = CHECKOUT / "compat" / "recorded" / "facts" / "mm2_files.json"
LEFT_OUT = {
    "jctarla-oci": "auto.offset.reset=latest, and the records are older",
    "gimral-smt-loopguard": "the same; tests/brokers/test_dedicated.py runs such transforms",
    "rajabhishek-none": "auto.offset.reset=none, and there are no offsets",
    "idx-partial-put": "its second file is the body of a request",
}
ROWS = [
    row
    for row in json.loads(RECORDED.read_text())
    if row["expect"].get("start") == "runs" and row["files"] and row["id"] not in LEFT_OUT
]
REFUSED = {
    "skyhawk-custompolicy": "a policy in Java",
    "1azunna-remap": "a policy in Java",
    "1azunna-helm": "the same",
    "idx-smt": "a transform in Java",
}
"""Files that end with 2 here, and why."""
PROCESS = "apache-shipped"
FILLED = {
    "foxdalas-groupid": {
        "GROUP_ID": "g", "TOPICS": ".*", "REPLICATION_FACTOR": "1", "ACLS_ENABLED": "false", "TASKS_MAX": "10",
    }
}  # fmt: skip
"""What a template's script puts in the place of its variables; addresses are those of the test."""
NUMBERS = {"replication.factor": "1", "interval.seconds": "2", "interval.ms": "1000", "storage.partitions": "1"}
NAMES = ("t", "orders", "test-1", "test", "my-topic", "rep1", "rep2", "foo", "a")
"""Names of topics to try against a file's patterns."""


@pytest.fixture(scope="module")
def clusters(module_clusters: Callable[..., Cluster]) -> list[Cluster]:
    return [module_clusters() for _ in range(3)]


@pytest.fixture(autouse=True)
def _empty(clusters: list[Cluster]) -> Iterator[None]:
    yield
    for cluster in clusters:
        for name in list_topics(cluster.bootstrap):
            if not name.startswith("__"):
                with suppress(Exception):
                    delete_topic(cluster.bootstrap, name)


def file_of(row: Mapping[str, Any]) -> dict[str, str]:
    paths = [path for path in row["files"] if path.split("/")[-1] in str(row["command"])] or list(row["files"])
    text = row["files"][paths[0]]
    for name, value in FILLED.get(row["id"], {}).items():
        text = text.replace(f"${{{name}}}", value)
    return properties_file.loads(text.encode("iso-8859-1", "replace"))


def for_this_host(given: Mapping[str, str], clusters: list[Cluster]) -> tuple[dict[str, str], dict[str, Cluster]]:
    """The file with addresses, factors and intervals of the test; and the cluster of each alias."""
    aliases = DriverFile(given).clusters
    places = {alias: clusters[number % len(clusters)] for number, alias in enumerate(aliases)}
    file = {}
    for key, text in given.items():
        bare = re.sub(rf"^({'|'.join(map(re.escape, sorted(aliases, key=len, reverse=True)))})\.", "", key)
        bare = re.sub(r"^(consumer|producer|admin)\.(override\.)?", "", bare)
        number = next((small for end, small in NUMBERS.items() if key.endswith(end)), None)
        if bare == "bootstrap.servers" or not is_client_name(bare):
            # a comment behind a number is part of it, and stays
            file[key] = number if number is not None and text.strip().lstrip("-").isdecimal() else text
    file |= {f"{alias}.bootstrap.servers": cluster.bootstrap for alias, cluster in places.items()}
    defaults = ("replication.factor", "offset-syncs.topic", "checkpoints.topic", "heartbeats.topic")
    factors = [name if name.endswith("factor") else f"{name}.replication.factor" for name in defaults]
    factors += [f"{name}.storage.replication.factor" for name in ("offset", "status", "config")]
    missing = {name: "1" for name in factors if name not in file}
    return {**missing, **file}, places


def topic_for(reading: FlowReading) -> str:
    """A name that the flow mirrors."""
    include, exclude = reading.topics().include, reading.topics().exclude or ()
    literal = [name.replace("\\", "") for each in include for name in each.split("|")]
    literal = [name for name in literal if re.fullmatch(r"[\w.-]+", name)]
    for name in (*literal, *NAMES, *(re.sub(r"[^\w.-]", "", each) + "x" for each in include)):
        if re.fullmatch("|".join(include), name) and not (exclude and re.fullmatch("|".join(exclude), name)):
            return name
    raise AssertionError(f"no name for {include}")


def arrived(cluster: Cluster, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values()) if topic in list_topics(cluster.bootstrap) else 0


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_public_file(
    row: dict[str, Any], clusters: list[Cluster], tmp_path: Path, warm_driver: Callable[..., WarmMirror]
) -> None:
    words = row["expect"].get("clusters_option", [])
    file, places = for_this_host(file_of(row), clusters)
    driver = DriverFile(file, words)
    readings = [each for pair in driver.pairs() if (each := FlowReading.of_driver(driver, pair)).copies]
    wanted = {}
    for number, reading in enumerate(readings):
        with suppress(re.error):  # Java's own expressions, or no expression at all
            topic = topic_for(reading)
            source, target = places[reading.pair.source], places[reading.pair.target]
            if source is not target and reading.policy().t_becomes is not None:
                if topic not in list_topics(source.bootstrap):
                    create_topic(source.bootstrap, topic, 1)
                    load(source.bootstrap, topic, 20 + number, 50, partitions=1)
                copy = reading.policy().t_becomes.removesuffix("t") + topic  # type: ignore[union-attr]
                wanted[(reading.pair.target, copy)] = arrived(source, topic)
    start = partial(our_driver, tmp_path) if row["id"] == PROCESS else warm_driver
    with start(file, *(["--clusters", *words] if words else [])) as tool:
        if row["id"] in REFUSED:
            assert tool.wait(SECONDS) == 2
            return
        for (alias, copy), count in wanted.items():

            def there(alias: str = alias, copy: str = copy, count: int = count) -> bool:
                assert tool.running(), tool.output()[-3000:]
                return arrived(places[alias], copy) >= count or "would come back to" in tool.output()

            wait_until(there, SECONDS, f"{copy} in {alias}: {tool.output()[-3000:]}")
        wait_until(lambda: "runs: " in tool.output(), SECONDS, "a flow to run")
        tool.signal(signal.SIGTERM)
        assert tool.wait(SECONDS) == STOPPED
