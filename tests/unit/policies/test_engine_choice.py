"""Which engine copies."""

from __future__ import annotations

import pytest

from legacy_mm.config import property_names
from legacy_mm.errors import ConfigurationError
from legacy_mm.policies.engine_choice import Asked, EngineChoice, choose

OBSTACLES = [
    ({"acks": "0"}, None, None, "acks=0"),
    ({}, "a handler", None, "a handler"),
    ({"partitioner": "random"}, None, None, "the partitioner is random"),
    ({}, None, "no Kerberos here", "no Kerberos here"),
]


def chosen(
    asked: Asked,
    target: dict[str, str],
    needs_records: str | None = None,
    insecurity: str | None = None,
    by_key: bool = True,
) -> EngineChoice:
    return choose(
        asked,
        property_names.read_producer(target).produce,
        needs_records=needs_records,
        partitions_by_key=by_key,
        insecurity=lambda: insecurity,
    )


def test_batches_unless_something_speaks_against_it() -> None:
    assert chosen("auto", {"acks": "all", "partitioner": "murmur2_random"}).engine == "batches"


@pytest.mark.parametrize(("target", "needs_records", "insecurity", "why"), OBSTACLES)
def test_records_where_batches_cannot_and_the_reason(
    target: dict[str, str], needs_records: str | None, insecurity: str | None, why: str
) -> None:
    found = chosen("auto", target, needs_records, insecurity)
    assert found.engine == "records"
    assert why in found.reason
    with pytest.raises(ConfigurationError, match=why):
        chosen("batches", target, needs_records, insecurity)


def test_records_when_asked_for() -> None:
    assert chosen("records", {}).engine == "records"


def test_no_partitioner_is_in_the_way_where_none_is_asked() -> None:
    assert chosen("auto", {"partitioner": "random"}, by_key=False).engine == "batches"
    assert chosen("auto", {"partitioner": "random", "acks": "0"}, by_key=False).engine == "records"
