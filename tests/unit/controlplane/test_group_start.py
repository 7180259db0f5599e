"""A first start that a group's coordinator does not take. What it takes is shown on real ones (tests/brokers)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from legacy_mm.clients.native import error_text
from legacy_mm.clock import Deadline
from legacy_mm.controlplane.group_start import GroupStart, LogEnds
from legacy_mm.controlplane.positions import GapGuard
from legacy_mm.errors import HostError, StreamFailure
from legacy_mm.model import TopicPartition

NOT_THERE, FORBIDDEN_TOPIC, FORBIDDEN_GROUP = map(error_text.text, (15, 29, 30))


class Admin:
    """Refuses one of the two questions, for this reason."""

    def __init__(self, *, read: str = "", commit: str = "") -> None:
        self._read, self._commit = read, commit

    def offsets(self, groups: Collection[str], deadline: Deadline) -> Any:
        return ({}, dict.fromkeys(groups, self._read)) if self._read else (dict.fromkeys(groups, {}), {})

    def commit(self, offsets: Collection[str], deadline: Deadline) -> Any:
        return dict.fromkeys(offsets, self._commit)


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
    admin: Any = Admin(**refused)
    with pytest.raises(error, match="group g"):
        GroupStart("g", admin, ends, guard, 1.0).keep(["orders"])
    assert not counted and not caplog.records, "nothing is skipped before it is sure where the group begins"
