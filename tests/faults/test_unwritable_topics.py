"""Targets that cannot have a topic, or cannot take its records now: told, and no other topic is held up."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic, delete_topic, end_offsets, leader, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.reports import Progress
from legacy_mm.base.settings import HandlerSettings
from tests.fixtures.clusters import NamedKafka
from tests.fixtures.copying import Copying, Start

pytestmark = [pytest.mark.faults]
OURS = "our_mirror"
PATIENCE = 60.0
RECORDS = 40_000
SMALL = {"buffer.memory": "4000000"}

HANDLER = """
from legacy_mm.handlers.api import MessageHandler

TOPICS = {topics}
HANDLED = []

class Renames(MessageHandler):
    def handle(self, record):
        HANDLED.append(record.offset)
        return [record.to(TOPICS.get(record.topic, record.topic))]
"""


@pytest.fixture(scope="module")
def strict(module_clusters: Callable[..., Cluster]) -> Cluster:
    """Makes no topic by itself."""
    return module_clusters(properties={"auto.create.topics.enable": "false"})


def said(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    found = [record for record in caplog.records if record.event.name == event]  # type: ignore[attr-defined]
    return [record.fields for record in found]  # type: ignore[attr-defined]


def filled(source: NamedKafka, topics: list[str], records: int = RECORDS) -> None:
    for topic in topics:
        create_topic(source.bootstrap, topic, partitions=2)
        load(source.bootstrap, topic, records, 500, partitions=2)


def arrived_of(copying: Copying, topic: str) -> int:
    return sum(offset for place, offset in copying.safe.items() if place.topic == topic)


def arrived(target: NamedKafka | Cluster, topic: str) -> int:
    return sum(end_offsets(target.bootstrap, topic).values())


def test_a_topic_whose_name_collides_waits_alone(
    source: NamedKafka,
    target: NamedKafka,
    topic: Callable[[str], str],
    start_copying: Start,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With a buffer that one topic alone would fill. Once the other topic is gone it goes on."""
    wanted = [f"{topic('col')}.x", *(topic(f"free{number}") for number in range(3))]
    bad, obstacle = wanted[0], wanted[0].replace(".", "_")
    filled(source, wanted)
    create_topic(target.bootstrap, obstacle)
    copying = start_copying(
        source.bootstrap,
        target.bootstrap,
        "",
        2,
        names={name: name for name in wanted},
        producer=SMALL,
    )
    for name in wanted[1:]:
        wait_until(lambda: arrived(target, name) == RECORDS, PATIENCE, f"all of {name}")  # noqa: B023
    copying.wait_safe(3 * RECORDS)
    wait_until(lambda: len(said(caplog, "topics-missing")) >= 4, PATIENCE, "lines in the legacy tool's words")
    assert said(caplog, "topics-missing")[-1]["problems"] == f"{bad}=UNKNOWN_TOPIC_OR_PARTITION"
    wait_until(lambda: said(caplog, "topic-waits"), PATIENCE, "what to do")
    assert copying.of(Progress)[-1].unwritable == {bad: "UNKNOWN_TOPIC_OR_PARTITION"}
    delete_topic(target.bootstrap, obstacle)
    wait_until(lambda: arrived(target, bad) == RECORDS, PATIENCE, "the rest")
    copying.wait_safe(4 * RECORDS)
    wait_until(lambda: copying.of(Progress)[-1].unwritable == {}, PATIENCE, "the end of the trouble")
    assert copying.stop() == {}


