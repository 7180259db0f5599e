"""`legacy-mm translate` and `cutover` where no cluster is reached: what is refused, and with which code."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import CommittedOffset, OffsetPair, TopicPartition
from legacy_mm.cli import group_offsets
from legacy_mm.cli.group_offsets import _lines
from legacy_mm.cli.legacy_mm import main
from legacy_mm.features.checkpoints.group_position import GroupPosition, How
from legacy_mm.features.checkpoints.group_translation import Position
from tests.fakes.groups import FakeGroups

LINE = ("--", "kafka-mirror-maker.sh", "--consumer.config", "c.properties", "--producer.config", "p.properties")
ALIASES = ("--source.cluster.alias", "a", "--target.cluster.alias", "b")
SYNCS = ("--emit.offset-syncs.enabled", "true", "--preserve.partitions", "true", *ALIASES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("translate", *LINE), "the following arguments are required: --group"),
        (("translate", "--group", "g"), "behind -- comes the command line of a mirror that runs"),
        (("translate", "--group", "g", *LINE, "--include", "t"), "needs emit.offset-syncs.enabled=true"),
        (("translate", "--group", "g", *LINE, "--include", "t", *SYNCS), "No resolvable bootstrap urls"),
        (("adopt", *LINE), "the following arguments are required: --offsets-topic"),
        (("adopt", "--offsets-topic", "t"), "behind -- comes the command line of a mirror that runs"),
        (("adopt", "--offsets-topic", "t", *LINE, "--include", "t"), "No resolvable bootstrap urls"),
        (("cutover", *LINE), "one of the arguments --group --undo is required"),
        (("cutover", "--group", "g", "--undo", "r", *LINE), "not allowed with argument"),
        (("cutover", "--undo", "r", *LINE), "r cannot be read: No such file or directory"),
        (("cutover", "--group", "g", "--receipt", "c.properties", *LINE), "c.properties is there already"),
    ],
)
def test_what_is_refused(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.properties").write_text("bootstrap.servers=nowhere.invalid:1\ngroup.id=g\n")
    (tmp_path / "p.properties").write_text("bootstrap.servers=nowhere.invalid:2\n")
    assert main(words) == 1
    told = capsys.readouterr()
    assert not told.out
    assert told.err.startswith("legacy-mm: ") and said in told.err


def test_lines() -> None:
    here = [TopicPartition("t", 0), TopicPartition("t", 1)]
    sync = GroupPosition(How.OFFSET_SYNC, 101, OffsetPair(10, 100))
    positions = [
        Position(here[0], CommittedOffset(17), TopicPartition("w.t", 0), sync, 8),
        Position(here[1], CommittedOffset(3), here[1], GroupPosition(How.NOT_MIRRORED)),
    ]
    assert list(_lines(positions, explain=False)) == ["t-0 at 17 -> w.t-0 at 101", "t-1 at 3 -> not translated"]
    assert list(_lines(positions, explain=True)) == [
        "t-0 at 17 -> w.t-0 at 101; by the offset sync 10 -> 100; some records may be read again; 8 left to read",
        "t-1 at 3 -> not translated; the topic is not mirrored",
    ]


class SlowTopics:
    """A translation whose topics take five minutes to read; then they are known."""

    def __init__(self) -> None:
        self.left = 300.0
        self.source = SimpleNamespace(groups=FakeGroups(g={}))

    def refresh(self, deadline: Deadline) -> None:
        self.left -= min(self.left, deadline.remaining())

    def positions(self, group: str, deadline: Deadline, *, from_first: bool) -> list[Position]:
        self.refresh(deadline)
        here = TopicPartition("t", 0)
        return [Position(here, CommittedOffset(3), here, GroupPosition(How.UNKNOWN))] if self.left else []


def test_topics_that_take_long_to_read_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = SimpleNamespace(translation=SlowTopics())
    monkeypatch.setattr(group_offsets, "groups_of", lambda line: nullcontext(flow))
    assert main(("translate", "--group", "g", *LINE)) == 0
