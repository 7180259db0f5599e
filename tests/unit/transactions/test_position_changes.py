"""Positions that a person changes, where transactions always commit; `tests/brokers` has real ones."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, StreamFailure, Undecided
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.flow import position_book
from legacy_mm.transactions import exactly_once_start as exactly_once
from legacy_mm.transactions import position_changes as module
from legacy_mm.transactions.bundle import BUNDLES, Bundle, bundle_of
from legacy_mm.transactions.bundle_owner import BundleContents, LogRow
from legacy_mm.transactions.bundle_settings import flow_bundles
from legacy_mm.transactions.evidence import mark
from legacy_mm.transactions.position_changes import Changed, PositionChanges
from legacy_mm.transactions.position_records import (
    FlowRecord,
    PositionsRecord,
    SourcePosition,
    encode_position,
    read_bundle,
)
from tests.fakes.groups import OneGroup
from tests.unit.flow_settings import flow_settings

P = TopicPartition("t", 0)
SETTINGS = flow_settings()
FLOW = flow_bundles(SETTINGS)
OURS = mark(FLOW.positions_topic)
STANDING = SourcePosition(9, 4, "id", "source", 0)


class Bench:
    """The group of a flow, its positions topic, and the commands."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.group = OneGroup("source", {})
        self._log: defaultdict[TopicPartition, list[LogRow]] = defaultdict(list)
        self.record: FlowRecord | None = FlowRecord(BUNDLES, "source", 0)
        self.allows = {"transaction.max.timeout.ms": "60000"}
        self.made: list[str] = []
        cluster = SimpleNamespace(
            cluster_id=lambda _: "source",
            topics=lambda _: {FLOW.positions_topic: "id"},
            broker_properties=lambda _: self.allows,
        )
        monkeypatch.setattr(position_book, "GroupAdmin", lambda *_: self.group)
        monkeypatch.setattr(module, "NativeAdmin", lambda *_: cluster)
        monkeypatch.setattr(module, "NativeTopicLister", lambda *_: SimpleNamespace(topics=lambda: {"t": "id"}))
        monkeypatch.setattr(module, "BundleRuns", lambda *_: SimpleNamespace(run=self.run, close=lambda: None))
        for name in ("claim_flow", "require_topic"):
            monkeypatch.setattr(module, name, lambda *_, name=name: self.made.append(name))
        for place in (module, exactly_once):
            monkeypatch.setattr(place, "flow_record", lambda *_: self.record)
        monkeypatch.setattr(module, "positions", lambda *_: self.positions())
        self.changes = PositionChanges(SETTINGS, Deadline.after(10))

    def run(self, bundle: Bundle, contents: BundleContents, deadline: Deadline) -> None:
        """A transaction of the bundle's owner."""
        _, wanted = contents.decide_positions(self._log[bundle.positions])
        self.write(bundle.positions, *contents.position_records(wanted))

    def write(self, place: TopicPartition, *records: PositionsRecord) -> None:
        rows = self._log[place]
        rows += [(len(rows) + number, *record) for number, record in enumerate(records)]

    def stands(self, position: SourcePosition, offset: int) -> None:
        """Exactly once has moved the position of P, and the group to this offset."""
        self.write(FLOW.bundle(bundle_of(P, BUNDLES)).positions, encode_position(P, position))
        self.group.held[P] = CommittedOffset(offset, OURS)

    def positions(self) -> dict[TopicPartition, SourcePosition]:
        found: dict[TopicPartition, SourcePosition] = {}
        for place, rows in self._log.items():
            found |= read_bundle(place, BUNDLES, rows).positions
        return found


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_a_position_that_is_set_is_the_group_s_offset_too(bench: Bench) -> None:
    bench.stands(STANDING, 5)
    assert bench.changes.move({P: 7}) == Changed({P: 7}, {P: STANDING})
    assert bench.group.held == {P: CommittedOffset(7)}
    (row,) = bench.changes.rows()
    assert row.position is not None
    assert (row.position.next, row.offset, row.doubt) == (7, 7, "")


def test_what_is_retired_goes_on_by_the_group_s_offset(bench: Bench) -> None:
    bench.stands(STANDING, 5)
    assert bench.changes.retire().offsets == {P: 9}
    assert bench.group.held == {P: CommittedOffset(9)}
    assert bench.positions()[P].retired
    assert bench.changes.retire().offsets == {}, "it is retired"


