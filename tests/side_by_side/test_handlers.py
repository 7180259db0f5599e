"""Handler jars on the real legacy tool and on ours, and the same handlers in Python on ours (contract 5.1, 5.3, 5.5).

Several tools run at the same time, each with its own topic of one partition, so that one order exists.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Producer

from compat.laboratory.jars import kafka_jars
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics, members, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.flow.task_limit import usable_cores
from tests.fixtures.handlers import OF_RELEASES
from tests.side_by_side.conftest import Side

pytestmark = pytest.mark.side_by_side
PATIENCE = 90.0
RECORDS = 300
POISON = 250
AT_ONCE = 2


class Sample(NamedTuple):
    """A handler, its arguments, the topics it writes (behind the test's own name), and how the tool ends."""

    name: str
    args: str | None
    topics: tuple[str, ...]
    code: int = 143


HANDLERS = (
    Sample("Rename", "copy-of-", ("copy-of-{}",)),
    Sample("DropTombstones", None, ("{}",)),
    Sample("FanOut", None, ("{}", "{}.archive")),
    Sample("AddHeaders", None, ("{}",)),
    Sample("EveryNth", "3 10", ("{}",)),
    Sample("Picky", None, ("{}",), 255),
)


class Outcome(NamedTuple):
    """What a handler's run left behind."""

    code: int
    targets: Mapping[str, list[tuple[object, ...]]]
    committed: Mapping[tuple[str, int], int]


def fill(bootstrap: str, topic: str, *, poison: bool) -> None:
    """Keyed records with and without value and headers; the last one passes through every sample."""
    create_topic(bootstrap, topic, partitions=1)
    writer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for number in range(RECORDS):
        headers: list[tuple[str, str | bytes | None]] = [("n", b"%d" % number), ("n", None)] if number % 3 else []
        key = b"poison" if poison and number == POISON else b"key-%d" % (number % 17)
        value = None if number % 7 == 0 and number != RECORDS - 1 else b"value-%d" % number
        writer.produce(topic, value, key, headers=headers, timestamp=1_700_000_000_000 + number)
    assert writer.flush(30) == 0


class Order(NamedTuple):
    """What one process of a tool is to do: these samples, by this handler."""

    samples: tuple[Sample, ...]
    handler: str
    args: str | None


def alone() -> list[Order]:
    """A process for each handler."""
    return [Order((each,), f"handlers.{each.name}", each.args) for each in HANDLERS]


def together() -> list[Order]:
    """One process for those that live, one for that which fails."""
    *living, failing = HANDLERS
    args = ";".join(each.name if each.args is None else f"{each.name}={each.args}" for each in living)
    return [Order(tuple(living), "Dispatch", args), Order((failing,), f"handlers.{failing.name}", failing.args)]


def run_all(side: Side, group: str, orders: list[Order], topics: Mapping[str, str]) -> dict[str, Outcome]:
    """What each handler did on this side, two processes at a time."""
    names = {each.name: [name.format(topics[each.name]) for name in each.topics] for each in HANDLERS}
    for name in [name for several in names.values() for name in several]:
        create_topic(side.target.bootstrap, name, partitions=2)
    outcomes: dict[str, Outcome] = {}
    for begin in range(0, len(orders), AT_ONCE):
        several = orders[begin : begin + AT_ONCE]
        tools = [start(side, f"{group}-{order.handler}", order, topics) for order in several]
        for tool, order in zip(tools, several, strict=True):
            outcomes |= ended(side, tool, order, names, f"{group}-{order.handler}")
    return outcomes


def start(side: Side, group: str, order: Order, topics: Mapping[str, str]) -> ToolProcess:
    args = () if order.args is None else ("--message.handler.args", order.args)
    pattern = "|".join(topics[each.name] for each in order.samples)
    return side.mirror(group, "--whitelist", pattern, "--message.handler", order.handler, *args)


def ended(
    side: Side, tool: ToolProcess, order: Order, names: Mapping[str, list[str]], group: str
) -> dict[str, Outcome]:
    """The outcomes of one process: stopped when all has arrived, if it does not end by itself."""
    expected = order.samples[0].code
    if expected == 143:
        done = lambda: all(complete(side, each, names[each.name]) for each in order.samples)  # noqa: E731
        wait_until(lambda: not tool.running() or done(), PATIENCE, f"{order.handler}, all copied")
        tool.signal(signal.SIGTERM)
    assert tool.wait(PATIENCE) == expected, tool.output()
    offsets = committed(side.source.bootstrap, group, list_topics(side.source.bootstrap))
    return {
        each.name: Outcome(expected, {name: contents(side, name) for name in names[each.name]}, offsets)
        for each in order.samples
    }


def contents(side: Side, topic: str) -> list[tuple[object, ...]]:
    """All that counts of a target topic's records."""
    return [(r.partition, r.timestamp, r.key, r.value, r.headers) for r in read_all(side.target.bootstrap, topic)]


def complete(side: Side, sample: Sample, names: list[str]) -> bool:
    """Every sample sends a known number of records for 300."""
    each = {"DropTombstones": RECORDS - 43, "EveryNth": RECORDS // 3}.get(sample.name, RECORDS)
    return all(sum(end_offsets(side.target.bootstrap, name).values()) >= each for name in names)


@pytest.fixture
def topics(old: Side, topic: str) -> dict[str, str]:
    """A filled source topic for each handler."""
    names = {sample.name: f"{topic}-{sample.name}" for sample in HANDLERS}
    for sample, name in names.items():
        fill(old.source.bootstrap, name, poison=sample == "Picky")
    return names


@pytest.mark.parametrize(
    "orders", [together(), pytest.param(alone(), marks=pytest.mark.slow)], ids=["together", "alone"]
)
def test_jars_do_the_same(
    old: Side, ours: Side, topics: dict[str, str], group: str, handler_jars: dict[str, Path], orders: list[Order]
) -> None:
    """Equal contents, exit codes and committed offsets, with jars from CLASSPATH.

    Difference: handler-exceptions-alike. Ours commits what it has copied before its end.
    """
    jars = list(handler_jars.values())
    theirs = run_all(with_jars(old, jars), f"{group}-old", orders, topics)
    mine = run_all(with_jars(ours, jars), f"{group}-ours", orders, topics)
    assert theirs["Picky"].committed == {}
    assert mine["Picky"].committed == {(topics["Picky"], 0): POISON}
    mine["Picky"] = mine["Picky"]._replace(committed={})
    for name, outcome in theirs.items():
        assert mine[name] == outcome, name
        assert all(outcome.targets.values()), name


def with_jars(side: Side, jars: list[Path]) -> Side:
    """The side with these handlers on its CLASSPATH."""
    start = side.start
    return Side(
        side.name,
        lambda consumer, producer, *words: start(consumer, producer, *words, classpath=jars),
        side.source,
        side.target,
    )


def test_a_handler_that_cannot_be_made(
    old: Side, ours: Side, topic: str, group: str, handler_jars: dict[str, Path]
) -> None:
    """Difference: handler-checked-at-start. The same exit code, but the legacy tool joins the group and waits."""
    create_topic(old.source.bootstrap, topic, partitions=1)
    tool = ours.mirror(group, "--whitelist", topic, "--message.handler", "no.such.Handler")
    assert tool.wait(PATIENCE) == 255, tool.output()
    assert "java.lang.ClassNotFoundException: no.such.Handler" in tool.output()
    words = ("--whitelist", topic, "--message.handler", "Odd", "--message.handler.args", "throw")
    names = {side.name: f"{group}-{side.name}" for side in (old, ours)}
    tools = {side.name: with_jars(side, [handler_jars["Odd"]]).mirror(names[side.name], *words) for side in (old, ours)}
    tools["old"].wait_for_output("java.lang.IllegalStateException: no disk", PATIENCE)
    writer = Producer({"bootstrap.servers": old.source.bootstrap, "log_level": 0})
    writer.produce(topic, b"x")
    assert writer.flush(30) == 0
    for name, process in tools.items():
        assert process.wait(PATIENCE) == 255, process.output()
        assert committed(old.source.bootstrap, names[name], [topic]) == {}
    (line,) = (line for line in tools["ours"].output().splitlines() if "no disk" in line)
    assert "Odd cannot be made: java.lang.IllegalStateException: no disk" in line
    assert "Traceback" not in tools["ours"].output()


def said_so_often(tool: ToolProcess, line: str) -> bool:
    """Once for each record."""
    return tool.output().count(line) >= RECORDS


DEAD_LINES = {
    "replication.policy.class": "com.acme.TopicRemappingPolicy",
    "replication.policy.separator": '"_"',
    "source.cluster.alias": "",
    "sync.topics.configs.enabled": "true",
    "refresh.topics.interval.seconds": "10 # why",
}


def test_a_topic_that_cannot_be(old: Side, ours: Side, topic: str, group: str, handler_jars: dict[str, Path]) -> None:
    """Difference: handler-names-checked. The same ends; and dead lines of MirrorMaker 2 in the producer's file change
    nothing, neither here nor there.
    """
    fill(old.source.bootstrap, topic, poison=False)
    told = f"Error when sending message to topic not a topic {topic}"
    for abort, code, left in (("true", 255, {}), ("false", 143, {(topic, 0): RECORDS})):
        handler = ("--message.handler", "handlers.Rename", "--message.handler.args", "not a topic ")
        for side in (old, ours):
            name = f"{group}-{side.name}-{abort}"
            words = ("--whitelist", topic, *handler, "--abort.on.send.failure", abort)
            tool = with_jars(side, list(handler_jars.values())).mirror(name, *words, producer=DEAD_LINES)
            if code == 143:
                wait_until(partial(said_so_often, tool, told), PATIENCE, "a line for each record")
                tool.signal(signal.SIGTERM)
            assert tool.wait(PATIENCE) == code, tool.output()
            assert committed(side.source.bootstrap, name, [topic]) == left, side.name
            if side is ours:
                assert "No feature is on, so the flags in the clients' files have no effect" in tool.output()


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_RELEASES)
def test_handlers_of_old_releases(
    old: Side, ours: Side, topic: str, group: str, release_jars: dict[str, Path], name: str
) -> None:
    """The same jar on the last legacy tool, and on ours with the jars of the release that it was compiled for."""
    fill(old.source.bootstrap, topic, poison=False)
    words = ("--whitelist", topic, "--message.handler", name, "--message.handler.args", "copy-of-")
    class_path = f"{release_jars[name]}:{kafka_jars(OF_RELEASES[name])}/*"
    expected = {"Of09": RECORDS - 43, "Of010": RECORDS}[name]
    written = f"copy-of-{topic}"
    theirs = copied(with_jars(old, [release_jars[name]]), f"{group}-old", written, expected, words)
    mine = copied(ours, f"{group}-ours", written, expected, (*words, "--handler.classpath", class_path))
    if name == "Of09":  # its records have no timestamps: each tool's are of the time of sending
        theirs, mine = ([(place, 0, *rest) for place, _, *rest in several] for several in (theirs, mine))
    assert mine == theirs


@pytest.mark.slow
def test_static_state(side: Side, topic: str, group: str, handler_jars: dict[str, Path]) -> None:
    """Difference: handler-for-each-job. Two streams with a partition each: one count for both, or one for each."""
    for cluster in (side.source, side.target):
        create_topic(cluster.bootstrap, topic, partitions=2)
    words = ("--whitelist", topic, "--num.streams", "2", "--message.handler", "Counter")
    tool = with_jars(side, [handler_jars["Counter"]]).mirror(group, *words)
    wait_until(lambda: members(side.source.bootstrap, group) == 2, PATIENCE, "both streams")
    load(side.source.bootstrap, topic, RECORDS, 100, partitions=2)
    wait_until(lambda: sum(end_offsets(side.target.bootstrap, topic).values()) >= RECORDS, PATIENCE, "all copied")
    tool.signal(signal.SIGTERM)
    assert tool.wait(PATIENCE) == 143, tool.output()
    sizes = end_offsets(side.source.bootstrap, topic).values()
    assert min(sizes) > 0
    in_one = side.name == "old" or usable_cores() == 1  # ours has a process for each core
    numbers = [range(1, size + 1) for size in ([RECORDS] if in_one else sizes)]
    counted = sorted(int(record.value or b"") for record in read_all(side.target.bootstrap, topic))
    assert counted == sorted(chain.from_iterable(numbers))


@pytest.mark.parametrize("code", [0, 7])
def test_a_handler_that_ends_its_program(
    side: Side, handler_jars: dict[str, Path], topic: str, group: str, code: int
) -> None:
    """A way to copy a bounded topic: what the handler has seen is sent and committed, and its code is the tool's."""
    for cluster in (side.source, side.target):
        create_topic(cluster.bootstrap, topic, partitions=1)
    load(side.source.bootstrap, topic, RECORDS, 100, partitions=1)
    words = ("--whitelist", topic, "--message.handler", "Enough", "--message.handler.args", f"{RECORDS} {code} aside")
    tool = with_jars(side, [handler_jars["Enough"]]).mirror(group, *words)
    assert tool.wait(PATIENCE) == code, tool.output()
    assert sum(end_offsets(side.target.bootstrap, topic).values()) == RECORDS
    assert committed(side.source.bootstrap, group, [topic]) == {(topic, 0): RECORDS}


SCRIPT = """
import sys

seen = 0

def handle(record):
    global seen
    seen += 1
    if seen > {enough}:
        sys.exit({code})
    return [record.to(record.topic)]
"""


@pytest.mark.parametrize("how", ["jar", "script"])
def test_a_handler_that_ends_its_program_in_its_own_thread(
    how: str, ours: Side, handler_jars: dict[str, Path], topic: str, group: str, tmp_path: Path
) -> None:
    """The legacy tool hangs there for ever and keeps its partitions; ours ends, with what was safe committed."""
    for cluster in (ours.source, ours.target):
        create_topic(cluster.bootstrap, topic, partitions=1)
    load(ours.source.bootstrap, topic, RECORDS, 100, partitions=1)
    if how == "jar":
        args = ("--message.handler", "Enough", "--message.handler.args", f"{RECORDS + 1} 7 here")
        tool = with_jars(ours, [handler_jars["Enough"]]).mirror(group, "--whitelist", topic, *args)
    else:
        script = tmp_path / "enough.py"
        script.write_text(SCRIPT.format(enough=RECORDS, code=7))
        tool = ours.mirror(group, "--whitelist", topic, "--message.handler", str(script))
    arrived = lambda: sum(end_offsets(ours.target.bootstrap, topic).values())  # noqa: E731
    wait_until(lambda: arrived() == RECORDS, PATIENCE, "all copied")
    writer = Producer({"bootstrap.servers": ours.source.bootstrap, "log_level": 0})
    writer.produce(topic, b"one more")
    assert writer.flush(30) == 0
    assert tool.wait(PATIENCE) == 7, tool.output()
    assert arrived() == RECORDS
    assert committed(ours.source.bootstrap, group, [topic]) == {(topic, 0): RECORDS}


def copied(side: Side, group: str, written: str, expected: int, words: tuple[str, ...]) -> list[tuple[object, ...]]:
    """The target topic's contents when the tool has written so many records and was stopped."""
    create_topic(side.target.bootstrap, written, partitions=2)
    tool = side.mirror(group, *words)
    count = lambda: sum(end_offsets(side.target.bootstrap, written).values())  # noqa: E731
    wait_until(lambda: not tool.running() or count() >= expected, PATIENCE, f"all copied by {side.name}")
    tool.signal(signal.SIGTERM)
    assert tool.wait(PATIENCE) == 143, tool.output()
    assert count() == expected
    return contents(side, written)
