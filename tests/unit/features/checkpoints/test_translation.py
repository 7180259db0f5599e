"""Topics of offset syncs and checkpoints, read again and again; offsets by the syncs, where no exact map knows them."""

from __future__ import annotations

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import OffsetPair, TopicPartition
from legacy_mm.features.checkpoints.translation import StoredCheckpoints, StoredSyncs, Translation
from legacy_mm.features.offset_syncs.offset_map import OffsetMap
from legacy_mm.protocol.mirror_records import Checkpoint, OffsetSync
from tests.fakes.internal_topic import FakeInternalTopic

SOON = Deadline.after(10)
ONE, OTHER, PLACE = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("west.t", 0)


def test_what_is_read_later_counts_too_and_rubbish_is_ignored() -> None:
    topic = FakeInternalTopic(OffsetSync("t", 0, 100, 50).encode(), (b"rubbish", b""))
    syncs = StoredSyncs(topic)
    syncs.refresh(SOON)
    assert syncs.pairs(ONE)[0] == OffsetPair(100, 50)
    assert syncs.pairs(OTHER) == ()
    topic.written.append(OffsetSync("t", 0, 200, 140).encode())
    syncs.refresh(SOON)
    assert syncs.pairs(ONE)[0] == OffsetPair(200, 140)


def test_the_last_checkpoint_of_a_group_is_known() -> None:
    topic = FakeInternalTopic(*(Checkpoint("g", *PLACE, up, down, "m").encode() for up, down in ((100, 50), (200, 90))))
    known = StoredCheckpoints(topic)
    assert known.last("g", PLACE) is None
    known.refresh(SOON)
    assert known.last("g", PLACE) == OffsetPair(200, 90)
    assert known.last("other", PLACE) is None


def test_the_checkpoints_of_apache_s_own_store() -> None:
    """CheckpointStoreTest:41: rubbish between them hides none."""
    written = [Checkpoint(group, "t1", 0, at, at, "m").encode() for group, at in (("g1", 0), ("g2", 0), ("g1", 1))]
    known = StoredCheckpoints(FakeInternalTopic(written[0], written[1], (b"", b""), (b"rubbish", b"x"), written[2]))
    known.refresh(SOON)
    place = TopicPartition("t1", 0)
    assert (known.last("g1", place), known.last("g2", place)) == (OffsetPair(1, 1), OffsetPair(0, 0))


def test_a_mirror_without_checkpoints_knows_none() -> None:
    known = StoredCheckpoints(None)
    known.refresh(SOON)
    assert known.last("g", PLACE) is None


def test_an_offset_beyond_a_sync_is_the_record_behind_it() -> None:
    syncs = StoredSyncs(FakeInternalTopic(OffsetSync("t", 0, 100, 50).encode()))
    translation = Translation(syncs, lambda partition, offset: OffsetMap().nearest(offset))
    assert translation.translate(ONE, 100) is None
    translation.refresh(SOON)
    assert [translation.translate(ONE, offset) for offset in (100, 101, 150)] == [50, 51, 51]
    assert translation.translate(OTHER, 100) is None
