"""The lines that the legacy tool's own loggers print, on the real legacy tool and on ours (contract 6.1, 4.4)."""

from __future__ import annotations

import re
import signal
from typing import NamedTuple

import pytest

from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.side_by_side.conftest import Side

pytestmark = pytest.mark.side_by_side
PATIENCE = 60.0
_LINE = re.compile(
    r"^\[[^\]]+\] (?P<level>[A-Z]+) (?P<text>.*) "
    r"\((?P<logger>kafka\.tools\.MirrorMaker\$(?:MirrorMakerThread)?|[\w.]+ErrorLoggingCallback)\)$"
)
THREAD = re.compile(r"\[mirrormaker-thread-(\d)\] ")
OVER = "Mirror maker thread shutdown complete"


class Line(NamedTuple):
    """What a log scraper sees."""

    level: str
    text: str
    logger: str
    below: str
    """The first line that follows and is no log line: an exception."""


def lines(tool: ToolProcess) -> list[Line]:
    """Lines of the tool's own loggers; not the WARN `null` of a wake-up, which the legacy tool prints by accident."""
    printed = tool.output().splitlines()
    found = []
    for line, following in zip(printed, [*printed[1:], ""], strict=True):
        if match := _LINE.match(line):
            below = "" if following.startswith(("[", "WARNING")) else following
            found.append(Line(match["level"], match["text"], match["logger"], below))
    return [line for line in found if not line.text.endswith("] null")]


def in_order(found: list[Line]) -> list[Line]:
    """Without the line that two of the legacy tool's threads print, each when it gets to it (one of them perhaps after
    the producer is closed), and without repetitions: closing its consumer makes it say that it skips the commit.
    """
    return list(dict.fromkeys(line for line in found if OVER not in line.text))


def lives(found: list[Line]) -> dict[str, list[Line]]:
    """What the main thread ("") and each stream's ("0", "1") said: their lines mix, those of one are in order."""
    told: dict[str, list[Line]] = {}
    for line in in_order(found):
        match = THREAD.match(line.text)
        told.setdefault(match[1] if match else "", []).append(line)
    return told


def start(side: Side, group: str, topic: str, *options: str, level: str = "INFO") -> ToolProcess:
    return side.start(
        {"bootstrap.servers": side.source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": side.target.bootstrap},
        "--whitelist",
        topic,
        *options,
        log_level=level,
    )


def copied_and_stopped(side: Side, group: str, topic: str, *options: str) -> ToolProcess:
    create_topic(side.target.bootstrap, topic)
    tool = start(side, f"{group}-{side.name}", topic, *options)
    arrived = lambda: sum(end_offsets(side.target.bootstrap, topic).values()) >= 400  # noqa: E731
    wait_until(arrived, PATIENCE, f"400 records on {side.name}")
    tool.signal(signal.SIGTERM)
    assert tool.wait(PATIENCE) == 143, tool.output()
    return tool


def test_clean_start_and_stop(old: Side, ours: Side, topic: str, group: str) -> None:
    create_topic(old.source.bootstrap, topic)
    load(old.source.bootstrap, topic, 400, 100)
    theirs, mine = (lines(copied_and_stopped(side, group, topic)) for side in (old, ours))
    assert lives(mine) == lives(theirs)
    assert len(in_order(theirs)) == 12
    for found in (theirs, mine):
        texts = [line.text for line in found]
        over = next(number for number, text in enumerate(texts) if OVER in text)
        assert texts.index("Shutting down consumer threads.") < over < texts.index("Closing producer.")


def test_each_of_two_streams_tells_its_own_life(old: Side, ours: Side, topic: str, group: str) -> None:
    create_topic(old.source.bootstrap, topic)
    load(old.source.bootstrap, topic, 400, 100)
    theirs, mine = (lives(lines(copied_and_stopped(side, group, topic, "--num.streams", "2"))) for side in (old, ours))
    assert mine == theirs
    assert theirs.keys() == {"", "0", "1"}


@pytest.mark.parametrize("level", ["INFO", pytest.param("WARN", marks=pytest.mark.slow)])
def test_a_record_that_is_too_large_ends_the_mirror(old: Side, ours: Side, topic: str, group: str, level: str) -> None:
    """Difference: commits-at-a-send-failure."""
    create_topic(old.source.bootstrap, topic)
    load(old.source.bootstrap, topic, 1, 4_000)
    outcome = []
    for side in (old, ours):
        create_topic(side.target.bootstrap, topic, config={"max.message.bytes": "1000"})
        tool = start(side, f"{group}-{side.name}", topic, level=level)
        assert tool.wait(PATIENCE) == 255, tool.output()
        outcome.append(in_order(lines(tool)))
    skipped = [line for line in outcome[0] if line.text == "Exiting on send failure, skip committing offsets."]
    assert outcome[1] == [line for line in outcome[0] if line not in skipped]
    assert len(skipped) == (level == "INFO")
    assert any("RecordTooLargeException" in line.below for line in outcome[0])


def test_a_start_without_committed_offsets_names_where_it_begins(side: Side, topic: str, group: str) -> None:
    """Kafka's own system tests wait for this line."""
    create_topic(side.source.bootstrap, topic, partitions=1)
    load(side.source.bootstrap, topic, 1, 100, partitions=1)
    tool = start(side, group, topic)
    tool.wait_for_output(f"Resetting offset for partition {topic}-0 to position FetchPosition{{offset=0", PATIENCE)
    tool.signal(signal.SIGTERM)
    assert tool.wait(PATIENCE) == 143
    line = next(line for line in tool.output().splitlines() if "Resetting offset" in line)
    assert f"[Consumer clientId={group}-0, groupId={group}] Resetting offset" in line
    assert line.endswith(" (org.apache.kafka.clients.consumer.internals.SubscriptionState)")
    assert (
        f"INFO [Consumer clientId={group}-0, groupId={group}] Subscribed to pattern: '{topic}' "
        "(org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer)\n"
    ) in tool.output()
