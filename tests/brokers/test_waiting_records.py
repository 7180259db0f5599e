"""A refused record holds its partition up and nothing else, copies nothing again, and goes on once it is taken."""

from __future__ import annotations

import logging
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.tools import our_driver
from compat.laboratory.topic_state import override
from legacy_mm.audit.cluster_access import create_topic, end_offsets, read_all
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Progress
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.policies import growing_pauses
from tests.fixtures.copying import PATIENCE, Copying, Start
from tests.fixtures.driver_files import driver_file
from tests.fixtures.offsets import stored_positions
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
RECORDS, BAD, PARTITIONS = 60, 21, 2
LARGE = 1_500_000
"""More than our client's `max.request.size`."""


@pytest.fixture
def name(topic: Callable[[], str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> str:
    monkeypatch.setattr(growing_pauses, "_FIRST", 0.2)
    caplog.set_level(logging.INFO, "legacy_mm")
    return topic()


def write(source: Any, target: Any, name: str, bad: dict[str, Any], limits: Mapping[str, str]) -> None:
    """The same records in each partition, one of partition 0 otherwise; the target has these limits."""
    anything = {"max.message.bytes": "5000000", "message.timestamp.after.max.ms": str(2**63 - 1)}
    create_topic(source.bootstrap, name, PARTITIONS, config=anything)
    create_topic(target.bootstrap, name, PARTITIONS, config=dict(limits))
    writer = Producer({"bootstrap.servers": source.bootstrap, "linger.ms": 200, "message.max.bytes": 5_000_000})
    for number in range(RECORDS):
        for partition in range(PARTITIONS):
            odd = bad if (number, partition) == (BAD, 0) else {}
            writer.produce(name, partition=partition, **{"value": b"%d" % number, **odd})
    assert writer.flush(30) == 0


def start(start_copying: Start, source: Any, target: Any, name: str) -> Copying:
    return start_copying(
        source.bootstrap, target.bootstrap, name, PARTITIONS, keeps_partition=[name], records_may_wait=True
    )


def ends(target: Any, name: str) -> list[int]:
    return [end for _, end in sorted(end_offsets(target.bootstrap, name).items())]


KINDS: Mapping[str, tuple[dict[str, Any], dict[str, str], dict[str, str], str]] = {
    "from the future": (
        {"value": b"x", "timestamp": epoch_ms() + 7_200_000},
        {"message.timestamp.after.max.ms": "3600000"},
        {"message.timestamp.after.max.ms": "9223372036854775807"},
        "message.timestamp.after.max.ms",
    ),
    "too large": (
        {"value": bytes(LARGE)},
        {"max.message.bytes": "1000000"},
        {"max.message.bytes": "5000000"},
        "raise max.message.bytes of topic ",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_waits_alone_and_goes_on_in_order(
    source: Any, target: Any, name: str, start_copying: Start, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    bad, limits, mended, remedy = KINDS[kind]
    write(source, target, name, bad, limits)
    copying = start(start_copying, source, target, name)
    wait_until(lambda: copying.over() or ends(target, name) == [BAD, RECORDS], PATIENCE, "all that can be copied")
    assert copying.error is None
    line = f"The target does not take {name}-0 at offset {BAD}, a record of 20"
    wait_until(lambda: caplog.text.count(line) > 2, PATIENCE, "several tries")
    assert remedy in caplog.text
    wait_until(lambda: copying.safe.get(TopicPartition(name, 0)) == BAD, PATIENCE, "what is before it to be safe")
    assert ends(target, name) == [BAD, RECORDS], "nothing is copied again, or past it"
    assert any(f"{name}-0 waits at offset {BAD}" in why for why in copying.of(Progress)[-1].unwritable.values())
    override(target.bootstrap, name, mended)
    copying.wait_safe(2 * RECORDS)
    assert f"The target has {name}-0 at offset {BAD} now" in caplog.text
    assert copying.stop() == {}
    assert same_records(read_all(source.bootstrap, name), read_all(target.bootstrap, name)) == []
    assert copying.dropped() == 0


def test_a_stop_does_not_wait_for_it_and_the_next_job_begins_at_it(
    source: Any, target: Any, name: str, start_copying: Start
) -> None:
    """Nothing comes twice."""
    bad, limits, mended, _ = KINDS["too large"]
    write(source, target, name, bad, limits)
    copying = start(start_copying, source, target, name)
    wait_until(lambda: copying.over() or ends(target, name) == [BAD, RECORDS], PATIENCE, "all that can be copied")
    assert copying.error is None
    held, other = (TopicPartition(name, number) for number in range(PARTITIONS))
    wait_until(lambda: copying.safe.get(other) == RECORDS, PATIENCE, "the other partition to be safe")
    copying.stop(PATIENCE)
    assert copying.error is None
    assert copying.safe[held] == BAD
    override(target.bootstrap, name, mended)
    again = start_copying(
        source.bootstrap,
        target.bootstrap,
        name,
        PARTITIONS,
        begin={**dict.fromkeys(copying.config.offsets, 0), **copying.safe},
        keeps_partition=[name],
        records_may_wait=True,
    )
    wait_until(lambda: ends(target, name)[0] >= RECORDS, PATIENCE, "the rest")
    assert again.stop() == {}
    assert same_records(read_all(source.bootstrap, name), read_all(target.bootstrap, name)) == []


PICKY = """
from pathlib import Path

def handle(record):
    if record.value == b"bad" and not Path({mended!r}).exists():
        raise ValueError("is bad")
    return [record.to(record.topic)._replace(partition=record.partition)]
"""


def test_a_record_on_which_a_handler_fails_waits_alone(
    source: Any, target: Any, name: str, start_copying: Start, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    write(source, target, name, {"value": b"bad", "timestamp": 1_700_000_000_000}, {})
    script, mended = tmp_path / f"{name}.py", tmp_path / "mended"
    script.write_text(PICKY.format(mended=str(mended)))
    copying = start_copying(
        source.bootstrap,
        target.bootstrap,
        name,
        PARTITIONS,
        keeps_partition=[name],
        records_may_wait=True,
        handler=HandlerSettings(str(script)),
    )
    wait_until(lambda: copying.over() or ends(target, name) == [BAD, RECORDS], PATIENCE, "all that can be copied")
    line = (
        f"{name}-0 waits at offset {BAD}, a record of 2023-11-14 22:13:20 UTC: the message handler failed on {name}-0 "
        f"at offset {BAD}: ValueError: is bad"
    )
    wait_until(lambda: copying.over() or caplog.text.count(line) > 2, PATIENCE, "several tries")
    assert copying.error is None
    assert ends(target, name) == [BAD, RECORDS], "nothing is copied again, or past it"
    held = TopicPartition(name, 0)
    wait_until(lambda: copying.safe.get(held) == BAD, PATIENCE, "what is before it to be safe")
    assert copying.of(Progress)[-1].unwritable.keys() == {name}
    mended.touch()
    copying.wait_safe(2 * RECORDS)
    assert f"{name}-0 goes on at offset {BAD}" in caplog.text
    assert copying.stop() == {}
    assert same_records(read_all(source.bootstrap, name), read_all(target.bootstrap, name)) == []


def copied(target: Any, name: str) -> list[int]:
    """What a committed reader has of each partition."""
    found = Counter(each.partition for each in read_all(target.bootstrap, name, isolation="read_committed"))
    return [found[number] for number in range(PARTITIONS)]


@pytest.mark.parametrize("once", ["false", "true"], ids=["at least once", "exactly once"])
def test_transforms_that_fail_on_one_record(
    source: Any, target: Any, topic: Callable[[str], str], warm_driver: Callable[..., WarmMirror], once: str
) -> None:
    """In MirrorMaker 2's file; what comes meanwhile is copied, and a later start repeats nothing."""
    name = topic("masked")
    write(source, target, name, {"value": b"bad", "headers": [("bad", b"")]}, {})
    package, alias = "org.apache.kafka.connect.transforms", f"S{name}"
    lines = {
        "transforms": "m",
        "transforms.m.type": f"{package}.MaskField$Value",
        "transforms.m.fields": "f",
        "transforms.m.predicate": "h",
        "predicates": "h",
        "predicates.h.type": f"{package}.predicates.HasHeaderKey",
        "predicates.h.name": "bad",
        "topics": name,
        "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
    }
    file = driver_file(
        {alias: source, f"T{name}": target},
        **{f"{alias}->T{name}.enabled": "true", f"{alias}->T{name}.exactly.once": once},
        **{f"{alias}->T{name}.{key}": text for key, text in lines.items()},
    )
    node = warm_driver(file)
    wait_until(lambda: copied(target, name) == [BAD, RECORDS], PATIENCE, "all that can be copied")
    line = f"{name}-0 waits at offset {BAD}, a record of 20"
    wait_until(lambda: node.output().count(line) == 2, PATIENCE, "the second try")
    assert "starts again in" not in node.output(), "the flow goes on"
    writer = Producer({"bootstrap.servers": source.bootstrap})
    writer.produce(name, b"later", partition=1)
    assert writer.flush(30) == 0
    wait_until(lambda: copied(target, name) == [BAD, RECORDS + 1], PATIENCE, "what came meanwhile")
    for again in ({}, {f"{alias}->T{name}.errors.tolerance": "all"}):
        node.signal(signal.SIGTERM)
        assert node.wait(PATIENCE) == 128 + signal.SIGTERM, node.output()
        assert copied(target, name) == [BAD, RECORDS + 1]
        node = warm_driver(file | again)
    wait_until(lambda: copied(target, name) == [RECORDS - 1, RECORDS + 1], PATIENCE, "all but that one")
    node.signal(signal.SIGTERM)
    assert node.wait(PATIENCE) == 128 + signal.SIGTERM, node.output()


def test_a_node_that_is_killed_while_a_record_waits(
    source: Any, target: Any, topic: Callable[[str], str], tmp_path: Path
) -> None:
    """The node that is started in its place waits at the same record, and copies nothing again."""
    name = topic("held")
    alias, (bad, limits, mended, _) = f"S{name}", KINDS["from the future"]
    write(source, target, name, bad, limits)
    file = driver_file(
        {alias: source, f"T{name}": target},
        **{f"{alias}->T{name}.enabled": "true", f"{alias}->T{name}.topics": name},
        **{"replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"},
        **{"sync.topic.configs.enabled": "false"},
    )
    line = f"The target does not take {name}-0 at offset {BAD}, a record of 20"
    with our_driver(tmp_path / "killed", file) as killed:
        killed.wait_for_output(line, PATIENCE)
        kept = {0: BAD, 1: RECORDS}
        wait_until(lambda: stored_positions(target, alias, name) == kept, PATIENCE, "the positions to be stored")
        killed.signal(signal.SIGKILL)
        with our_driver(tmp_path / "next", file) as node:
            node.wait_for_output(line, PATIENCE)
            assert ends(target, name) == [BAD, RECORDS], "nothing is copied again, or past it"
            override(target.bootstrap, name, mended)
            wait_until(lambda: ends(target, name)[0] >= RECORDS, PATIENCE, "the rest")
            node.signal(signal.SIGTERM)
            assert node.wait(PATIENCE) == 128 + signal.SIGTERM, node.output()
    assert same_records(read_all(source.bootstrap, name), read_all(target.bootstrap, name)) == []
