"""The steps of a cut-over where a cluster refuses, lies, or has the group in use; and receipts. No broker."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.clients.group.groups import DEAD
from legacy_mm.features.checkpoints.group_position import GroupPosition, How
from legacy_mm.features.checkpoints.group_translation import Position
from legacy_mm.features.cutover import cutover_receipt, moving
from legacy_mm.features.cutover.adoption import Adoption, AdoptionOptions
from legacy_mm.features.cutover.cutover_receipt import CutoverReceipt, MovedPartition
from legacy_mm.features.cutover.moving import Cutover, CutoverOptions, undo
from tests.fakes.groups import OneGroup

HERE = [TopicPartition("t", number) for number in range(3)]
THERE = [TopicPartition("west.t", number) for number in range(3)]
COUNTS = "copied records count when the mirror has committed them, every 60 s"
OPTIONS = CutoverOptions(timeout=0, settle=0)


class Clusters:
    """Stands in for a `GroupTranslation` of a group at 10, 20 and 30."""

    def __init__(self, *answers: GroupPosition) -> None:
        self.lags: list[Mapping[TopicPartition, int]] = []
        self.source = type("Source", (), {"groups": OneGroup("source", {})})
        self.target = type("Target", (), {"groups": OneGroup("target", {THERE[1]: CommittedOffset(50, "theirs")})})
        committed = [CommittedOffset(offset, f"m{offset}") for offset in (10, 20, 30)]
        self.found = [Position(*row) for row in zip(HERE, committed, THERE, answers, strict=False)]

    def ends(self, group: str, deadline: Deadline) -> Any:
        return dict.fromkeys(HERE, (0, 40))

    def lag(self, ends: Any, deadline: Deadline) -> Mapping[TopicPartition, int]:
        return self.lags.pop(0) if self.lags else {}

    def positions(self, group: str, deadline: Deadline, *, from_first: bool) -> list[Position]:
        return self.found


EXACT = [GroupPosition(How.EXACT, offset) for offset in (5, 15, 25)]
AFTER = {THERE[0]: CommittedOffset(5, "m10"), THERE[1]: CommittedOffset(50, "theirs")}
AFTER[THERE[2]] = CommittedOffset(25, "m30")


class Run:
    """A cut-over of group g, what it said and kept."""

    def __init__(self, clusters: Clusters) -> None:
        self.target = clusters.target.groups  # type: ignore[attr-defined]
        self.said: list[str] = []
        self.kept: list[CutoverReceipt] = []
        self._cutover = Cutover(clusters, "g", "source->target", "id", self.said.append)  # type: ignore[arg-type]

    def __call__(self, options: CutoverOptions = OPTIONS) -> bool:
        return self._cutover.run(options, self.kept.append)


def test_offsets_are_committed_with_their_metadata_and_never_backwards() -> None:
    run = Run(Clusters(*EXACT))
    assert run() is True
    assert run.target.held == AFTER
    assert [receipt.state for receipt in run.kept] == ["planned", "committed"]
    assert [each.before and each.before.offset for each in run.kept[0].partitions] == [None, 50, None]
    assert any("west.t-1 at 15 (now 50), exactly; it stays at 50: groups never go back" in line for line in run.said)


def test_back_again_is_what_was_before() -> None:
    run = Run(Clusters(*EXACT))
    before = dict(run.target.held)
    run()
    run.target.held[THERE[2]] = CommittedOffset(26)  # a consumer has read on
    assert undo(run.kept[-1], run.target, "id", run.said.append) is True
    assert run.target.held == before
    assert "west.t-2: the group is at 26, not at 25" in run.said


def test_a_receipt_of_another_cluster_is_refused() -> None:
    run = Run(Clusters(*EXACT))
    run()
    with pytest.raises(HostError, match="of cluster id, the target is other"):
        undo(run.kept[-1], run.target, "other", run.said.append)
    assert run.target.held == AFTER


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(("using", "named"), [(("app at 10.0.0.1",), "app at 10.0.0.1"), ((), "state Stable")])
def test_a_group_in_use_is_left_alone(side: str, using: tuple[str, ...], named: str) -> None:
    clusters = Clusters(*EXACT)
    groups = getattr(clusters, side).groups
    groups.state, groups.using = "Stable", using
    run = Run(clusters)
    before = dict(run.target.held)
    assert run() is False
    assert any(f"in use at the {side}; stop " in line and named in line for line in run.said)
    assert (run.target.held, run.kept) == (before, [])


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_group_with_offsets_in_an_open_transaction_is_left_alone(side: str, dry_run: bool) -> None:
    clusters = Clusters(*EXACT)
    place = {"source": HERE, "target": THERE}[side][2]
    getattr(clusters, side).groups.unstable.add(place)
    run = Run(clusters)
    before = dict(run.target.held)
    assert run(CutoverOptions(timeout=0, settle=0, dry_run=dry_run)) is False
    (told,) = {line for line in run.said if line.startswith("transactions: ")}
    assert told.startswith(f"transactions: offsets of group g at the {side} are in a transaction that is still open, ")
    assert f"for {place}: until its transaction ends" in told
    assert (run.target.held, run.kept) == (before, [])


@pytest.mark.parametrize("unstable", [True, False])
def test_the_mirror_s_group_takes_no_offsets_while_it_has_some_in_an_open_transaction(unstable: bool) -> None:
    group, said = OneGroup("source", {HERE[0]: CommittedOffset(3)}), list[str]()
    group.unstable = {HERE[1]} if unstable else set()
    starts = dict.fromkeys(HERE[:2], 0)
    done = Adoption(group, "g", said.append).run({HERE[0]: 7, HERE[1]: 8}, starts, AdoptionOptions(replace=True))
    assert (done, group.held[HERE[0]].offset) == ((False, 3) if unstable else (True, 7))
    assert any(line.startswith("transactions: ") and str(HERE[1]) in line for line in said) is unstable


def test_nothing_is_undone_while_an_offset_is_in_an_open_transaction() -> None:
    run = Run(Clusters(*EXACT))
    run()
    run.target.unstable = {THERE[0]}
    assert undo(run.kept[-1], run.target, "id", run.said.append) is False
    assert run.target.held == AFTER


def test_nothing_is_undone_while_the_group_is_in_use() -> None:
    run = Run(Clusters(*EXACT))
    run()
    run.target.state = "Stable"
    assert undo(run.kept[-1], run.target, "id", run.said.append) is False
    assert run.target.held == AFTER


def test_a_group_that_is_not_there_yet_is_made() -> None:
    clusters = Clusters(*EXACT)
    run = Run(clusters)
    run.target.held.clear()
    run.target.state = DEAD
    assert run() is True
    assert run.target.held[THERE[1]] == CommittedOffset(15, "m20")


def test_what_is_not_copied_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "_RETRY_BACKOFF", 0.01)
    clusters = Clusters(*EXACT)
    clusters.lags = [{HERE[0]: 7}, {HERE[0]: 7}, {HERE[0]: 2}]
    run = Run(clusters)
    assert run(CutoverOptions(timeout=30, settle=0)) is True
    assert [line for line in run.said if "missing" in line] == [
        f"copied: 7 offsets are still missing: t-0=7; {COUNTS}",
        f"copied: 2 offsets are still missing: t-0=2; {COUNTS}",
    ]


def test_what_is_not_copied_in_time_ends_it() -> None:
    clusters = Clusters(*EXACT)
    clusters.lags = [{HERE[0]: 7}]
    run = Run(clusters)
    assert run() is False
    assert run.kept == []


@pytest.mark.parametrize(("partial", "done"), [(False, False), (True, True)])
def test_what_cannot_be_translated(partial: bool, done: bool) -> None:
    run = Run(Clusters(EXACT[0], GroupPosition(How.NOT_MIRRORED), EXACT[2]))
    assert run(CutoverOptions(timeout=0, settle=0, partial=partial)) is done
    assert (run.target.held == AFTER) is done
    assert "translated: t-1 at 20: the topic is not mirrored" in run.said


def test_nothing_translated_is_nothing_done() -> None:
    run = Run(Clusters(*[GroupPosition(How.UNKNOWN)] * 3))
    assert run(CutoverOptions(timeout=0, settle=0, partial=True)) is False
    assert run.kept == []


@pytest.mark.parametrize("lag", [{}, {HERE[0]: 7}])
def test_a_dry_run_commits_nothing_and_tells_all(lag: Mapping[TopicPartition, int]) -> None:
    clusters = Clusters(*EXACT)
    clusters.lags = [lag]
    run = Run(clusters)
    assert run(CutoverOptions(timeout=30, settle=30, dry_run=True)) is not bool(lag)
    assert len([line for line in run.said if line.startswith("translated: ")]) == 3
    assert ("not ready: not copied yet; is the mirror running?" in run.said) is bool(lag)
    assert (run.kept, run.target.held) == ([], {THERE[1]: CommittedOffset(50, "theirs")})


@pytest.mark.parametrize("refuses", ["UNKNOWN_MEMBER_ID", "no answer", ""])
def test_a_commit_that_fails_says_what_the_target_has(refuses: str) -> None:
    run = Run(Clusters(*EXACT))
    run.target.refuses, run.target.takes_all = refuses, False
    with pytest.raises(
        HostError, match=f"{refuses or 'does not have the committed offsets'}.*the target has west.t-0=5$"
    ):
        run()
    assert [receipt.state for receipt in run.kept] == ["planned"]


RECEIPT = CutoverReceipt(
    "g",
    "source->target",
    "id",
    "2026-11-21T22:00:00+00:00",
    "planned",
    (
        MovedPartition(HERE[0], 10, THERE[0], None, CommittedOffset(5, "é"), "exact"),
        MovedPartition(HERE[1], 20, THERE[1], CommittedOffset(2), CommittedOffset(15), "offset-sync"),
    ),
)


def test_a_receipt_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    cutover_receipt.save(RECEIPT, file)
    assert cutover_receipt.load(file) == RECEIPT
    assert [stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()] == [0o600]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no receipt"),
        ("[]", "is no receipt"),
        ('{"format": 1, "partitions": []}', "is no receipt"),
        ('{"format": 1, "partitions": [{}]}', "is no receipt"),
    ],
)
def test_what_is_no_receipt(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        cutover_receipt.load(file)


def test_a_receipt_of_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    cutover_receipt.save(RECEIPT, file)
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 2}))
    with pytest.raises(ConfigurationError, match="another version"):
        cutover_receipt.load(file)


def test_a_receipt_that_cannot_be_written_stops_everything(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="cannot be written: No such file"):
        cutover_receipt.save(RECEIPT, tmp_path / "nowhere" / "receipt.json")