def test_what_waits_is_named_at_the_stop(
    source: NamedKafka,
    strict: Cluster,
    topic: Callable[[str], str],
    start_copying: Start,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Brokers that make no topic."""
    target = strict
    there, missing = topic("there"), topic("missing")
    filled(source, [there, missing], 1_000)
    create_topic(target.bootstrap, there, partitions=2)
    names = {there: there, missing: missing}
    copying = start_copying(source.bootstrap, target.bootstrap, "", 2, names=names)
    copying.wait_safe(1_000)
    wait_until(lambda: copying.of(Progress)[-1].unwritable, PATIENCE, "the trouble to be known")
    assert copying.stop() == {}
    assert {place.topic for place in copying.safe} == {there}
    (told,) = said(caplog, "not-copied")
    assert (told["topic"], told["partitions"], told["reason"]) == (missing, 2, "UNKNOWN_TOPIC_OR_PARTITION")


def test_a_partition_that_nobody_leads_keeps_its_own_records_only(
    source: NamedKafka,
    own_clusters: Callable[..., Cluster],
    topic: Callable[[str], str],
    start_copying: Start,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A broker dies that alone has a partition; the buffer would be full of its records many times over."""
    target = own_clusters(brokers=3, properties={"offsets.topic.replication.factor": "3"})
    half, whole = topic("half"), topic("whole")
    filled(source, [half, whole])
    create_topic(target.bootstrap, whole, partitions=2, replication=3)
    create_topic(target.bootstrap, half, partitions=3, replication=1)
    lost = leader(target.bootstrap, half, 0)
    names = {half: half, whole: whole}
    copying = start_copying(source.bootstrap, target.bootstrap, "", 2, names=names, producer=SMALL)
    wait_until(lambda: arrived_of(copying, half) > 0, PATIENCE, "the first records")
    target.brokers[lost - 1].kill()
    load(source.bootstrap, whole, RECORDS, 500, seed=9, partitions=2)
    load(source.bootstrap, half, RECORDS, 500, seed=9, partitions=2)
    wait_until(lambda: arrived_of(copying, whole) == 2 * RECORDS, PATIENCE, "all of the other topic")
    wait_until(lambda: said(caplog, "topic-waits"), PATIENCE, "what to do")
    told = {half: f"{half}-0: it has no leader"}  # at first, perhaps, that its leader is not reached
    wait_until(lambda: copying.of(Progress)[-1].unwritable == told, PATIENCE, f"{told}")
    target.brokers[lost - 1].start()
    copying.wait_safe(4 * RECORDS)
    assert copying.stop() == {}
    there, here = read_all(source.bootstrap, half), read_all(target.bootstrap, half)
    assert same_records(there, here, target_partitions=3) == []


def test_a_topic_that_is_deleted_waits_and_the_other_goes_on(
    source: NamedKafka,
    strict: Cluster,
    topic: Callable[[str], str],
    start_copying: Start,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In the midst of copying, by brokers that make none; made again it gets what is new."""
    gone, stays = topic("gone"), topic("stays")
    filled(source, [gone, stays], 1_000)
    for name in (gone, stays):
        create_topic(strict.bootstrap, name, partitions=2)
    names = {gone: gone, stays: stays}
    copying = start_copying(source.bootstrap, strict.bootstrap, "", 2, names=names, producer=SMALL)
    copying.wait_safe(2_000)
    delete_topic(strict.bootstrap, gone)
    load(source.bootstrap, gone, RECORDS, 500, seed=9, partitions=2)
    wait_until(lambda: gone in copying.of(Progress)[-1].unwritable, PATIENCE, "the trouble to be known")
    load(source.bootstrap, stays, RECORDS, 500, seed=9, partitions=2)
    wait_until(lambda: arrived_of(copying, stays) == RECORDS + 1_000, PATIENCE, "all of the other topic")
    assert said(caplog, "topics-missing")[-1]["problems"] == f"{gone}=UNKNOWN_TOPIC_OR_PARTITION"
    create_topic(strict.bootstrap, gone, partitions=2)
    copying.wait_safe(2 * RECORDS + 2_000)
    assert copying.stop() == {}
    assert arrived(strict, gone) >= RECORDS


def test_a_name_that_renaming_has_made_too_long_waits_alone(
    source: NamedKafka, target: NamedKafka, topic: Callable[[str], str], start_copying: Start
) -> None:
    """The legacy tool renames nothing; with a name of its own it ends with 255, as ours does."""
    long, short = topic("long"), topic("short")
    filled(source, [long, short], 1_000)
    names = {long: "a" * 250, short: short}
    copying = start_copying(source.bootstrap, target.bootstrap, "", 2, names=names)
    copying.wait_safe(1_000)
    wait_until(lambda: copying.of(Progress)[-1].unwritable, PATIENCE, "the trouble to be known")
    assert copying.of(Progress)[-1].unwritable == {"a" * 250: "INVALID_TOPIC_EXCEPTION"}
    assert {place.topic for place in copying.safe} == {short}
    assert copying.stop() == {}


def test_a_missing_topic_that_a_handler_names_waits_alone(
    source: NamedKafka,
    strict: Cluster,
    topic: Callable[[str], str],
    start_copying: Start,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    """With a buffer that its records would fill. Once the topic is there they come, each handled once."""
    diverted, stays, missing = topic("diverted"), topic("stays"), topic("missing")
    filled(source, [diverted, stays])
    create_topic(strict.bootstrap, stays, partitions=2)
    script = tmp_path / f"{missing}.py"
    script.write_text(HANDLER.format(topics={diverted: missing}))
    copying = start_copying(
        source.bootstrap,
        strict.bootstrap,
        "",
        2,
        names={name: name for name in (diverted, stays)},
        producer=SMALL,
        handler=HandlerSettings(str(script)),
    )
    wait_until(lambda: arrived_of(copying, stays) == RECORDS, PATIENCE, "all of the other topic")
    wait_until(lambda: said(caplog, "topic-waits"), PATIENCE, "what to do")
    wait_until(lambda: copying.of(Progress)[-1].unwritable, PATIENCE, "the trouble to be known")
    assert copying.of(Progress)[-1].unwritable == {missing: "UNKNOWN_TOPIC_OR_PARTITION"}
    assert arrived_of(copying, diverted) == 0
    create_topic(strict.bootstrap, missing, partitions=2)
    copying.wait_safe(2 * RECORDS)
    assert copying.stop() == {}
    assert arrived(strict, missing) == RECORDS
    handled = sys.modules[f"legacy_mm_script_{missing}"].HANDLED
    assert len(handled) == 2 * RECORDS, "each record was handled once"
