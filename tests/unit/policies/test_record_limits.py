"""Which records a topic refuses for their own sake, as its properties say."""

from __future__ import annotations

import pytest

from legacy_mm.policies.record_limits import by_default, limits, listed, narrower, narrower_copies

HOUR, NONE = "3600000", str(2**63 - 1)
TODAY = {
    "message.timestamp.type": "CreateTime",
    "message.timestamp.after.max.ms": HOUR,
    "message.timestamp.before.max.ms": NONE,
    "max.message.bytes": "1048588",
    "cleanup.policy": "delete",
}
"""A topic of 4.x without properties of its own."""
OLD = TODAY | {"message.timestamp.after.max.ms": NONE}


def names(topic: dict[str, str], most_bytes: int | None = 1_000_000) -> list[str]:
    return [found.property_name for found in limits(topic, most_bytes)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, ["message.timestamp.after.max.ms"]),
        ({"message.timestamp.after.max.ms": NONE}, []),
        ({"message.timestamp.type": "LogAppendTime"}, []),
        (
            {"message.timestamp.before.max.ms": "1000"},
            ["message.timestamp.after.max.ms", "message.timestamp.before.max.ms"],
        ),
        (
            {"message.timestamp.after.max.ms": NONE, "message.timestamp.difference.max.ms": "9"},
            ["message.timestamp.difference.max.ms"],
        ),
        ({"message.timestamp.after.max.ms": NONE, "max.message.bytes": "999999"}, ["max.message.bytes"]),
        ({"message.timestamp.after.max.ms": NONE, "cleanup.policy": "compact,delete"}, ["cleanup.policy"]),
    ],
)
def test_what_a_topic_refuses(change: dict[str, str], told: list[str]) -> None:
    assert names(TODAY | change) == told


def test_what_is_not_told_limits_nothing() -> None:
    assert names({}) == names({"max.message.bytes": "?"}) == []


@pytest.mark.parametrize(
    ("source", "copy", "told"),
    [
        (TODAY, TODAY, []),
        (OLD, TODAY, ["message.timestamp.after.max.ms"]),
        ({}, TODAY, ["message.timestamp.after.max.ms"]),
        (OLD | {"message.timestamp.type": "LogAppendTime"}, TODAY, []),
        (TODAY | {"max.message.bytes": "9000000"}, TODAY, ["max.message.bytes"]),
        (TODAY, TODAY | {"max.message.bytes": "9000000"}, []),
        (TODAY, TODAY | {"cleanup.policy": "compact"}, ["cleanup.policy"]),
        (TODAY | {"cleanup.policy": "compact"}, TODAY | {"cleanup.policy": "compact"}, []),
        (
            TODAY | {"message.timestamp.before.max.ms": "5"},
            TODAY | {"message.timestamp.before.max.ms": "5"},
            ["message.timestamp.before.max.ms"],
        ),
    ],
)
def test_what_a_copy_refuses_that_the_source_holds(
    source: dict[str, str], copy: dict[str, str], told: list[str]
) -> None:
    """A backlog grows older than any limit at the source."""
    assert [found.property_name for found in narrower(source, copy)] == told


def test_one_sentence_for_all_copies_with_the_same_limit() -> None:
    ((found, copies),) = narrower_copies({f"t{number}": (OLD, TODAY) for number in range(7)}).items()
    assert found.text(listed(copies)) == (
        "t0, t1, t2, t3, t4 and 2 more at the target: records dated more than 3600000 ms ahead of the brokers' clock "
        "are refused (message.timestamp.after.max.ms=3600000)"
    )


def test_a_missing_topic_has_what_its_broker_says() -> None:
    broker = {"log.message.timestamp.after.max.ms": HOUR, "message.max.bytes": "7", "log.dirs": "/d"}
    assert by_default(broker) == {"message.timestamp.after.max.ms": HOUR, "max.message.bytes": "7"}
