"""At least once: where a partition goes on after a gap counts at once."""

from __future__ import annotations

from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.delivery_guarantee import DeliveryGuarantee

HERE = TopicPartition("orders", 3)


def test_the_answer_to_a_gap_is_committed_and_the_next_start() -> None:
    sent: list[Offsets] = []
    commits = Commits(0, 60.0, 60.0, sent.append, lambda: None)
    commits.note({HERE: 9})
    assert DeliveryGuarantee().gap_answered(commits, {HERE: 4}) == {HERE: 4}
    commits.tick()
    assert sent == [{HERE: 4}]