def test_retired_positions_count_where_exactly_once_has_committed_since(bench: Bench) -> None:
    """It was started again after the first command, and killed between its two commits."""
    bench.stands(STANDING._replace(retired=True), 12)
    assert bench.changes.retire().offsets == {P: 9}
    assert bench.group.held == {P: CommittedOffset(9)}


@pytest.mark.parametrize("command", ["adopt", "retire"])
def test_nothing_is_changed_beside_a_running_mirror(bench: Bench, command: str) -> None:
    bench.stands(STANDING, 5)
    bench.group.state, bench.group.using = "Stable", ("one",)
    with pytest.raises(HostError, match=r"group g is Stable: stop its members first.* \(one\)"):
        getattr(bench.changes, command)()
    assert bench.positions() == {P: STANDING}


def test_no_position_moves_where_the_group_refuses_its_offset(bench: Bench) -> None:
    bench.stands(STANDING, 5)
    bench.group.refuses = "TOPIC_AUTHORIZATION_FAILED"
    with pytest.raises(HostError, match="group g cannot be committed: TOPIC_AUTHORIZATION_FAILED"):
        bench.changes.move({P: 7})
    assert bench.positions() == {P: STANDING}


@pytest.mark.parametrize("command", ["adopt", "retire"])
def test_positions_of_another_source_are_left_alone(bench: Bench, command: str) -> None:
    """The command line names the source of another mirror, which may be alive."""
    bench.stands(STANDING._replace(cluster="first"), 5)
    bench.record = FlowRecord(BUNDLES, "first", 0)
    before, held = bench.positions(), dict(bench.group.held)
    with pytest.raises(Undecided, match=r"^nothing was changed: .* of source cluster first, and this is source: give "):
        getattr(bench.changes, command)()
    assert (bench.positions(), bench.group.held, bench.made) == (before, held, [])


@pytest.mark.parametrize(
    ("position", "why"),
    [
        (STANDING._replace(cluster="first"), "is of source cluster first, and this is source"),
        (
            STANDING._replace(topic_id="before"),
            "the topic was made anew; legacy-mm exactly-once move sets the position",
        ),
    ],
)
def test_positions_of_another_topic_are_not_retired(bench: Bench, position: SourcePosition, why: str) -> None:
    """The record may be ours: the topic was deleted and made anew since, or a cluster was replaced in part."""
    bench.stands(position, 5)
    held = dict(bench.group.held)
    with pytest.raises(Undecided, match=f"^t-0: .*{why}.*; nothing was changed$"):
        bench.changes.retire()
    assert (bench.positions(), bench.group.held) == ({P: position}, held)


def test_what_was_retired_before_the_topic_was_made_anew_does_not_matter(bench: Bench) -> None:
    bench.stands(STANDING._replace(topic_id="before", retired=True), 5)
    bench.group.held[P] = CommittedOffset(5)
    assert bench.changes.retire().offsets == {}


def test_a_cluster_that_is_named_as_replaced_hands_its_positions_over(bench: Bench) -> None:
    bench.stands(STANDING._replace(cluster="first"), 5)
    bench.record = FlowRecord(BUNDLES, "first", 0)
    changed = bench.changes.adopt("first")
    assert (changed.offsets, changed.replaced) == ({P: 5}, "first")
    assert changed.before[P].cluster == "first"
    assert (bench.positions()[P].next, bench.positions()[P].cluster) == (5, "source")


def test_without_offsets_nothing_is_adopted_and_nothing_changes_hands(bench: Bench) -> None:
    bench.record = FlowRecord(BUNDLES, "first", 0)
    assert bench.changes.adopt("first") == Changed({}, {})
    assert bench.made == []


@pytest.mark.parametrize("command", ["adopt", "retire"])
def test_a_target_that_allows_no_such_transaction_is_left_as_it_is(bench: Bench, command: str) -> None:
    bench.stands(STANDING, 5)
    bench.allows = {"transaction.max.timeout.ms": "30000"}
    with pytest.raises(StreamFailure, match=r"=60000 is above transaction\.max\.timeout\.ms=30000"):
        getattr(bench.changes, command)()
    assert (bench.positions(), bench.made) == ({P: STANDING}, [])
