"""What is committed, and where a run begins, on the real legacy tool and on ours (contract 3.5, 3.7, 7)."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import committed, create_topic, delete_records, end_offsets, read_all
from legacy_mm.audit.load import Loaded, load, load_kinds
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.side_by_side.conftest import Side

pytestmark = pytest.mark.side_by_side
OURS = "our_mirror"
COPIED = 120.0


@pytest.fixture(scope="module")
def kinds(source: Cluster) -> Iterator[list[Loaded]]:
    """Among others: transactions whose topic ends in control records, a compacted topic with holes, an empty topic."""
    yield load_kinds(source.bootstrap, "offsets.")


@pytest.fixture
def filled(source: Cluster, topic: str) -> str:
    """A topic of 40,000 keyed records in four partitions."""
    create_topic(source.bootstrap, topic)
    load(source.bootstrap, topic, 40_000, 100)
    return topic


def arrived(side: Side, topic: str) -> int:
    """Records at this side's target."""
    return sum(end_offsets(side.target.bootstrap, topic).values())


def wait_for(side: Side, topic: str, count: int) -> None:
    """Until this side's target holds this many records of the topic."""
    wait_until(lambda: arrived(side, topic) >= count, COPIED, f"{count} records of {topic} on {side.name}")


def stop(tool: ToolProcess) -> None:
    """A clean stop."""
    tool.signal(signal.SIGTERM)
    assert tool.wait(60) == 143, tool.output()


def assert_equal(side: Side, topic: str) -> None:
    """The target holds exactly the source's records, in the right places and order."""
    there, here = (read_all(cluster.bootstrap, topic) for cluster in (side.source, side.target))
    assert same_records(there, here) == []


def test_committed_offsets_after_sigterm_are_the_old_tool_s(
    old: Side, ours: Side, kinds: list[Loaded], group: str
) -> None:
    """Past the last data record, never past control records or holes; nothing for a partition without records."""
    topics = [kind.topic for kind in kinds]
    outcome = {}
    for side in (old, ours):
        for kind in kinds:
            create_topic(side.target.bootstrap, kind.topic, partitions=kind.partitions)
        own_group = f"{group}-{side.name}"
        counts = {topic: len(read_all(side.source.bootstrap, topic)) for topic in topics}
        tool = side.mirror(own_group, "--whitelist", r"offsets\..*")
        for topic, count in counts.items():
            wait_for(side, topic, count)
        stop(tool)
        outcome[side.name] = committed(side.source.bootstrap, own_group, topics)
    assert outcome["ours"] == outcome["old"]
    assert outcome["old"], "the comparison compared something"


def test_clean_stop_and_restart_without_one_duplicate(side: Side, filled: str, group: str) -> None:
    create_topic(side.target.bootstrap, filled)
    tool = side.mirror(group, "--whitelist", filled)
    wait_until(lambda: arrived(side, filled) > 0, COPIED, "a first record")
    stop(tool)
    assert sum(committed(side.source.bootstrap, group, [filled]).values()) == arrived(side, filled)
    load(side.source.bootstrap, filled, 10_000, 100, seed=8)  # the first run may have copied all there was
    tool = side.mirror(group, "--whitelist", filled)
    wait_for(side, filled, 50_000)
    stop(tool)
    assert_equal(side, filled)


@pytest.mark.parametrize("first", ["old", "ours"])
def test_take_over_in_both_directions(old: Side, ours: Side, filled: str, group: str, first: str) -> None:
    """One tool copies, the other goes on in the same group onto the same target: nothing lost, nothing twice."""
    before, after = (old, ours) if first == "old" else (ours, old)
    after = Side(after.name, after.start, after.source, before.target)
    create_topic(before.target.bootstrap, filled)
    tool = before.mirror(group, "--whitelist", filled)
    wait_for(before, filled, 40_000)
    stop(tool)
    load(before.source.bootstrap, filled, 10_000, 100, seed=8)
    tool = after.mirror(group, "--whitelist", filled)
    wait_for(after, filled, 50_000)
    stop(tool)
    assert_equal(after, filled)
    assert committed(after.source.bootstrap, group, [filled]) == {
        (filled, partition): end for partition, end in end_offsets(after.source.bootstrap, filled).items()
    }


