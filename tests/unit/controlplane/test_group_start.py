"""A first start that a group's coordinator does not take. What it takes is shown on real ones (tests/brokers)."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from legacy_mm.clients.native import error_text
from legacy_mm.clock import Deadline
from legacy_mm.controlplane.group_start import GroupStart, LogEnds
from legacy_mm.controlplane.positions import GapGuard
from legacy_mm.errors import HostError, StreamFailure
from legacy_mm.model import TopicPartition
from tests.fakes.groups import FakeGroups

NOT_THERE, FORBIDDEN_TOPIC, FORBIDDEN_GROUP = map(error_text.text, (15, 29, 30))


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        ({"read": NOT_THERE}, HostError),
        ({"read": FORBIDDEN_GROUP}, StreamFailure),
        ({"commit": NOT_THERE}, HostError),
        ({"commit": FORBIDDEN_GROUP}, StreamFailure),
        ({"commit": FORBIDDEN_TOPIC}, StreamFailure),
    ],
)
def test_what_may_be_tried_again_and_what_is_the_end(
    refused: dict[str, str], error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    def ends(topics: Collection[str], deadline: Deadline) -> LogEnds:
        return {TopicPartition(topic, 0): (0, 5) for topic in topics}

    counted: list[int] = []
    guard = GapGuard("latest", counted.append, counted.append, fail=False, group="mirror")
    groups = FakeGroups(g={})
    groups.untold = {"g": refused["read"]} if "read" in refused else {}
    groups.refusals = {"g": refused["commit"]} if "commit" in refused else {}
    with pytest.raises(error, match="group g"):
        GroupStart("g", groups, ends, guard, 1.0).keep(["orders"])
    assert not counted and not caplog.records, "nothing is skipped before it is sure where the group begins"
