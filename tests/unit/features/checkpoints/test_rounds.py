"""What becomes of offset syncs: checkpoints, and groups at the target. No broker."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Collection
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import CommittedOffset, GroupOffsets, OffsetRun, TopicPartition
from legacy_mm.features.checkpoints.idle_partitions import IdlePartitions
from legacy_mm.features.checkpoints.rounds import CheckpointRounds, Checkpoints, Emitter, SourceGroups
from legacy_mm.features.checkpoints.target_groups import TargetGroups
from legacy_mm.features.checkpoints.translation import StoredSyncs, Translation
from legacy_mm.features.offset_syncs.offset_map import OffsetMap
from legacy_mm.logs.events import DUTY_FAILED
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from legacy_mm.metrics.registry import MirrorNames, Registry, Scope
from legacy_mm.metrics.window import WindowReading
from legacy_mm.protocol.mirror_records import Checkpoint, OffsetSync
from tests.fakes.groups import FakeGroups
from tests.fakes.inspector import FakeInspector
from tests.fakes.internal_topic import FakeInternalTopic

SECONDS = 20.0
ONE, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)


def decoded(topic: FakeInternalTopic, kind: Any) -> list[Any]:
    return [kind.decode(*pair) for pair in topic.written]


@pytest.fixture
def troubles(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What was told."""
    return lambda: [vars(line)["fields"]["reason"] for line in caplog.records if vars(line).get("event") == DUTY_FAILED]


def translation(
    *pairs: tuple[int, int], known: OffsetMap | None = None, partitions: Collection[int] = (0,)
) -> Translation:
    syncs = [OffsetSync("t", number, *pair).encode() for number in partitions for pair in pairs]
    topic = FakeInternalTopic(*syncs, (None, b"x"), (b"x", None))
    runs = known or OffsetMap()
    found = Translation(StoredSyncs(topic), lambda partition, offset: runs.nearest(offset))
    found.refresh(Deadline.after(SECONDS))
    return found


def test_the_exact_map_and_offset_syncs_answer_together() -> None:
    known = OffsetMap()
    known.add(OffsetRun(90, 5, 10))
    assert translation((95, 10), known=known).translate(ONE, 98) == 13, "exactly"
    assert translation((110, 20), known=known).translate(ONE, 112) == 21, "the sync knows more than the end of the map"
    assert translation((100, 7)).translate(ONE, 105) == 8
    assert translation((100, 7)).translate(ONE, 99) is None
    assert translation((100, 7)).translate(OTHER, 105) is None


OFFSETS = Scope("mirror_offsets", (("source", "west"), ("target", "east")))


class SlowGroups(FakeGroups):
    """Groups that note how long they may take to answer."""

    def __init__(self) -> None:
        super().__init__()
        self.remaining: queue.SimpleQueue[float] = queue.SimpleQueue()

    @override
    def groups(self, deadline: Deadline) -> frozenset[str]:
        self.remaining.put(deadline.remaining())
        return frozenset()


