"""A target that does not have a topic, on the real legacy tool and on ours: what is said, and what others become."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.ports import Ports
from compat.laboratory.releases import OLD
from compat.laboratory.security import USER, login, login_listener
from compat.laboratory.topic_state import AUTHORIZER, add_rules, forbid_rules
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.scrape import probe, scrape, total
from tests.side_by_side.conftest import Side
from tests.side_by_side.test_log_lines import lines

pytestmark = pytest.mark.side_by_side
PATIENCE = 60.0
_LINE = re.compile(r"^\[[^\]]+\] (WARN \[Producer clientId=.* with correlation id )\d+( : .*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def strict(module_clusters: Callable[..., Cluster]) -> Cluster:
    """Makes no topic."""
    return module_clusters(release=OLD, properties={"auto.create.topics.enable": "false"})


@pytest.fixture
def port() -> Iterator[int]:
    ports = Ports()
    yield ports.reserve()
    ports.release()


def start(side: Side, target: str, group: str, *options: str, **producer: str) -> ToolProcess:
    consumer = {"bootstrap.servers": side.source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    return side.start(consumer, {"bootstrap.servers": target, **producer}, *options)


def told(tool: ToolProcess) -> list[str]:
    return ["".join(found.groups()) for found in _LINE.finditer(tool.output())]


def test_a_missing_topic_is_told_in_the_same_words(
    old: Side, ours: Side, strict: Cluster, topic: str, group: str, port: int
) -> None:
    """And by ours also to who looks at it, while the other topic is copied and committed."""
    missing, there = f"{topic}-missing", f"{topic}-there"
    for each in (missing, there):
        create_topic(old.source.bootstrap, each, partitions=1)
        load(old.source.bootstrap, each, 100, 100, partitions=1)
    said = {}
    for side, options in ((old, ()), (ours, ("--metrics.port", str(port)))):
        tool = start(side, strict.bootstrap, f"{group}-{side.name}", "--whitelist", missing, *options)
        wait_until(lambda: len(told(tool)) >= 4, PATIENCE, f"lines of {side.name}")  # noqa: B023
        said[side.name] = set(told(tool))
        tool.kill_tree()
    assert said[ours.name] == said["old"]

    create_topic(strict.bootstrap, there, partitions=1)
    tool = start(
        ours, strict.bootstrap, f"{group}-both", "--whitelist", f"{missing},{there}", "--metrics.port", str(port)
    )
    wait_until(lambda: sum(end_offsets(strict.bootstrap, there).values()) == 100, PATIENCE, "the other topic")
    wait_until(
        lambda: probe(port, "readyz")[0] == 503 and "cannot write" in probe(port, "readyz")[1],
        PATIENCE,
        "not to be ready",
    )
    assert probe(port, "readyz")[1] == f"cannot write to: {missing} (UNKNOWN_TOPIC_OR_PARTITION)\n"
    assert total(scrape(port), "legacy_mm_unwritable_topics") == 1
    tool.wait_for_output(f"Topic {missing} cannot be written at the target (UNKNOWN_TOPIC_OR_PARTITION)", PATIENCE)
    tool.signal(signal.SIGTERM)
    assert tool.wait(PATIENCE) == 143
    assert f"Not copied before the stop: 1 partitions wait for topic {missing} at the target" in tool.output()
    assert committed(old.source.bootstrap, f"{group}-both", [missing, there]) == {(there, 0): 100}


@pytest.mark.slow
def test_a_missing_right_ends_both(
    own_clusters: Callable[..., Cluster], old: Side, ours: Side, topic: str, group: str
) -> None:
    """A topic that this user may not make: nobody waits for it, and nothing is committed."""
    properties: Any = {**AUTHORIZER, **login_listener("LOGIN")}
    target = own_clusters(release=OLD, properties=properties, listeners={"LOGIN": "SASL_PLAINTEXT"})
    create_topic(old.source.bootstrap, topic, partitions=1)
    load(old.source.bootstrap, topic, 100, 100, partitions=1)
    add_rules(target.bootstrap, [(topic, "LITERAL", f"User:{USER}", "*", "CREATE", "DENY")])
    forbid_rules(target.bootstrap, f"User:{USER}", "CREATE")
    producer = {"security.protocol": "SASL_PLAINTEXT", **login("PLAIN")}
    said = []
    for side in (old, ours):
        tool = start(side, target.bootstrap_of("LOGIN"), f"{group}-{side.name}", "--whitelist", topic, **producer)
        assert tool.wait(PATIENCE) == 255, tool.output()
        said.append([line for line in lines(tool) if line.logger.endswith("ErrorLoggingCallback")][:1])
        assert committed(old.source.bootstrap, f"{group}-{side.name}", [topic]) == {}
    assert said[0]
    assert said[0] == said[1]
