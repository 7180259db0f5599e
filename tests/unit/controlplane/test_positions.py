"""What a gap means: where to go on, what is said and counted, and when it is the end; and what `latest` skips."""

from __future__ import annotations

import pytest

from legacy_mm.config.settings import OffsetReset
from legacy_mm.controlplane.positions import GapGuard
from legacy_mm.copyjob import Gap
from legacy_mm.errors import SourceGap, StreamFailure
from legacy_mm.model import TopicPartition

TRIMMED = Gap("orders", 3, wanted=100, low=150, high=400, reason="Broker: Offset out of range")
SHORTER = Gap("orders", 3, wanted=100, low=0, high=40, reason="Broker: Offset out of range")
MADE_AGAIN = Gap("orders", 3, wanted=100, low=0, high=400, reason="its topic is another one")
PARTED = Gap("orders", 3, wanted=100, low=0, high=400, reason="its leader is another one", parts_at=80)


def unexpected(offsets: int) -> None:
    raise AssertionError(f"{offsets} counted as skipped")


@pytest.mark.parametrize(
    ("gap", "reset", "resumed", "missed"),
    [
        (TRIMMED, "earliest", 150, 50),
        (TRIMMED, "latest", 400, 300),
        (SHORTER, "earliest", 0, 0),
        (SHORTER, "latest", 40, 0),
        (MADE_AGAIN, "earliest", 0, 0),
        (PARTED, "earliest", 80, 0),
        (PARTED, "latest", 80, 0),
    ],
)
def test_where_it_goes_on(
    gap: Gap, reset: OffsetReset, resumed: int, missed: int, caplog: pytest.LogCaptureFixture
) -> None:
    counted: list[int] = []
    assert GapGuard(reset, counted.append, unexpected, fail=False).after(gap) == resumed
    assert counted == [missed]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert f"Gap in orders-3: from 100 to {resumed}, {missed} offsets were not copied, reason: " in record.getMessage()


def test_the_reason_is_told_apart(caplog: pytest.LogCaptureFixture) -> None:
    guard = GapGuard("earliest", lambda offsets: None, unexpected, fail=False)
    guard.after(TRIMMED)
    guard.after(SHORTER)
    guard.after(PARTED)
    guard.after(MADE_AGAIN)
    trimmed, shorter, parted, made_again = (record.getMessage() for record in caplog.records)
    assert "retention or a deletion of records" in trimmed
    assert "shorter than what was read" in shorter
    assert "truncated at 80 and goes on with other records" in parted
    assert "the topic was deleted and made again" in made_again


@pytest.mark.parametrize(("fail", "error"), [(True, SourceGap), (False, StreamFailure)])
def test_a_gap_that_ends_the_mirror_is_said_and_counted_too(
    fail: bool, error: type[StreamFailure], caplog: pytest.LogCaptureFixture
) -> None:
    counted: list[int] = []
    with pytest.raises(StreamFailure) as raised:
        GapGuard("earliest" if fail else "none", counted.append, unexpected, fail=fail).after(TRIMMED)
    assert type(raised.value) is error
    assert counted
    assert "Gap in orders-3" in caplog.text


@pytest.mark.parametrize(
    ("begun", "skipped"),
    [
        ([(0, 0)], []),  # an empty log
        ([(400, 400)], []),  # all of it deleted
        ([(0, 400)], [(0, 400)]),
        ([(150, 400)], [(150, 400)]),
        ([(0, 400), (0, 400)], [(0, 400)]),  # begun again after a rebalance, before anything came
        ([(0, 400), (0, 430)], [(0, 400), (400, 430)]),
        ([(0, 400), (420, 430)], [(0, 400), (420, 430)]),  # of what came meanwhile, retention has taken some
        ([(0, 400), (0, 30)], [(0, 400), (0, 30)]),  # the topic was made again
        ([(0, 0), (0, 30)], [(0, 30)]),
    ],
)
def test_what_latest_skips_is_said_and_counted_once(
    begun: list[tuple[int, int]], skipped: list[tuple[int, int]], caplog: pytest.LogCaptureFixture
) -> None:
    counted: list[int] = []
    guard = GapGuard("latest", unexpected, counted.append, fail=True)
    for low, start in begun:
        guard.begun(TopicPartition("orders", 3), low, start)
    assert counted == [end - start for start, end in skipped]
    lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(lines) == len(skipped)
    for line, (start, end) in zip(lines, skipped, strict=True):
        assert line.startswith(f"Skipped in orders-3: from {start} to {end}, {end - start} offsets were not copied, ")