class Here:
    """A checkpoint thread's surroundings; its rounds are run by the test."""

    def __init__(
        self,
        source: FakeGroups,
        target: FakeGroups | None,
        known: FakeInternalTopic,
        *pairs: tuple[int, int],
        end: int | None = None,
        interval: float = 0.01,
        timeout: float = 60.0,
    ) -> None:
        """`pairs`: the offset syncs of both partitions; `end`: of every log of the target, None: nobody tells."""
        self.topic = known
        self.end = end
        self.looked = threading.Event()
        self.registry = Registry("f", "producer-1", {}, mirror_names=MirrorNames("west", "east", str))
        metrics = OffsetMetrics(self.registry)
        made = translation(*pairs, partitions=(0, 1))
        self.hidden = False
        """True: the mirror's positions cannot be read."""
        self.thread = Checkpoints(
            CheckpointRounds(interval, timeout, 0.01 if target else None),
            SourceGroups(source, lambda group: group != "mirror", None),
            made,
            Emitter(known, known.writer, metrics),
            None if target is None else TargetGroups(target, metrics),
            lambda topic: f"west.{topic}",
            lambda: frozenset({ONE}),
            self._ends,
            IdlePartitions(
                FakeInspector({"t": 2}, [(0, 100)]), self._copied, made.first_known, lambda _, begin, end: begin < end
            ),
        )

    def _ends(self, places: Collection[TopicPartition], deadline: Deadline) -> dict[TopicPartition, int]:
        self.looked.set()
        return {} if self.end is None else dict.fromkeys(places, self.end)

    def _copied(self, deadline: Deadline) -> GroupOffsets:
        if self.hidden:
            raise HostError("the mirror's positions cannot be read")
        return {place: CommittedOffset(100, "") for place in (ONE, OTHER)}

    def counted(self, name: str) -> float:
        return self.registry.snapshot().readings[OFFSETS][name].value

    def checkpoints(self) -> dict[str, WindowReading]:
        """By group, how long its checkpoints took."""
        return {
            dict(scope.labels)["group"]: found["checkpoint_ms"]
            for scope, found in self.registry.snapshot().readings.items()
            if scope.level == "mirror_group"
        }

    def __enter__(self) -> Here:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.thread.stop()
        self.thread.join(SECONDS)
        assert not self.thread.is_alive()


PLACE = TopicPartition("west.t", 0)


def test_a_round_may_take_as_long_as_the_file_says() -> None:
    groups = SlowGroups()
    with Here(groups, None, FakeInternalTopic(), (90, 40), timeout=3000.0):
        assert 2000 < groups.remaining.get(timeout=SECONDS) <= 3000


def test_a_checkpoint_is_written_once_for_each_place_and_again_when_the_group_moves() -> None:
    """The other partition is copied elsewhere."""
    source = FakeGroups(g={ONE: 100, OTHER: 100}, mirror={ONE: 100}, elsewhere={OTHER: 100}, reset={ONE: -1})
    with Here(source, None, FakeInternalTopic(), (90, 40), (100, 50)) as here:
        wait_until(lambda: here.topic.written, SECONDS, "the first checkpoint")
        source.committed["g"][ONE] = 104
        wait_until(lambda: len(here.topic.written) == 2, SECONDS, "the second one")
        source.committed["g"][ONE] = 95
        wait_until(lambda: len(here.topic.written) == 3, SECONDS, "one that goes back with the group")
    assert decoded(here.topic, Checkpoint) == [
        Checkpoint("g", "west.t", 0, 100, 50, "m"),
        Checkpoint("g", "west.t", 0, 104, 51, "m"),
        Checkpoint("g", "west.t", 0, 95, 41, "m"),
    ]
    assert here.counted("checkpoints") == here.checkpoints()["g"].recordings == 3
    assert here.checkpoints()["g"].minimum > 0


