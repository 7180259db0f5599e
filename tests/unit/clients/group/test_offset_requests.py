"""What a coordinator's answer about a group's offsets means, and whom it names."""

from __future__ import annotations

import pytest
from kafka.protocol.consumer import OffsetFetchResponse

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.clients.cluster.coordinator import CoordinatorMoved
from legacy_mm.clients.group.offset_requests import fetched
from legacy_mm.protocol.error_codes import ErrorCode


def answer(*codes: int, whole: int = 0) -> OffsetFetchResponse:
    """Of partitions of topic orders."""
    topics = OffsetFetchResponse.OffsetFetchResponseTopic
    rows = [
        topics.OffsetFetchResponsePartition(
            partition_index=number, committed_offset=7, committed_leader_epoch=-1, metadata="", error_code=code
        )
        for number, code in enumerate(codes)
    ]
    return OffsetFetchResponse(topics=[topics(name="orders", partitions=rows)], error_code=whole, groups=[])


def test_offsets_of_partitions() -> None:
    assert fetched("g", answer(0)) == {TopicPartition("orders", 0): CommittedOffset(7, "")}


@pytest.mark.parametrize(
    ("codes", "where"),
    [((0, ErrorCode.UNSTABLE_OFFSET_COMMIT), "group g, orders-1"), ((88, 88, 88), "group g, orders-0 and 2 more")],
)
def test_an_open_transaction_has_a_place_and_a_group(codes: tuple[int, ...], where: str) -> None:
    with pytest.raises(TimeoutError, match=rf"UNSTABLE_OFFSET_COMMIT: .* \({where}\): a transaction") as raised:
        fetched("g", answer(*codes))
    assert "is open" in str(raised.value)


def test_refusals_name_the_group_as_well() -> None:
    with pytest.raises(StreamFailure, match=r"committed offsets cannot be read: GROUP_AUTH.*\(group g\)"):
        fetched("g", answer(whole=ErrorCode.GROUP_AUTHORIZATION_FAILED))
    with pytest.raises(CoordinatorMoved, match=r"\(group g\)"):
        fetched("g", answer(whole=ErrorCode.NOT_COORDINATOR))