def test_old_and_new_share_one_group(old: Side, ours: Side, filled: str, group: str) -> None:
    """Host by host: a process of ours joins beside the old one, each copies its part, then the old one leaves."""
    together = Side("ours", ours.start, ours.source, old.target)
    create_topic(old.target.bootstrap, filled)
    options = ("--whitelist", filled, "--num.streams", "2", "--offset.commit.interval.ms", "500")
    first = old.mirror(group, *options)
    wait_for(old, filled, 40_000)
    second = together.mirror(group, *options)
    wait_until(lambda: members_of(old, group) == 4, COPIED, "four members")
    load(old.source.bootstrap, filled, 20_000, 100, seed=9)
    wait_for(old, filled, 60_000)
    stop(first)
    load(old.source.bootstrap, filled, 20_000, 100, seed=10)
    wait_for(old, filled, 80_000)
    stop(second)
    assert_equal(together, filled)


def members_of(side: Side, group: str) -> int:
    """Members of the group at the source."""
    from legacy_mm.audit.cluster_access import members

    return members(side.source.bootstrap, group)


def test_latest_copies_only_what_comes_later(side: Side, filled: str, group: str) -> None:
    create_topic(side.target.bootstrap, filled)
    tool = side.mirror(group, "--whitelist", filled, consumer={"auto.offset.reset": "latest"})
    wait_until(lambda: members_of(side, group) == 1, COPIED, "a member")
    sent = 0

    def fed() -> bool:
        """Positions are fixed some time after the join: feed until something arrives."""
        nonlocal sent
        load(side.source.bootstrap, filled, 100, 20, seed=sent)
        sent += 100
        return arrived(side, filled) > 0

    wait_until(fed, COPIED, "a record that came later")
    stop(tool)
    assert 0 < arrived(side, filled) <= sent
    if side.name == "ours":
        assert tool.output().count("Skipped in ") == 4


def test_none_without_a_committed_offset_is_fatal(side: Side, filled: str, group: str) -> None:
    tool = side.mirror(group, "--whitelist", filled, consumer={"auto.offset.reset": "none"})
    assert tool.wait(60) == 255
    assert "Mirror maker thread failure due to" in tool.output()


@pytest.mark.parametrize(
    "reset", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("earliest", "latest")), "none"]
)
def test_an_offset_that_retention_removed(side: Side, filled: str, group: str, reset: str) -> None:
    """The committed offset is not in the log any more: `auto.offset.reset` decides; ours reports the gap besides."""
    create_topic(side.target.bootstrap, filled)
    settings = {"auto.offset.reset": reset}
    tool = side.mirror(group, "--whitelist", filled, consumer={"auto.offset.reset": "earliest"})
    wait_for(side, filled, 40_000)
    stop(tool)
    load(side.source.bootstrap, filled, 4_000, 100, seed=11)
    ends = end_offsets(side.source.bootstrap, filled)
    delete_records(side.source.bootstrap, filled, {p: end - 100 for p, end in ends.items()})
    tool = side.mirror(group, "--whitelist", filled, consumer=settings)
    if reset == "none":
        assert tool.wait(60) == 255, tool.output()
        return
    expected = 400 if reset == "earliest" else 0
    wait_until(lambda: arrived(side, filled) >= 40_000 + expected, COPIED, "what is left")

    def later() -> bool:
        load(side.source.bootstrap, filled, 100, 20, seed=arrived(side, filled))
        return arrived(side, filled) > 40_000 + expected

    wait_until(later, COPIED, "a record that came later")
    stop(tool)
    if side.name == "ours":
        assert "Gap in " in tool.output()
