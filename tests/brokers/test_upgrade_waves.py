"""What `bin/demo upgrade` notices when copies are not as they ought to be: a mirror that is played by the test."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from compat.laboratory.demo_data import TopicRow
from compat.laboratory.upgrade_waves import PATH, Rules, Waves
from legacy_mm.audit.cluster_access import create_topic, read_all

pytestmark = [pytest.mark.brokers, pytest.mark.slow]
RULES = Rules("west.", keeps_partitions=True, path="west")


@pytest.fixture
def waves(source: Cluster, target: Cluster, topic: Callable[..., str]) -> Waves:
    """One topic, and two for its copies."""
    row = TopicRow(topic("wave"), True, 2, 0, keys=5, value_bytes=20, compression_type="none", headers=("trace",))
    create_topic(source.bootstrap, row.name, row.partitions)
    for copy in (row.name, f"west.{row.name}"):
        create_topic(target.bootstrap, copy, row.partitions)
    return Waves(source.bootstrap, target.bootstrap, [row])


def mirror(waves: Waves, *, path: bytes = b"west", move: int = 0) -> None:
    """Copy the last wave by its rules; `path`: what stands in the header, `move`: to how many partitions further."""
    (wave,) = waves.last()
    writer = Producer({"bootstrap.servers": waves.target, "log_level": 0})
    for record in read_all(waves.source, wave.row.name):
        if record.offset >= wave.source[0].get(record.partition, 0):
            headers: list[tuple[str, str | bytes | None]] = list(record.headers)
            headers += [(PATH, path)] if wave.rules.path else []
            place = (record.partition + move) % wave.row.partitions
            writer.produce(wave.copy, record.value, record.key, place, timestamp=record.timestamp, headers=headers)
    assert writer.flush(30) == 0


def test_all_waves_together_are_the_source(waves: Waves) -> None:
    (row,) = waves.rows
    for rules in (Rules(), RULES, Rules()):
        expected = waves.write({row.name: 20}, rules)
        assert [(name, each.records) for name, each in expected.items()] == [(rules.prefix + row.name, 20)]
        mirror(waves)
        assert waves.differences() == []
    result = waves.result(row)
    assert (result.right, result.source.records) == (True, 60)
    mirror(waves)
    (line,) = waves.result(row).differences
    assert line == f"{row.name} at the target: 60 records, of which 40 came in these waves"


def test_a_wave_that_is_not_as_its_rules_say(waves: Waves) -> None:
    (row,) = waves.rows
    waves.write({row.name: 20}, RULES)
    mirror(waves, path=b"east")
    assert f"west.{row.name}: 20 records without {PATH}=west" in waves.differences()
    waves.write({row.name: 20}, Rules())
    mirror(waves, move=1)
    assert f"{row.name}: 20 records in the wrong partition" in waves.differences()
    waves.write({row.name: 20}, Rules())
    assert f"{row.name}: 20 records missing" in waves.differences()[0]