def test_a_group_without_a_checkpoint_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is known of where it stands; nor of what is copied elsewhere, but that is not ours to say."""
    source = FakeGroups(early={ONE: 80, OTHER: 5}, g={ONE: 100}, late={ONE: 80})
    told = lambda group: [each for each in caplog.messages if f"group {group} has no checkpoint for 1 " in each]  # noqa: E731
    with Here(source, None, FakeInternalTopic(), (90, 40)) as here:
        wait_until(lambda: told("early") and told("late"), SECONDS, "the lines")
        source.committed["late"][ONE] = 95
        wait_until(lambda: len(here.topic.written) == 2, SECONDS, "the checkpoint")
    assert (len(told("early")), len(told("late")), told("g")) == (1, 1, [])
    assert "such as t-0 at 80: " in told("early")[0]


def left_out(here: Here) -> list[dict[str, str]]:
    return [dict(scope.labels) for scope in here.registry.snapshot().readings if scope.level == "group_left_out"]


def test_groups_are_counted_with_those_that_have_no_checkpoint_or_cannot_be_read() -> None:
    source = FakeGroups(early={ONE: 80}, g={ONE: 100}, elsewhere={OTHER: 100}, secret={ONE: 100})
    source.untold["secret"] = "not authorized"
    with Here(source, None, FakeInternalTopic(), (90, 40)) as here:
        wait_until(lambda: left_out(here), SECONDS, "the first look")
        assert left_out(here) == [
            {"group": "early", "why": "no checkpoint for t-0"},
            {"group": "secret", "why": "its offsets cannot be read: not authorized"},
        ]
        assert (here.counted("groups_seen"), here.counted("last_look")) == (3, math.inf), "not all could be looked at"
        source.untold.clear()
        wait_until(lambda: here.counted("last_look") < SECONDS, SECONDS, "a look at all of them")
        assert [each["group"] for each in left_out(here)] == ["early"]


def test_known_checkpoints_keep_offsets_from_going_back_after_a_restart() -> None:
    known = FakeInternalTopic(Checkpoint("g", "west.t", 0, 100, 60, "").encode(), (None, None))
    with Here(FakeGroups(g={ONE: 100}, h={ONE: 100}), None, known, (90, 40)) as here:
        wait_until(lambda: len(here.topic.written) == 3, SECONDS, "the other group's")
    assert decoded(FakeInternalTopic(*here.topic.written[2:]), Checkpoint) == [
        Checkpoint("h", "west.t", 0, 100, 41, "m")
    ]


def test_what_is_behind_the_end_of_the_log_is_void() -> None:
    """The target's topic was made again: old checkpoints, and what old offset syncs say."""
    known = FakeInternalTopic(*(Checkpoint(group, *PLACE, 80, 300, "").encode() for group in ("g", "early")))
    source, target = FakeGroups(g={ONE: 100}, last={ONE: 200}, early={ONE: 80}, late={ONE: 205}), FakeGroups()
    with Here(source, target, known, (90, 40), (200, 70), end=70):
        wait_until(lambda: target.committed, SECONDS, "the groups")
    assert target.committed == {"g": {PLACE: 41}, "last": {PLACE: 70}}
    written = decoded(FakeInternalTopic(*known.written[2:]), Checkpoint)
    assert sorted((each.group, each.downstream) for each in written) == [("g", 41), ("last", 70)]


def test_they_are_looked_for_before_what_is_copied_next_comes_up_to_them() -> None:
    known = FakeInternalTopic(Checkpoint("g", *PLACE, 80, 300, "").encode())
    with Here(FakeGroups(), None, known, end=0, interval=3_600.0) as here:
        assert here.looked.wait(SECONDS)


def test_what_fails_because_the_mirror_stops_is_not_told(troubles: Callable[[], list[str]]) -> None:
    source = FakeGroups(g={ONE: 100})
    with Here(source, None, FakeInternalTopic(), (90, 40)) as here:

        def offsets(groups: Collection[str], deadline: Deadline) -> Any:
            here.thread.stop()
            raise HostError("Java has ended")

        source.offsets = offsets  # type: ignore[method-assign]
        here.thread.join(SECONDS)
    assert troubles() == []


def test_a_checkpoint_that_was_not_taken_is_written_in_the_next_round(troubles: Callable[[], list[str]]) -> None:
    known = FakeInternalTopic()
    known.refuses = "no"
    with Here(FakeGroups(g={ONE: 100}), None, known, (90, 40)) as here:
        wait_until(troubles, SECONDS, "the complaint")
        known.refuses = ""
        wait_until(lambda: here.topic.written, SECONDS, "the checkpoint")
    assert troubles() == ["the target did not accept all checkpoints: no"]
    assert here.counted("checkpoints") == here.checkpoints()["g"].recordings == 1


def test_a_refusal_is_told_by_its_own_round_only() -> None:
    topic = FakeInternalTopic()
    metrics = OffsetMetrics(Registry("f", "producer-1", {}, mirror_names=MirrorNames("west", "east", str)))
    emitter = Emitter(topic, topic.writer, metrics)
    topic.refuses = "no"
    with pytest.raises(HostError, match="did not accept all checkpoints: no"):
        emitter.emit(iter([Checkpoint("g", *PLACE, 100, 41, "m")]), 0.0, Deadline.after(SECONDS))
    topic.refuses = ""
    assert emitter.emit(iter([Checkpoint("g", *PLACE, 100, 41, "m")]), 0.0, Deadline.after(SECONDS)) == 1


