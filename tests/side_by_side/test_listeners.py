"""A rebalance listener that logs its calls, on the real legacy tool and on ours (contract 3.4, 5.2 to 5.4)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from tests.side_by_side.conftest import Side

pytestmark = pytest.mark.side_by_side
PATIENCE = 60.0


def calls(side: Side, topic: str, group: str, jar: Path, file: Path) -> list[str]:
    """What the listener heard in a start, in a rebalance by a second member that comes and goes, and in a stop."""
    create_topic(side.target.bootstrap, topic, partitions=4)
    words = ("--consumer.rebalance.listener", "LoggingListener", "--rebalance.listener.args", str(file))
    tool = side.start(
        {"bootstrap.servers": side.source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": side.target.bootstrap},
        *("--whitelist", topic, *words),
        classpath=[jar],
    )

    def heard() -> list[str]:
        return file.read_text().splitlines() if file.exists() else []

    def assigned(times: int) -> bool:
        assert tool.running(), tool.output()
        return sum(line.startswith("assigned") for line in heard()) >= times

    arrived = lambda: sum(end_offsets(side.target.bootstrap, topic).values()) >= 400  # noqa: E731
    wait_until(arrived, PATIENCE, f"400 records on {side.name}")
    before = len([line for line in heard() if line.startswith("assigned")])
    other = Consumer({"bootstrap.servers": side.source.bootstrap, "group.id": group, "log_level": 0})
    other.subscribe([topic])
    wait_until(lambda: other.poll(0.1) or assigned(before + 1), PATIENCE, f"a rebalance on {side.name}")
    wait_until(lambda: other.poll(0.1) or other.assignment(), PATIENCE, "the other member's share")
    other.close()
    wait_until(lambda: assigned(before + 2), PATIENCE, f"all partitions back on {side.name}")
    tool.signal(signal.SIGTERM)
    assert tool.wait(PATIENCE) == 143, tool.output()
    return heard()


def test_calls_of_a_listener(
    old: Side, ours: Side, topic: str, group: str, tmp_path: Path, handler_jars: dict[str, Path]
) -> None:
    jar = handler_jars["LoggingListener"]
    create_topic(old.source.bootstrap, topic, partitions=4)
    load(old.source.bootstrap, topic, 400, 100)
    theirs, mine = (
        calls(side, topic, f"{group}-{side.name}", jar, tmp_path / f"{side.name}.log") for side in (old, ours)
    )
    assert mine == theirs
    assert [line.split()[0] for line in theirs if line != "revoked []"] == [
        *("made", "assigned", "revoked", "assigned", "revoked", "assigned", "revoked"),
    ]


@pytest.mark.slow
def test_a_listener_of_another_type(side: Side, topic: str, group: str, handler_jars: dict[str, Path]) -> None:
    """Contract 5.4: nobody looks before the first rebalance calls it; then the process ends."""
    create_topic(side.source.bootstrap, topic, partitions=1)
    tool = side.start(
        {"bootstrap.servers": side.source.bootstrap, "group.id": group},
        {"bootstrap.servers": side.target.bootstrap},
        *("--whitelist", topic, "--consumer.rebalance.listener", "handlers.FanOut"),
        classpath=[handler_jars["FanOut"]],
    )
    assert tool.wait(PATIENCE) == 255, tool.output()
    assert "java.lang.ClassCastException: class handlers.FanOut cannot be cast" in tool.output()


def test_a_listener_that_cannot_be_made(side: Side, topic: str, group: str) -> None:
    """Difference: listener-made-last. Exit 1 before the group is joined, in Java's words."""
    tool = side.mirror(group, "--whitelist", topic, "--consumer.rebalance.listener", "no.such.Listener")
    assert tool.wait(PATIENCE) == 1, tool.output()
    assert "java.lang.ClassNotFoundException: no.such.Listener" in tool.output()
