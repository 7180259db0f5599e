"""What a gap means: where to go on, what is counted, and when it is the end; what `latest` skips; and start offsets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.base.errors import SourceGap, StreamFailure, Undecided
from legacy_mm.base.model import EARLIEST, LATEST, UNDEFINED, CommittedOffset, TopicPartition, at_time
from legacy_mm.base.reports import Gap, Started
from legacy_mm.base.settings import OffsetReset
from legacy_mm.clients.group.member import Member
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.delivery_guarantee import DeliveryGuarantee
from legacy_mm.controlplane.positions import CommittedPositions, GapGuard, StartOffsets, of_group

P, Q = TopicPartition("orders", 3), TopicPartition("orders", 4)
TRIMMED = Gap("orders", 3, wanted=100, low=150, high=400, reason="Broker: Offset out of range")
SHORTER = Gap("orders", 3, wanted=100, low=0, high=40, reason="Broker: Offset out of range")
RECREATED = Gap("orders", 3, wanted=100, low=5, high=400, reason="its topic is another one", recreated=True)
GROWN = Gap("orders", 3, wanted=100, low=0, high=400, reason="Broker: Offset out of range")
PARTED = Gap("orders", 3, wanted=100, low=0, high=400, reason="its leader is another one", parts_at=80)
CUT = replace(PARTED, parts_at=0)


def unexpected(offsets: int) -> None:
    raise AssertionError(f"{offsets} counted as skipped")


@pytest.mark.parametrize(
    ("gap", "reset", "resumed", "missed"),
    [
        (TRIMMED, "earliest", 150, 50),
        (TRIMMED, "latest", 400, 300),
        (SHORTER, "earliest", 0, 0),
        (SHORTER, "latest", 40, 0),
        (RECREATED, "earliest", 5, 5),
        (RECREATED, "latest", 400, 400),
        (GROWN, "earliest", 0, 0),
        (GROWN, "latest", 400, 300),
        (PARTED, "earliest", 80, 0),
        (PARTED, "latest", 80, 0),
        (CUT, "latest", 0, 0),
    ],
)
def test_where_it_goes_on(
    gap: Gap, reset: OffsetReset, resumed: int, missed: int, caplog: pytest.LogCaptureFixture
) -> None:
    counted: list[int] = []
    assert GapGuard(reset, counted.append, unexpected, fail=False, set_position=of_group("mirror")).after([gap]) == {
        P: resumed
    }
    assert counted == [missed]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert f"Gap in orders-3: from 100 to {resumed}, {missed} offsets were not copied, reason: " in record.getMessage()


@pytest.mark.parametrize(
    ("gap", "reset", "reason"),
    [
        (TRIMMED, "earliest", "50 were removed by retention or a deletion of records (the log"),
        (
            TRIMMED,
            "latest",
            "50 were removed by retention or a deletion of records, 250 are there and were skipped by "
            "auto.offset.reset=latest (the log",
        ),
        (SHORTER, "earliest", "was truncated, or the topic was deleted and recreated (the log"),
        (SHORTER, "latest", "recreated, 40 are there and were skipped by auto.offset.reset=latest (the log"),
        (PARTED, "latest", "truncated at 80 and continues with other records (the log"),
        (RECREATED, "earliest", "the topic was deleted and recreated (the log"),
        (RECREATED, "latest", "recreated, 395 are there and were skipped by auto.offset.reset=latest (the log"),
    ],
)
def test_the_line_says_what_happened(
    gap: Gap, reset: OffsetReset, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    GapGuard(reset, lambda offsets: None, unexpected, fail=False, set_position=of_group("mirror")).after([gap])
    assert reason in caplog.records[0].getMessage()


def test_a_topic_that_was_recreated_is_a_new_one() -> None:
    """With `--new.topics.from earliest`; what retention took of a known one is passed as `latest` says."""
    counted: list[int] = []
    guard = GapGuard(
        "latest", counted.append, unexpected, fail=False, set_position=of_group("mirror"), new_from_earliest=True
    )
    assert guard.after([RECREATED]) == {P: 5}
    assert guard.after([TRIMMED]) == {P: 400}
    assert counted == [5, 300]


def test_an_offset_that_was_committed_for_a_deleted_topic_is_not_one_of_the_new_topic() -> None:
    """The group's offset is found again at the next start, where nobody sees which topic it was committed for."""
    guard = GapGuard(
        "latest", lambda offsets: None, unexpected, fail=False, set_position=of_group("mirror"), new_from_earliest=True
    )
    guard.recreated("orders", "id-1", "id-2")
    assert guard.after([SHORTER]) == {P: 0}
    assert guard.after([SHORTER]) == {P: 40}, "the new topic lost records, and is not another one"
    guard.recreated("orders", "id-2", "id-3")
    guard.begun(TopicPartition("orders", 4), 0, 0)
    assert guard.after([SHORTER, replace(SHORTER, partition=4)]) == {P: 0, TopicPartition("orders", 4): 40}
    guard.recreated("orders", "id-3", "id-4")
    assert guard.after([TRIMMED]) == {P: 400}, "its offset lies before the log, so it is one of the new topic"