def test_a_group_whose_offsets_are_not_told_does_not_keep_the_others_back(troubles: Callable[[], list[str]]) -> None:
    source = FakeGroups(g={ONE: 100}, secret={ONE: 100})
    source.untold["secret"] = "not authorized"
    with Here(source, None, FakeInternalTopic(), (90, 40)) as here:
        wait_until(lambda: here.topic.written and troubles(), SECONDS, "both")
    assert troubles()[0] == "group secret: not authorized"


@pytest.mark.parametrize("group", ["mirror", "deleted"])
def test_a_group_that_was_excluded_or_deleted_is_left_alone_at_the_target(group: str) -> None:
    """Its checkpoints from before are still in the topic; `mirror` is not accepted."""
    known = FakeInternalTopic(*(Checkpoint(name, *PLACE, 1_000, 100, "m").encode() for name in (group, "g")))
    source, target = FakeGroups(mirror={ONE: 0}, g={ONE: 0}), FakeGroups(g={PLACE: 0})
    with Here(source, target, known, (100, 50)):
        wait_until(lambda: target.committed["g"][PLACE] == 100, SECONDS, "the group that is there")
    assert target.committed == {"g": {PLACE: 100}}


def test_groups_at_the_target_follow_and_never_go_back() -> None:
    source = FakeGroups(new={ONE: 100}, ahead={ONE: 100}, behind={ONE: 100}, busy={ONE: 100})
    target = FakeGroups(ahead={PLACE: 70}, behind={PLACE: 7, TopicPartition("else", 0): 3}, busy={PLACE: 1})
    target.in_use.add("busy")
    with Here(source, target, FakeInternalTopic(), (90, 40)) as here:
        wait_until(lambda: "new" in target.committed, SECONDS, "the new group")
    assert here.counted("groups") == 2
    assert target.committed == {
        "new": {PLACE: 41},
        "ahead": {PLACE: 70},
        "behind": {PLACE: 41, TopicPartition("else", 0): 3},
        "busy": {PLACE: 1},
    }


def test_a_group_that_was_rewound_stays_at_the_target_and_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    """MirrorMaker 2 leaves it there, too, without a word. One that has read on at the target is not named."""
    at = [Checkpoint("g", *PLACE, upstream, upstream - 50, "").encode() for upstream in (1_000, 900, 950)]
    on = Checkpoint("read_on", *PLACE, 100, 50, "").encode()
    source = FakeGroups(g={ONE: 100}, read_on={ONE: 100})
    target = FakeGroups(g={PLACE: 950}, read_on={PLACE: 999})
    known = FakeInternalTopic(*at, on)
    with Here(source, target, known, (100, 50)):
        followed = "a checkpoint of the rewound group, and looks after it"
        wait_until(lambda: decoded(known, Checkpoint)[-1].downstream == 50, SECONDS, followed)
        wait_until(lambda: "was rewound" in caplog.text, SECONDS, "the line")
        inspections = target.asked
        wait_until(lambda: target.asked > inspections + 2, SECONDS, "more looks")
    (line,) = [each.getMessage() for each in caplog.records if "was rewound" in each.getMessage()]
    assert "group g was rewound at the source and stays where it is at the target for 1 partitions" in line
    assert f"such as {PLACE} at 950 with a checkpoint at 50" in line and "--topic west.t:0 --reset-offsets" in line
    assert target.committed == {"g": {PLACE: 950}, "read_on": {PLACE: 999}}


def test_a_group_that_has_caught_up_again_is_no_longer_a_rewound_one() -> None:
    metrics = OffsetMetrics(Registry("f", "producer-1", {}, mirror_names=MirrorNames("west", "east", str)))
    topic = FakeInternalTopic(*(Checkpoint("g", *PLACE, upstream, upstream, "").encode() for upstream in (9, 5, 7)))
    emitter = Emitter(topic, topic.writer, metrics)
    emitter.read(Deadline.after(SECONDS))
    assert set(emitter.rewound()) == {("g", PLACE)}
    emitter.emit(iter([Checkpoint("g", *PLACE, 9, 9, "")]), 0.0, Deadline.after(SECONDS))
    assert not emitter.rewound()


