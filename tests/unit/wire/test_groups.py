"""Which groups read topics: as brokers list them."""

from __future__ import annotations

import pytest
from kafka.protocol.admin import ListGroupsResponse

from legacy_mm.wire.groups import reads_topics


@pytest.mark.parametrize(
    ("protocol", "kind", "reads"),
    [
        ("consumer", "classic", True),
        ("consumer", "Classic", True),
        ("consumer", "consumer", True),
        ("consumer", "", True),  # brokers of before 3.7 tell no kinds
        ("consumer", None, True),
        ("", "classic", True),  # commits, and has never had members
        ("connect", "classic", False),
        ("share", "share", False),
        ("consumer", "share", False),
        ("streams", "streams", False),
    ],
)
def test_what_is_a_consumer_group(protocol: str, kind: str | None, reads: bool) -> None:
    row = ListGroupsResponse.ListedGroup(group_id="g", protocol_type=protocol, group_type=kind)
    assert reads_topics(row) is reads
