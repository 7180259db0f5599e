"""A reload before flows that copy: the files of the start are changed, and no record is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.cli.legacy_mm import main
from tests.fixtures.driver_files import driver_file
from tests.fixtures.rest_api import RestCaller, token_file
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
FIRST, FURTHER = 1_000, 300


class Port:
    """The admin port of a mirror, as a terminal and as a program sees it."""

    def __init__(self, port: int, token: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.words = ("--admin.port", str(port), "--admin.token.file", str(token), "--admin.actions", "true")
        self._api, self._token, self._capsys = RestCaller.with_token(port), token, capsys

    def ctl(self, *words: str, code: int = 0) -> str:
        port = ("--url", f"http://127.0.0.1:{self._api.port}", "--token.file", str(self._token))
        assert main(["ctl", *words, *port]) == code, self._capsys.readouterr()
        return "".join(self._capsys.readouterr())

    def wait(self, *connectors: str) -> None:
        """Wait until these run, with all their tasks."""
        wait_until(lambda: self._api.call("GET", "/health").status == 200, SECONDS, "the port")

        def states(name: str) -> set[str]:
            found = self._api.call("GET", f"/connectors/{name}/status").body
            return {found["connector"]["state"], *(each["state"] for each in found["tasks"])}

        wait_until(lambda: all(states(each) == {"RUNNING"} for each in connectors), SECONDS, "all connectors run")


@pytest.fixture
def port(new_port: Callable[[], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Port:
    return Port(new_port(), token_file(tmp_path), capsys)


def copied(target: Any, topic: str, count: int) -> None:
    def there() -> int:
        return sum(end_offsets(target.bootstrap, topic).values()) if topic in list_topics(target.bootstrap) else 0

    wait_until(lambda: there() >= count, SECONDS, f"{count} records in {topic}")
    assert there() == count


class Flows:
    """A driver's flows from one source to one target, each of an alias and with topics of its own."""

    def __init__(self, source: Any, target: Any, topic: Callable[..., str], group: str) -> None:
        self.source, self.target = source, target
        self.topics = {each: topic() for each in ("changed", "same", "new")}
        self.other = f"{self.topics['changed']}-other"
        for each in (*self.topics.values(), self.other):
            create_topic(source.bootstrap, each, 4)
        self.aliases = {each: f"{each}-{group}" for each in self.topics}
        self.names = {each: f"{alias}->B" for each, alias in self.aliases.items()}

    def properties(self, *flows: str, **more: str) -> dict[str, str]:
        """Return the file with these flows; those of `more` have other topics than their own."""
        clusters = {**{self.aliases[each]: self.source for each in flows}, "B": self.target}
        lines = {"tasks.max": "2", "emit.heartbeats.enabled": "false", "sync.topic.acls.enabled": "false"}
        for each in flows:
            lines |= {f"{self.names[each]}.enabled": "true"}
            lines |= {f"{self.names[each]}.topics": more.get(each, self.topics[each])}
        return driver_file(clusters, **lines)

    def connectors(self, *flows: str) -> list[str]:
        return [f"{self.names[each]}.MirrorSourceConnector" for each in flows]

    def write(self, count: int, *names: str) -> None:
        for number, name in enumerate(names):
            load(self.source.bootstrap, name, count, 50, seed=number)

    def copied(self, counts: Mapping[str, int]) -> None:
        for name, count in counts.items():
            flow = next(each for each, of_flow in self.topics.items() if name.startswith(of_flow))
            copied(self.target, f"{self.aliases[flow]}.{name}", count)


@pytest.fixture
def flows(source: Any, target: Any, topic: Callable[..., str], group: str) -> Flows:
    return Flows(source, target, topic, group)


