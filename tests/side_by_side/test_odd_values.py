"""Odd entries and odd records that people reported, on the real legacy tool and on ours."""

from __future__ import annotations

import re
import signal

import pytest
from confluent_kafka import Producer

from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import epoch_ms
from tests.side_by_side.conftest import Side

pytestmark = pytest.mark.side_by_side
SECONDS = 60.0
RECORDS, BAD = 20, 7
REFUSED = re.compile(
    r"(ERROR Error when sending message to topic .*)\n"
    r".*InvalidTimestampException: Timestamp (\d+ of message) with offset"
)


def test_entries_with_quotes_and_comments(old: Side, ours: Side, topic: str, group: str) -> None:
    """Both take away blanks, and the quotes around the whole list: of five entries two match. Ours names the others."""
    names = [f"{topic}-{letter}" for letter in "abcde"]
    for name in names:
        for cluster in (old.source, old.target, ours.target):
            create_topic(cluster.bootstrap, name, 1)
        load(old.source.bootstrap, name, RECORDS, 50, partitions=1)
    a, b, c, d, e = names
    for side in (old, ours):
        tool = side.mirror(f"{group}-{side.name}", "--whitelist", f'\'{a} ,{b}", "{c}",{d} #old, {e}\'')
        wait_until(lambda: arrived(side, a) == arrived(side, e) == RECORDS, SECONDS, "the copies")  # noqa: B023
        assert stop(tool) == 143, tool.output()
        assert [arrived(side, name) for name in (b, c, d)] == [0, 0, 0]
        told = [
            entry for entry in (f"'{b}\"'", f"'\"{c}\"'", f"'{d}#old'") if f"{entry} matches no topic" in tool.output()
        ]
        assert len(told) == (3 if side is ours else 0)


@pytest.mark.parametrize(("abort", "code"), [("true", 255), ("false", 143)])
def test_a_record_of_the_future(old: Side, ours: Side, topic: str, group: str, abort: str, code: int) -> None:
    """Differences: commits-at-a-send-failure, refused-with-its-batch. The same line, and ours also tells the place."""
    create_topic(old.source.bootstrap, topic, 1, config={"message.timestamp.after.max.ms": str(2**63 - 1)})
    for side in (old, ours):
        create_topic(side.target.bootstrap, topic, 1, config={"message.timestamp.after.max.ms": "3600000"})
    writer = Producer({"bootstrap.servers": old.source.bootstrap, "linger.ms": 500})
    for number in range(RECORDS):
        writer.produce(topic, value=b"%d" % number, timestamp=epoch_ms() + 7_200_000 * (number == BAD))
    assert writer.flush(30) == 0
    lines = []
    for side in (old, ours):
        name = f"{group}-{side.name}"
        words = ("--whitelist", topic, "--abort.on.send.failure", abort, "--offset.commit.interval.ms", "500")
        tool = side.mirror(name, *words)
        read = lambda: committed(side.source.bootstrap, name, [topic]).get((topic, 0), 0)  # noqa: B023, E731
        if code == 143:
            wait_until(lambda: read() == RECORDS, SECONDS, "all to be committed")  # noqa: B023
            stop(tool)
        assert tool.wait(SECONDS) == code, tool.output()
        copied = [int(row.value or b"") for row in read_all(side.target.bootstrap, topic)]
        if code == 255:
            assert read() <= len(copied) <= BAD
        elif side is ours:
            assert copied == [number for number in range(RECORDS) if number != BAD]
        else:
            assert len(copied) < RECORDS - 1, "the neighbours in its batch are lost, too"
        lines.append(REFUSED.findall(tool.output())[0])
        assert (f"Not sent to topic {topic}: {topic}-0 at offset {BAD}, a record of " in tool.output()) == (
            side is ours
        )
    assert lines[0] == lines[1]


def arrived(side: Side, topic: str) -> int:
    return sum(end_offsets(side.target.bootstrap, topic).values())


def stop(tool: ToolProcess) -> int:
    tool.signal(signal.SIGTERM)
    return tool.wait(SECONDS)