def test_a_log_of_checkpoints_that_cannot_be_read_is_told_and_read_again(troubles: Callable[[], list[str]]) -> None:
    """CheckpointStoreTest:73: until then no checkpoint is written, for an old one may be beyond it."""
    known = FakeInternalTopic(Checkpoint("g", "west.t", 0, 100, 60, "").encode())
    known.unreadable = True
    with Here(FakeGroups(g={ONE: 100}, h={ONE: 100}), None, known, (90, 40)) as here:
        wait_until(troubles, SECONDS, "the trouble")
        assert len(here.topic.written) == 1
        known.unreadable = False
        wait_until(lambda: len(here.topic.written) == 2, SECONDS, "the other group's")
    assert troubles() == ["cannot be read"]
    assert decoded(FakeInternalTopic(here.topic.written[1]), Checkpoint)[0].group == "h"


def test_a_target_that_does_not_answer_is_told_once_and_asked_again(troubles: Callable[[], list[str]]) -> None:
    target = FakeGroups()
    failures = iter([HostError("away"), HostError("away")])

    def states(groups: Collection[str], deadline: Deadline) -> tuple[dict[str, str], dict[str, str]]:
        for failure in failures:
            raise failure
        return FakeGroups.states(target, groups, deadline)

    target.states = states  # type: ignore[method-assign]
    with Here(FakeGroups(g={ONE: 100}), target, FakeInternalTopic(), (90, 40)):
        wait_until(lambda: target.committed, SECONDS, "the group")
    assert troubles() == ["away"]


def test_groups_that_are_left_out_are_named_once(caplog: pytest.LogCaptureFixture) -> None:
    """They commit, and have no checkpoints whatever they commit."""
    found = {"app", "console-consumer-1"}
    admin: Any = SimpleNamespace(groups=lambda deadline: frozenset(found), offsets=lambda groups, deadline: ({}, {}))
    groups = SourceGroups(admin, lambda group: group == "app", 0.0)
    with caplog.at_level("INFO", logger="legacy_mm"):
        for _ in range(2):
            groups.offsets(Deadline.after(SECONDS))
        found.add("console-consumer-2")
        groups.offsets(Deadline.after(SECONDS))
    beginning = "[checkpoints] left out by groups and groups.exclude, or the mirror's own: console-consumer-"
    assert [record.getMessage() for record in caplog.records] == [f"{beginning}1", f"{beginning}2"]


def test_a_group_that_reads_copies_from_the_target_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    home = FakeGroups(back={TopicPartition("east.t", 0): 7, ONE: 5}, other={ONE: 5})
    groups = SourceGroups(home, lambda group: True, None, lambda topic: topic.startswith("east."))
    for _ in range(2):
        groups.offsets(Deadline.after(SECONDS))
    told = [record.getMessage() for record in caplog.records if "not brought back" in record.getMessage()]
    assert [text.rpartition(": ")[2] for text in told] == ["back"]


def test_a_group_that_has_read_all_goes_on_at_the_end_of_a_copy_of_which_nothing_is_known() -> None:
    """By the rule of `cutover`; a group that has something left has no checkpoint."""
    source = FakeGroups(g={ONE: 100, OTHER: 100}, behind={ONE: 100, OTHER: 99})
    with Here(source, None, FakeInternalTopic(), end=70) as here:
        wait_until(lambda: here.topic.written, SECONDS, "a checkpoint")
    assert decoded(here.topic, Checkpoint) == [Checkpoint("g", "west.t", 0, 100, 70, "m")]


def test_an_idle_partition_that_cannot_be_judged_is_told_and_judged_again(
    troubles: Callable[[], list[str]],
) -> None:
    source = FakeGroups(g={TopicPartition("t", 0): 100})
    with Here(source, None, FakeInternalTopic(), end=70) as here:
        here.hidden = True
        wait_until(troubles, SECONDS, "the line")
        assert not here.topic.written
        here.hidden = False
        source.committed["g"][OTHER] = 100
        wait_until(lambda: here.topic.written, SECONDS, "the checkpoint")
    assert set(troubles()) == {"the mirror's positions cannot be read"}