@pytest.mark.parametrize(
    ("fail", "error", "policy"), [(True, SourceGap, "--on.gap fail"), (False, Undecided, "auto.offset.reset=none")]
)
def test_an_end_that_needs_a_person_says_what_to_do(
    fail: bool, error: type[StreamFailure], policy: str, caplog: pytest.LogCaptureFixture
) -> None:
    """All gaps are said and counted first; only what is gone, as nothing is skipped yet."""
    counted: list[int] = []
    guard = GapGuard(
        "latest" if fail else "none", counted.append, unexpected, fail=fail, set_position=of_group("mirror")
    )
    with pytest.raises(error) as raised:
        guard.after([TRIMMED, replace(TRIMMED, partition=4)])
    assert type(raised.value) is error
    assert raised.value.commits
    assert counted == [50, 50]
    assert "Gap in orders-3" in caplog.text
    assert "Gap in orders-4" in caplog.text
    for words in ("orders-3", "orders-4", policy, "--group mirror --topic orders:3", "--to-offset 150"):
        assert words in str(raised.value)


def test_a_recreated_topic_begins_at_its_first_record() -> None:
    guard = GapGuard("latest", lambda offsets: None, unexpected, fail=True, set_position=of_group("mirror"))
    with pytest.raises(
        SourceGap, match=r"--on\.gap fail leaves .*--topic orders:0 .*--to-earliest --execute, or start"
    ):
        guard.recreated("orders", "id-1", "id-2")


@pytest.mark.parametrize("recreated", [False, True])
def test_exactly_once_has_a_flag_and_a_command_of_its_own(recreated: bool) -> None:
    guard = GapGuard(
        "latest", lambda offsets: None, unexpected, fail=True, set_position=of_group("mirror"), exactly_once=True
    )
    with pytest.raises(SourceGap) as raised:
        if recreated:
            guard.recreated("orders", "id-1", "id-2")
        guard.after([TRIMMED])
    place = "orders:0:0" if recreated else "orders:3:150"
    assert str(raised.value).endswith(
        "--exactly.once.on.gap stop leaves the decision to you: "
        + ("" if recreated else "the lines above say what happened; ")
        + f"while no mirror runs, set the position, for example with legacy-mm exactly-once move --to {place} -- "
        "COMMAND LINE, or start once with --exactly.once.on.gap go-on"
    )


@pytest.mark.parametrize(("reset", "start"), [("earliest", EARLIEST), ("latest", LATEST)])
def test_only_a_partition_without_a_committed_offset_begins_as_the_reset_says(reset: OffsetReset, start: int) -> None:
    """One that is 0 is committed, too."""
    begun = TopicPartition("orders", 0)
    member = Mock(committed=lambda partitions, timeout: {begun: CommittedOffset(0)})
    assert CommittedPositions(of_group("mirror"), reset, 1.0).propose(member, [begun, P]) == {begun: 0, P: start}


def test_none_without_a_committed_offset_says_what_to_do() -> None:
    member = Mock(committed=lambda partitions, timeout: {})
    with pytest.raises(
        Undecided, match=r"no reset policy for partitions: .*--topic orders:3 .*--to-earliest"
    ) as raised:
        CommittedPositions(of_group("mirror"), "none", 1.0).propose(member, [P])
    assert raised.value.commits


def test_with_exactly_once_none_leaves_the_start_to_the_target_s_position() -> None:
    member = Mock(committed=lambda partitions, timeout: {})
    positions = CommittedPositions(of_group("mirror"), "none", 1.0, exactly_once=True)
    assert positions.propose(member, [P]) == {P: UNDEFINED}