def test_flows_of_a_file_change_and_come_while_others_go_on(
    flows: Flows, warm_driver: Callable[..., WarmMirror], port: Port
) -> None:
    (changed, same, new), other, names = flows.topics.values(), flows.other, flows.names
    driver = warm_driver(flows.properties("changed", "same"), *port.words)
    file = Path(driver.command[1])

    def starts() -> list[int]:
        return [driver.output().count(f"Flow {each} runs") for each in names.values()]

    port.wait(*flows.connectors("changed", "same"))
    flows.write(FIRST, changed, same, new, other)
    flows.copied({changed: FIRST, same: FIRST})
    # a flow that cannot run is refused with all the rest
    write_properties(file, flows.properties("changed", "same", changed=other) | {"tasks.max": "0"})
    assert "tasks.max" in port.ctl("reload", code=1)
    # what it would change
    of_two = {"changed": f"{changed},{other}"}
    write_properties(file, flows.properties("changed", "same", "new", **of_two))
    line = f"{names['changed']}.topics: {changed} -> {changed},{other}"
    assert port.ctl("reload", "--dry-run").splitlines() == [
        f"{names['changed']}: would be changed",
        f"  {line}",
        f"{names['same']}: does the same as before",
        f"{names['new']}: would be added",
    ]
    assert starts() == [1, 1, 0]
    # the change, while records come
    flows.write(FURTHER, changed, same)
    assert port.ctl("reload").splitlines()[:2] == [f"{names['changed']}: changed", f"  {line}"]
    flows.write(FURTHER, changed, same, new, other)
    counts = {changed: FIRST + 2 * FURTHER, same: FIRST + 2 * FURTHER, new: FIRST + FURTHER, other: FIRST + FURTHER}
    flows.copied(counts)
    assert starts() == [2, 1, 1]
    assert f"Reload, {names['changed']}: {line}" in driver.output()
    assert f"Reload, {names['new']}: added" in driver.output()
    # the new flow ends, and what it has copied is not copied again when it comes once more
    write_properties(file, flows.properties("changed", "same", **of_two))
    assert f"{names['new']}: removed" in port.ctl("reload")
    driver.wait_for_output(f"Flow {names['new']} stopped", SECONDS)
    write_properties(file, flows.properties("changed", "same", "new", **of_two))
    assert f"{names['new']}: added" in port.ctl("reload")
    flows.write(FURTHER, changed, same, new, other)
    flows.copied({name: count + FURTHER for name, count in counts.items()})
    assert starts() == [2, 1, 2]
    assert driver.stop(SECONDS) == 143


def test_the_files_of_a_command_line_change_while_it_runs(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    port: Port,
    tmp_path: Path,
) -> None:
    name = topic()
    left_out = f"{name}-left-out"
    for each in (name, left_out):
        for cluster in (source, target):
            create_topic(cluster.bootstrap, each, 4)
    features = write_properties(tmp_path / "features.properties", {"topics.exclude": left_out})
    tool = our_tool(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": target.bootstrap},
        *("--whitelist", f"{name}.*", "--num.streams", "2", "--features.config", str(features), *port.words),
    )
    port.wait("source->target.MirrorSourceConnector")
    for each in (name, left_out):
        load(source.bootstrap, each, FIRST, 50)
    copied(target, name, FIRST)
    assert port.ctl("reload").splitlines() == ["source->target: does the same as before"]
    write_properties(features, {"metrics.port": "1", "log.level": "INFO"})
    assert port.ctl("reload").splitlines() == [
        "source->target: changed",
        f"  topics.exclude: {left_out} -> none",
        "the whole process:",
        "  metrics.port: none -> 1; left as it is: the port is open since the start",
        "log levels:",
        "  root: WARN -> INFO",
    ]
    load(source.bootstrap, name, FURTHER, 50)
    copied(target, left_out, FIRST)
    copied(target, name, FIRST + FURTHER)
    port.wait("source->target.MirrorSourceConnector")
    tool.wait_for_output(f"Reload, source->target: topics.exclude: {left_out} -> none", SECONDS)
    features.unlink()
    assert "features.properties" in port.ctl("reload", code=1)
    load(source.bootstrap, name, FURTHER, 50)
    copied(target, name, FIRST + 2 * FURTHER)
    assert tool.stop(SECONDS) == 143
    done = committed(source.bootstrap, group, [name, left_out])
    assert sum(done.values()) == 2 * FIRST + 2 * FURTHER
