"""Names that this release does not have are known, and none of them is one that it has."""

from __future__ import annotations

import pytest

from legacy_mm.words.java_clients.client_properties.apply import CONSUMER_RULES, PRODUCER_RULES
from legacy_mm.words.legacy_tool.legacy_options import ROWS
from legacy_mm.words.options.option_catalogue import ALL_OPTIONS
from legacy_mm.words.options.unbuilt import is_unbuilt

KIPS = [
    "connector.type", "transforms", "transforms.a.type", "connector.class",
    "exactly.once.support", "source.cluster.bootstrap.servers", "heartbeats.topic.retention.ms",
]  # fmt: skip


@pytest.mark.parametrize("name", KIPS)
def test_a_name_of_the_kips_is_known(name: str) -> None:
    assert is_unbuilt(name)


def test_no_name_that_works_is_among_them() -> None:
    working = [row.name for table in (ALL_OPTIONS, CONSUMER_RULES, PRODUCER_RULES) for row in table]
    working += [row.option.name for row in ROWS]
    assert not list(filter(is_unbuilt, working))