@pytest.mark.parametrize("reset", ["earliest", "latest", "none"])
def test_a_topic_with_a_start_time_begins_there_unless_an_offset_is_committed(reset: OffsetReset) -> None:
    """Whatever the reset policy says, also where the target may have a position; other topics begin as before."""
    member: Any = Mock(Member)
    committed, timed, other = P, Q, TopicPartition("audit", 0)
    member.committed.return_value = {committed: CommittedOffset(0)}
    positions = CommittedPositions(
        of_group("mirror"), reset, 1.0, exactly_once=True, start_time={"orders": 1_700_000_000_000}.get
    )
    expected = {"earliest": EARLIEST, "latest": LATEST, "none": UNDEFINED}[reset]
    assert positions.propose(member, [committed, timed, other]) == {
        committed: 0,
        timed: at_time(1_700_000_000_000),
        other: expected,
    }


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
    guard = GapGuard("latest", unexpected, counted.append, fail=True, set_position=of_group("mirror"))
    for low, start in begun:
        guard.begun(TopicPartition("orders", 3), low, start)
    assert counted == [end - start for start, end in skipped]
    lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(lines) == len(skipped)
    for line, (start, end) in zip(lines, skipped, strict=True):
        assert line.startswith(f"Skipped in orders-3: from {start} to {end}, {end - start} offsets were not copied, ")


class Starts:
    """The start offsets of a stream whose group has committed nothing."""

    def __init__(self, *, commit_chosen: bool = False, logical: int = LATEST) -> None:
        self.logical = logical
        self.asked: list[set[TopicPartition]] = []
        self.sent: list[dict[TopicPartition, int]] = []
        self.commits = Commits(0, 60.0, 60.0, lambda offsets: self.sent.append({**offsets}), lambda: None)
        guard = GapGuard("latest", lambda _: None, lambda _: None, fail=False, set_position=of_group("mirror"))
        self.member: Any = Mock(Member)
        self.member.name = "g-0"
        self.offsets = StartOffsets(self._propose, guard, self.commits, commit_chosen=commit_chosen)

    def _propose(self, member: Member, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        self.asked.append({*partitions})
        return dict.fromkeys(partitions, self.logical)

    def propose(self, *owned: TopicPartition) -> dict[TopicPartition, int]:
        return {**self.offsets.propose(self.member, owned)}

    def begin(self, offset: int, low: int = 0) -> None:
        """The job says that it begins with `P` at this offset."""
        self.offsets.started(Started({P: offset}, {P: low}), self.member, {P})


def test_a_job_goes_on_at_what_is_safe_else_where_the_one_before_began() -> None:
    starts = Starts()
    assert starts.propose(P) == {P: LATEST}
    starts.begin(40)
    assert starts.propose(P) == {P: 40}
    starts.commits.note({P: 44})
    assert starts.propose(P, Q) == {P: 44, Q: LATEST}
    starts.commits.forget(frozenset({P}))
    starts.offsets.forget({P})
    assert starts.propose(P) == {P: LATEST}
    assert starts.asked == [{P}, set(), {Q}, {P}]


@pytest.mark.parametrize("commit_chosen", [True, False])
def test_a_start_that_the_policy_has_chosen_is_told_once(commit_chosen: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "legacy_mm")
    starts = Starts(commit_chosen=commit_chosen)
    starts.propose(P)
    for offset in (40, 45):  # the second one behind a gap
        starts.begin(offset)
    starts.commits.tick()
    assert starts.sent == ([{P: 40}] if commit_chosen else [])
    assert len([text for text in caplog.messages if "has no committed offset" in text]) == 1


def test_a_start_at_a_time_is_told_and_committed_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """So that a restart never goes back. What the user left out is no loss, and is not counted as one."""
    caplog.set_level("INFO", "legacy_mm")
    starts = Starts(logical=at_time(1_700_000_000_000))
    starts.propose(P)
    starts.begin(40, low=7)
    starts.commits.tick()
    assert starts.sent == [{P: 40}]
    (line,) = [text for text in caplog.messages if text.startswith("orders-3 begins at offset 40, ")]
    assert "its first of 2023-11-14T22:13:20.000Z or later: 33 offsets before it are not copied" in line
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


def test_behind_a_gap_the_next_job_begins_where_this_one_goes_on() -> None:
    starts = Starts()
    starts.propose(P)
    starts.begin(100)
    starts.commits.note({P: 120})
    assert starts.offsets.answer([TRIMMED], DeliveryGuarantee()) == {P: 400}
    assert starts.propose(P) == {P: 400}
