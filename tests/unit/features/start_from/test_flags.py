"""When copying begins: what is read, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from legacy_mm.base.clock import epoch_ms, iso_time
from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.model import TopicPartition
from legacy_mm.features import flags
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.features.start_from.flags import StartTimes, check
from tests.unit.flow_settings import source_settings

NOVEMBER = 1_761_955_200_000


def read(*topics: str, every: Sequence[str] = ()) -> StartTimes | None:
    given = {"start.from": every, "start.from.topic": topics}
    return flags.settings({name: texts for name, texts in given.items() if texts})[START_FROM]


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-01T00:00Z",
        "2025-11-01T00:00:00.000Z",
        "2025-11-01T01:00+01:00",
        "2025-10-31T20:30:00-03:30",
        "20251101T000000Z",
        "1761955200000",
        " 2025-11-01 00:00Z ",
    ],
)
def test_a_time_has_its_zone_or_is_in_milliseconds(text: str) -> None:
    assert read(every=[text]) == StartTimes(NOVEMBER)
    assert read(f"orders={text}") == StartTimes(None, {"orders": NOVEMBER})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2025-11-01T00:00", "'2025-11-01T00:00' has no zone: write Z for UTC, or +01:00, behind it"),
        ("2025-11-01", "has no zone"),
        ("yesterday", "'yesterday' is no time: write it as 2026-11-01T00:00Z, or in milliseconds since 1970"),
        ("-1", "is no time"),
        ("", "is no time"),
        ("2999-01-01T00:00Z", "'2999-01-01T00:00Z' is in the future, and no record is that young"),
        ("32472144000000", "is in the future"),
        ("1761955200", "'1761955200' is 1761955200 ms since 1970, before any record of Kafka: too early"),
        ("20251101", "too early"),
        ("1969-12-31T00:00Z", "too early"),
    ],
)
def test_another_time_is_refused_by_its_flag(text: str, why: str) -> None:
    if text:
        with pytest.raises(ConfigurationError, match="start.from: ") as refused:
            read(every=[text])
        assert why in str(refused.value)
    with pytest.raises(ConfigurationError, match="start.from.topic: a.b: ") as refused:
        read(f"a.b={text}")
    assert why in str(refused.value)


def test_now_is_not_the_future() -> None:
    assert read(every=[str(epoch_ms())]) is not None


def test_a_topic_s_own_time_counts_for_it_alone() -> None:
    found = read("a.b=2025-11-01T00:00Z", "c=1500000000000", every=["2025-11-02T00:00Z"])
    assert found is not None
    assert [found.of(topic) for topic in ("a.b", "c", "d")] == [NOVEMBER, 1_500_000_000_000, NOVEMBER + 86_400_000]
    alone = StartTimes(None, {"c": 5})
    assert (alone.of("c"), alone.of("d")) == (5, None)
    c, d = TopicPartition("c", 3), TopicPartition("d", 0)
    assert alone.among([c, d]) == {c: 5}


def test_without_a_time_it_is_off() -> None:
    assert flags.settings({})[START_FROM] is None


def test_a_line_of_a_file_ends_with_the_name_of_its_topic() -> None:
    given = flags.given_in({"start.from.topic.a.b": "2025-11-01T00:00Z", "start.from": "2025-11-01T00:00Z"})
    assert flags.settings(given)[START_FROM] == StartTimes(NOVEMBER, {"a.b": NOVEMBER})


def test_a_start_is_said_in_one_way() -> None:
    source = source_settings(new_from_earliest=True)
    for times, flag in ((StartTimes(5), "start.from "), (StartTimes(None, {"a": 5}), "start.from.topic ")):
        with pytest.raises(ConfigurationError, match=f"^{flag}and new.topics.from=earliest exclude each other"):
            check(times, source)
    check(None, source)
    check(StartTimes(5), source_settings())


def test_a_time_is_shown_as_it_may_be_given() -> None:
    assert iso_time(NOVEMBER + 7) == "2025-11-01T00:00:00.007Z"
    assert read(every=[iso_time(NOVEMBER + 7)]) == StartTimes(NOVEMBER + 7)
