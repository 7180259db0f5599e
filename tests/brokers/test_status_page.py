"""The status page of flows that copy: one that lags, one that fails and recovers, and what a click does to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.ports import LOOPBACK
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.chromium import Tab
from tests.fixtures.driver_files import driver_file
from tests.fixtures.rest_api import TOKEN, RestCaller, token_file
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
PASSWORD = "rosebud-of-the-test"
ADMIN = ("--admin.actions", "true", "--admin.token.file")


@pytest.fixture
def token(tmp_path: Path) -> Path:
    return token_file(tmp_path)


def row_of(tab: Tab, flow: str) -> list[str]:
    """The cells of a flow on the first page."""
    rows = (line.split("\t") for line in tab.text("table").splitlines())
    return next(([each.strip() for each in cells] for cells in rows if cells[0].strip() == flow), [])


def wait_row(tab: Tab, flow: str, *words: str) -> None:
    """Wait until the page shows these words of a flow, by itself."""
    said = f"{words} of {flow}"
    try:
        wait_until(lambda: all(any(word in cell for cell in row_of(tab, flow)) for word in words), SECONDS, said)
    except TimeoutError as error:
        error.add_note(tab.text("main"))
        raise


@dataclass(frozen=True)
class Scene:
    """A driver with two flows of one topic, of which the second cannot be built, and who looks at it."""

    source: Any
    other: Any
    target: Any
    topic: str
    alias: str
    port: int
    api: RestCaller
    driver: WarmMirror

    @property
    def west(self) -> str:
        return f"{self.alias}->B"

    @property
    def south(self) -> str:
        return f"{self.alias}->C"

    def write(self, count: int) -> None:
        load(self.source.bootstrap, self.topic, count, 50, seed=count)

    def copied(self, cluster: Any) -> int:
        copy = f"{self.alias}.{self.topic}"
        return sum(end_offsets(cluster.bootstrap, copy).values()) if copy in list_topics(cluster.bootstrap) else 0

    def wait_copied(self, cluster: Any, count: int) -> None:
        wait_until(lambda: self.copied(cluster) == count, SECONDS, f"{count} records")

    def repair(self) -> None:
        """Take away what the second flow fails of."""
        connector = f"/connectors/{self.south}.MirrorSourceConnector/config"
        config = self.api.call("GET", connector).body
        right = {key: text for key, text in config.items() if "no-such-host" not in text}
        assert len(right) == len(config) - 1
        assert self.api.call("PUT", connector, right).status == 200


@pytest.fixture
def scene(
    source: Any,
    target: Any,
    module_clusters: Callable[..., Cluster],
    topic: Callable[..., str],
    warm_driver: Callable[..., WarmMirror],
    new_port: Callable[[], int],
    token: Path,
) -> Scene:
    name, port, other = topic(), new_port(), module_clusters()
    create_topic(source.bootstrap, name, 4)
    alias = f"A{port}"
    properties = driver_file(
        {alias: source, "B": other, "C": target},
        **{
            f"{alias}->C.producer.override.bootstrap.servers": f"no-such-host.invalid:{new_port()}",
            **{f"{alias}->{to}.enabled": "true" for to in "BC"},
            **{f"{alias}->{to}.topics": name for to in "BC"},
            **{f"emit.{what}.enabled": "false" for what in ("heartbeats", "checkpoints")},
            "sync.topic.acls.enabled": "false",
            f"{alias}.consumer.sasl.jaas.config": f'Login required password="{PASSWORD}";',
        },
    )
    driver = warm_driver(properties, *ADMIN, str(token), "--admin.port", str(port))
    api = RestCaller.with_token(port)
    wait_until(lambda: api.call("GET", "/").status == 200, SECONDS, "the port")
    return Scene(source, other, target, name, alias, port, api, driver)


def test_a_flow_fails_recovers_and_another_is_paused_by_a_click(
    scene: Scene, page: Callable[..., Tab], axe: str
) -> None:
    west, south, tab = scene.west, scene.south, page(login=("ann", TOKEN))
    address = f"http://{LOOPBACK}:{scene.port}/status"
    tab.open(address)
    # one flow keeps up, and the other fails
    scene.write(1_000)
    wait_row(tab, west, "✓ running", "(0 records)", "keeps up")
    wait_row(tab, south, "✗ failed")
    assert "no-such-host.invalid" in tab.text("#needs")
    assert scene.copied(scene.other) == 1_000
    # it recovers
    scene.repair()
    wait_row(tab, south, "✓ running", "(0 records)")
    scene.wait_copied(scene.target, 1_000)
    # the first one is paused by a click, and goes on by another
    with tab.loading():
        tab.click(f'a[href$="{quote(west, safe="")}"]')
    assert tab.faults_of_access(axe) == []
    with tab.loading():
        tab.click(f'button[aria-label^="Pause {west}"]')
    tab.wait_text("‖ paused", "main")
    asked = f"POST /status/connectors/{quote(west, safe='')}.MirrorSourceConnector/pause: 303"
    scene.driver.wait_for_output(asked, SECONDS)
    scene.write(500)
    scene.wait_copied(scene.target, 1_500)
    assert scene.copied(scene.other) == 1_000
    with tab.loading():
        tab.click(f'button[aria-label^="Resume {west}"]')
    tab.wait_text("✓ running", "main", SECONDS)
    scene.wait_copied(scene.other, 1_500)
    tab.click("summary")
    assert "sasl.jaas.config\t[hidden]" in tab.text("details")
    for path in ("", "/events", "/partitions", f"/flow?name={quote(west)}"):
        tab.open(f"{address}{path}")
        assert PASSWORD not in tab.evaluate("document.documentElement.outerHTML")
    assert [each for each in tab.complaints if "Failed to load" not in each] == []
    assert scene.driver.stop(SECONDS) == 143


def test_a_flow_whose_target_is_silent_lags_and_catches_up(
    source: Any,
    own_clusters: Callable[..., Cluster],
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    new_port: Callable[[], int],
    page: Callable[..., Tab],
) -> None:
    """The legacy command, whose group is at the source."""
    name, port, slow = topic(), new_port(), own_clusters()
    for cluster in (source, slow):
        create_topic(cluster.bootstrap, name, 4)
    mirror = our_tool(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": slow.bootstrap},
        *("--whitelist", name, "--admin.port", str(port)),
    )
    wait_until(lambda: RestCaller(port).call("GET", "/").status == 200, SECONDS, "the port")
    flow, tab = "source->target", page()
    tab.open(f"http://{LOOPBACK}:{port}/status")
    load(source.bootstrap, name, 1_000, 50)
    wait_row(tab, flow, "✓ running", "(0 records)", "keeps up")
    slow.brokers[0].suspend()
    load(source.bootstrap, name, 2_000, 50, seed=2)
    wait_row(tab, flow, "s behind (2,000 records)")
    assert "reading only" in tab.text("header")
    slow.brokers[0].resume()
    wait_row(tab, flow, "✓ running", "(0 records)", "keeps up")
    assert sum(end_offsets(slow.bootstrap, name).values()) == 3_000
    assert mirror.stop(SECONDS) == 143
