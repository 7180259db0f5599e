"""How duties are run: what is told, how often, and that nothing ends them."""

from __future__ import annotations

import math
import queue
import threading
from dataclasses import replace

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.features.duties import Applier, Duties
from legacy_mm.features.duty import Scheduled
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.changes import AddPartitions, Change, CreateAcl, CreateTopic, Inspection, SetConfig, SetQuota
from tests.fakes.admin import FakeAdmin

SECONDS = 10.0


def target() -> FakeAdmin:
    return FakeAdmin(refuses={"bad": "Broker: Invalid topic"}, there=["there"])


class Inspections:
    """A duty that finds one thing after the other, then nothing."""

    name = "inspections"

    def __init__(self, *found: Inspection | Exception) -> None:
        self.found = list(found)
        self.asked: queue.SimpleQueue[frozenset[str]] = queue.SimpleQueue()

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        found = self.found.pop(0) if self.found else Inspection()
        self.asked.put(topics)
        if isinstance(found, Exception):
            raise found
        return found


class Alarm(threading.Event):
    """Tells how long it is waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: queue.SimpleQueue[float | None] = queue.SimpleQueue()

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.put(timeout)
        return super().wait(timeout)


class Bench:
    """Duties with a target, and what they counted."""

    def __init__(
        self, *duties: Inspections, interval: float = 0.0, before_copying: bool = False, run_timeout: float = 60.0
    ) -> None:
        self.target, self.counted = target(), queue.SimpleQueue[tuple[str, int, int]]()
        scheduled = [Scheduled(duty, interval, before_copying) for duty in duties]
        self.duties = Duties(scheduled, Applier(self.target), lambda *row: self.counted.put(row), run_timeout)

    def __enter__(self) -> Bench:
        self.duties.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.duties.stop()
        self.duties.join(SECONDS)
        assert not self.duties.is_alive()


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records]


class Waits(Inspections):
    """A duty that notes how long it may look."""

    def __init__(self) -> None:
        super().__init__()
        self.remaining: queue.SimpleQueue[float] = queue.SimpleQueue()

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        self.remaining.put(deadline.remaining())
        return super().inspect(topics, deadline)


def test_a_run_may_take_as_long_as_the_file_says() -> None:
    duty = Waits()
    with Bench(duty, interval=math.inf, run_timeout=3000.0) as bench:
        bench.duties.topics_found(frozenset(), Deadline.after(SECONDS))
        assert 2000 < duty.remaining.get(timeout=SECONDS) <= 3000


def test_changes_are_made_told_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    configs, topic = SetConfig("new", "a", None, "1"), CreateTopic("new", 3, -1)
    wanted = configs, topic, CreateTopic("there", 1, -1), AddPartitions("bad", 1, 2)
    found = Inspection(wanted, ("trouble",), ("note",))
    with Bench(Inspections(found)) as bench:
        bench.duties.topics_found(frozenset({"t"}), Deadline.after(SECONDS))
        assert bench.counted.get(timeout=SECONDS) == ("inspections", 2, 2)
    assert bench.target.done == [topic, CreateTopic("there", 1, -1), configs]
    assert lines(caplog) == [
        ("INFO", f"[inspections] {topic.text}"),
        ("INFO", f"[inspections] {configs.text}"),
        ("WARNING", "[inspections] trouble; it is tried again"),
        ("WARNING", "[inspections] add partitions to topic bad: from 1 to 2: Broker: Invalid topic; it is tried again"),
        ("INFO", "[inspections] note"),
    ]


def test_nothing_is_allowed_where_what_forbids_is_refused() -> None:
    """Else the copy would be open to whom the source refuses; other topics get their rules."""
    read = AclRule("t", "LITERAL", "User:x", "*", "READ", "ALLOW")
    made = [read, replace(read, topic="u"), replace(read, topic="*"), replace(read, permission="DENY")]
    applier = Applier(FakeAdmin(refuses={"DENY": "no such principal"}))
    outcomes = list(applier.apply([CreateAcl(rule) for rule in made], Deadline.after(SECONDS)))
    done = [outcome.change for outcome in outcomes if not outcome.error]
    assert done == [CreateAcl(replace(read, topic="u"))]
    assert len(outcomes) == len(made)


def test_a_refused_limit_holds_no_other_one_of_its_client_back() -> None:
    """Brokers take all of them, or none; of another client it holds back none anyway."""
    user, other = (("user", "x"),), (("client-id", "bad"),)
    bad, good = SetQuota(user, "bad", None, 1.0), SetQuota(user, "good", None, 2.0)
    alone = SetQuota(other, "good", 1.0, 2.0)
    admin = target()
    outcomes = list(Applier(admin).apply([bad, good, alone], Deadline.after(SECONDS)))
    assert [(each.change, each.error) for each in outcomes] == [(bad, "Broker: Invalid topic"), (good, ""), (alone, "")]
    assert admin.done == [good, alone]


def test_a_refused_property_holds_no_other_one_of_its_topic_back() -> None:
    """Brokers take all of them, or none."""
    bad, good = SetConfig("t", "bad", None, "1"), SetConfig("t", "good", None, "2")
    admin = target()
    outcomes = list(Applier(admin).apply([bad, good], Deadline.after(SECONDS)))
    assert [(outcome.change, outcome.error) for outcome in outcomes] == [(bad, "Broker: Invalid topic"), (good, "")]
    assert admin.done == [good]


def test_a_note_has_what_was_done_and_not_what_was_refused() -> None:
    """Rules of ours that are noted are removed one day: others have made those that were refused."""
    bad, good = (CreateAcl(AclRule(topic, "LITERAL", "User:x", "*", "READ", "ALLOW")) for topic in ("bad", "new"))
    noted: list[Change] = []
    list(Applier(target(), [noted.extend]).apply([bad, good], Deadline.after(SECONDS)))
    assert noted == [good]


def test_what_fails_because_the_mirror_stops_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    inspections = Inspections(HostError("Java has ended"))
    bench = Bench(inspections)
    bench.duties.stop()
    assert bench.duties.perform("inspections", Deadline.after(SECONDS)) is False
    assert lines(caplog) == []


@pytest.mark.parametrize(
    ("failure", "text"), [(HostError("no answer"), "no answer"), (ValueError("a bug"), "ValueError: a bug")]
)
def test_a_cause_is_told_once_until_it_is_gone(failure: Exception, text: str, caplog: pytest.LogCaptureFixture) -> None:
    noted = Inspection(notes=("nobody is there",))
    with Bench(Inspections(failure, failure, noted, noted, failure)) as bench:
        caplog.set_level("INFO")
        bench.duties.topics_found(frozenset(), Deadline.after(SECONDS))
        counts = [bench.counted.get(timeout=SECONDS) for _ in range(6)]
    assert counts == [("inspections", 0, count) for count in (1, 1, 0, 0, 1, 0)]
    told = ("WARNING", f"[inspections] {text}; it is tried again")
    assert lines(caplog) == [told, ("INFO", "[inspections] nobody is there"), told]


def test_nothing_is_looked_at_before_topics_are_known() -> None:
    duty = Inspections()
    with Bench(duty, interval=60.0) as bench:
        with pytest.raises(queue.Empty):
            duty.asked.get(timeout=0.2)
        bench.duties.topics_found(frozenset({"t"}), Deadline.after(SECONDS))
        assert duty.asked.get(timeout=SECONDS) == {"t"}


def test_what_comes_before_copying_is_done_when_topics_found_returns() -> None:
    """Also while the thread does not run, or is at work elsewhere; what failed then is tried again."""
    change = CreateTopic("new", 3, -1)
    duty = Inspections(Inspection((change,)), HostError("away"), Inspection((change,)))
    bench = Bench(duty, interval=60.0, before_copying=True)
    bench.duties.topics_found(frozenset({"new"}), Deadline.after(SECONDS))
    assert bench.target.done == [change]
    bench.duties.topics_found(frozenset({"new", "newer"}), Deadline.after(SECONDS))
    assert bench.target.done == [change]
    bench.duties.topics_found(frozenset({"new", "newer"}), Deadline.after(SECONDS))
    assert bench.target.done == [change, change]
    assert [duty.asked.get(timeout=SECONDS) for _ in range(3)] == [{"new"}, {"new", "newer"}, {"new", "newer"}]


def test_what_could_not_be_done_before_copying_is_tried_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its interval, and also where its thread has nothing to wait for; until it has succeeded."""
    monkeypatch.setattr("legacy_mm.features.duties._RETRY_BACKOFF", 0.0)
    change = CreateTopic("new", 3, -1)
    untold = Inspection(troubles=("x",), unfinished=True)
    bad = Inspection((CreateTopic("bad", 1, -1),))
    duty = Inspections(Inspection(), HostError("away"), untold, bad, Inspection((change,)))
    bench, alarm = Bench(duty, interval=math.inf, before_copying=True), Alarm()
    bench.duties._wake = alarm
    with bench:
        bench.duties.topics_found(frozenset(), Deadline.after(SECONDS))
        assert alarm.waits.get(timeout=SECONDS) == threading.TIMEOUT_MAX
        bench.duties.topics_found(frozenset({"new"}), Deadline.after(SECONDS))
        counts = [bench.counted.get(timeout=SECONDS) for _ in range(5)]
    assert counts == [("inspections", 0, 0), *[("inspections", 0, 1)] * 3, ("inspections", 1, 0)]
    assert bench.target.done == [change]


def test_a_duty_can_be_seen_to_at_once() -> None:
    """Before topics are known; what is refused is no failure."""
    bad, good = CreateTopic("bad", 1, -1), CreateTopic("new", 1, -1)
    bench = Bench(Inspections(HostError("away"), Inspection((bad, good))), interval=60.0)
    assert not bench.duties.perform("inspections", Deadline.after(SECONDS))
    assert bench.duties.perform("inspections", Deadline.after(SECONDS))
    assert bench.target.done == [good]


def test_it_goes_on_beside_a_duty_that_fails() -> None:
    bad, good = Inspections(*[HostError("away")] * 1000), Inspections()
    with Bench(bad, good) as bench:
        bench.duties.topics_found(frozenset(), Deadline.after(SECONDS))
        wait_until(lambda: len(bad.found) < 990 and good.asked.qsize() > 10, SECONDS, "both duties to be run often")
