"""What becomes of a source batch whose records a handler sees: no socket, no Kafka, no Java."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.errors import HandlerFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Frame
from legacy_mm.base.settings import HandlerSettings, QuarantineSettings
from legacy_mm.dataplane.handler_exit import HandlerExit
from legacy_mm.dataplane.handler_stage import HandlerStage
from legacy_mm.dataplane.keep_alive import KeepAlive
from legacy_mm.dataplane.plain_stage import Outbound
from legacy_mm.dataplane.send_failure import Unsendable
from legacy_mm.handlers.batches import Handled, SourceRecords
from legacy_mm.handlers.quarantine import read_file
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_set import Arrived
from legacy_mm.runtime.channel.frames import TaskConfig
from tests.fakes.stage_engine import FakeStageEngine
from tests.fixtures import client_settings
from tests.unit.protocol.batches import NOW, Row, build, decode

HERE = TopicPartition("t", 1)
FORBIDDEN, UNKNOWN_TOPIC, UNKNOWN_PARTITION = 29, 3, 3
SCRIPT = """
from legacy_mm.handlers.api import MessageHandler

class Obey(MessageHandler):
    '''The value says which topics get the record: `a`, `a=2` (partition 2), nothing, `!` (an error), `exit`.'''

    def __init__(self, argument=None):
        self.seen = []

    def handle(self, record):
        self.seen.append(record.offset)
        made = []
        for word in record.value.decode().split():
            if word == "exit":
                raise SystemExit(3)
            topic, _, number = word.partition("=")
            if topic == "!":
                raise ValueError("bad")
            made.append(record.to(topic)._replace(partition=int(number) if number else None))
        return made
"""


class Scene(FakeStageEngine):
    """A stage and its engine."""

    def __init__(self, script: Path, **changes: Any) -> None:
        super().__init__(a=4, b=4, copy=4)
        self.reported: list[Frame] = []
        handler = HandlerSettings(f"{script}:Obey")
        settings = {"handler": handler, "abort_on_send_failure": True, **changes}
        clients = client_settings.read_consumer({}), client_settings.read_producer({})
        config = TaskConfig({HERE: 0}, {"t": "copy"}, *clients, 0.0, 1.0, synchronous=False, **settings)
        self.exit = HandlerExit(lambda: None, self.reported.append)
        beat = KeepAlive(lambda: None)
        self.stage = HandlerStage(self.services(config), beat, self.exit)

    def give(self, *words: str, begin: int = 0, codec: Codec = Codec.NONE) -> Outbound | None:
        """The outcome of a batch whose records have these values, from offset 100 on."""
        rows = [Row(number, NOW + number, b"k%d" % number, word.encode()) for number, word in enumerate(words)]
        return self.stage.outbound(HERE, Arrived(build(rows, base_offset=100, codec=codec), codec), begin)

    @property
    def seen(self) -> list[int]:
        handler: Any = self.stage._handler
        found: list[int] = handler._handle.__self__.seen
        return found


@pytest.fixture
def scene(tmp_path: Path) -> Callable[..., Scene]:
    script = tmp_path / "obey.py"
    script.write_text(SCRIPT)
    return lambda **changes: Scene(script, **changes)


def sent(found: Outbound | None) -> list[tuple[str, int, bytes | None, int]]:
    """Topic, partition, key and source offset of each record, by topic."""
    assert found is not None
    return sorted(
        (topic, number, row.key, offset)
        for topic, route in found.routes
        for number, batch, offsets in route.batches
        for row, offset in zip(decode(batch), offsets, strict=True)
    )


@pytest.mark.parametrize("codec", Codec)
def test_a_record_may_become_several_or_none(scene: Callable[..., Scene], codec: Codec) -> None:
    made = scene()
    found = made.give("a b a", "", "a=3", "b=0 b=1", codec=codec)
    assert found is not None
    assert (found.records, found.next_offset, found.failure) == (4, 104, None)
    by_key = {topic: number for topic, number, key, _ in sent(found) if key == b"k0"}
    assert sent(found) == sorted(
        [("a", by_key["a"], b"k0", 100)] * 2
        + [("b", by_key["b"], b"k0", 100), ("a", 3, b"k2", 102), ("b", 0, b"k3", 103), ("b", 1, b"k3", 103)]
    )
    assert made.stage.counts() == (1, 0)
    assert {batch.header.codec for _, route in found.routes for _, batch, _ in route.batches} == {codec}


def test_records_before_the_position_are_not_seen(scene: Callable[..., Scene]) -> None:
    made = scene()
    assert [offset for *_, offset in sent(made.give("a", "a", "a", begin=102))] == [102]
    assert made.seen == [102]


def test_a_handler_sees_a_record_once_although_its_partition_waits(scene: Callable[..., Scene]) -> None:
    made = scene()
    made.sizes.pop("b")
    assert made.give("a", "b") is None
    assert made.held == [(HERE, 100, "b", 1)]
    made.sizes["b"] = 2
    assert [(topic, offset) for topic, *_, offset in sent(made.give("a", "b"))] == [("a", 100), ("b", 101)]
    assert made.seen == [100, 101]
    assert made.give("a", "b") is not None
    assert made.seen == [100, 101] * 2, "what was sent is kept no longer"


def test_what_was_made_is_forgotten_where_the_partition_resumes_elsewhere(scene: Callable[..., Scene]) -> None:
    made = scene()
    assert made.give("a") is not None
    made.stage.waits(HERE)
    made.stage.forget(HERE)
    assert made.give("b") is not None
    assert made.seen == [100, 100]


def test_another_batch_at_that_place_is_handled_anew(scene: Callable[..., Scene]) -> None:
    """The cleaner has removed its end meanwhile."""
    made = scene()
    made.sizes.pop("b")
    assert made.give("a", "b") is None
    assert [topic for topic, *_ in sent(made.give("a"))] == ["a"]
    assert made.seen == [100, 101, 100]


def test_a_partition_that_stays_away_costs_its_own_records_only(scene: Callable[..., Scene]) -> None:
    made = scene()
    found = made.give("a=9 a=2", "a=9", "a=0")
    assert [(number, offset) for _, number, _, offset in sent(found)] == [(0, 102), (2, 100)]
    assert made.failed == [("a", 2, UNKNOWN_PARTITION)]
    assert made.why == ["the handler names a partition that the topic lacks: it has 4"]


def test_a_topic_that_cannot_be_had_costs_its_own_records_only(scene: Callable[..., Scene]) -> None:
    made = scene()
    made.sizes["b"] = Unsendable(FORBIDDEN)
    assert [topic for topic, *_ in sent(made.give("b a", "b"))] == ["a"]
    assert made.failed == [("b", 2, FORBIDDEN)]


def test_what_cannot_be_sent_is_told_once_although_the_batch_waits_for_another_topic(
    scene: Callable[..., Scene],
) -> None:
    made = scene(abort_on_send_failure=False)
    made.sizes |= {"b": Unsendable(FORBIDDEN), "copy": 0}
    words = "a=9 b", "a", "copy"
    for _ in range(3):
        assert made.give(*words) is None
    assert made.failed == [("a", 1, UNKNOWN_PARTITION), ("b", 1, FORBIDDEN)]
    made.sizes |= {"b": 4, "copy": 4}
    assert [(topic, offset) for topic, *_, offset in sent(made.give(*words))] == [("a", 101), ("copy", 102)]
    assert len(made.failed) == 2, "what was told as lost is lost"


def test_records_keep_their_partition_unless_the_handler_names_one(scene: Callable[..., Scene]) -> None:
    made = scene(keeps_partition=["t"])
    assert [(number, offset) for _, number, _, offset in sent(made.give("a", "a=3"))] == [(1, 100), (3, 101)]
    made.sizes["a"] = 3
    assert made.give("a") is None
    assert made.held == [(HERE, 100, "a", 4)], "as many partitions as the source"


def test_a_failure_ends_the_mirror_after_the_records_before_it(scene: Callable[..., Scene]) -> None:
    made = scene()
    found = made.give("a", "b", "a !", "a")
    assert found is not None
    assert [offset for *_, offset in sent(found)] == [100, 101]
    assert (found.records, found.next_offset) == (2, 102)
    assert str(found.failure) == "the message handler failed on t-1 at offset 102: ValueError: bad"
    assert isinstance(found.failure, HandlerFailure)


@pytest.mark.parametrize("abort", [True, False])
def test_a_name_that_no_topic_can_have(scene: Callable[..., Scene], abort: bool) -> None:
    """It fails its record; with abort.on.send.failure=false the target says so when it is sent."""
    made = scene(abort_on_send_failure=abort)
    made.sizes["x/y"] = Unsendable(17)
    found = made.give("a", "x/y", "a")
    assert [offset for *_, offset in sent(found)] == ([100] if abort else [100, 102])
    assert found is not None
    assert (found.failure is not None) == abort
    assert made.failed == ([] if abort else [("x/y", 1, 17)])


def test_records_that_fail_are_set_aside_in_a_file(scene: Callable[..., Scene], tmp_path: Path) -> None:
    file = tmp_path / "aside"
    made = scene(quarantine=QuarantineSettings(failed=True, file=str(file)))
    found = made.give("a", "!", "! a", "b")
    assert [(topic, offset) for topic, *_, offset in sent(found)] == [("a", 100), ("b", 103)]
    assert [record.offset for record in read_file(file).records] == [101, 102]
    assert made.stage.counts() == (0, 2)
    assert made.seen == [100, 101, 102, 103]


def test_records_that_fail_are_set_aside_in_a_topic(scene: Callable[..., Scene]) -> None:
    made = scene(quarantine=QuarantineSettings(failed=True, topic="copy"))
    found = made.give("copy", "!", "copy")
    assert [(topic, offset) for topic, *_, offset in sent(found)] == [("copy", 100), ("copy", 101), ("copy", 102)]
    assert found is not None
    headers = [row.headers for _, route in found.routes for _, batch, _ in route.batches for row in decode(batch)]
    assert [name for each in headers for name, _ in each][:1] == ["legacy_mm.quarantine.error"]


def test_a_record_whose_failure_is_tolerated_is_left_out_and_told(
    scene: Callable[..., Scene], caplog: pytest.LogCaptureFixture
) -> None:
    """As a bridge for transforms answers with `errors.tolerance=all`."""
    made = scene()
    stage: Any = made.stage
    handle = stage._handler.handle
    stage._handler.handle = lambda source: (result := handle(source))._replace(tolerated=result.error is not None)
    found = made.give("a", "!", "!", "b")
    assert found is not None
    assert (found.records, found.next_offset, found.failure) == (4, 104, None)
    assert [offset for *_, offset in sent(found)] == [100, 103]
    assert made.stage.counts() == (2, 0)
    assert caplog.text.count("which is left out (errors.tolerance=all): ValueError: bad") == 2


def test_each_stage_makes_its_own_handler(scene: Callable[..., Scene]) -> None:
    """Difference: handler-for-each-job."""
    first, second = scene(), scene()
    first.give("a")
    assert (first.seen, second.seen) == ([100], [])


def test_a_handler_that_ends_the_program_is_not_asked_again(scene: Callable[..., Scene]) -> None:
    made = scene()
    found = made.give("a", "exit", "a")
    assert [offset for *_, offset in sent(found)] == [100]
    assert found is not None
    assert (found.next_offset, made.exit.asked) == (101, True)
    assert made.seen == [100, 101]


def test_a_slow_handler_tells_that_the_task_lives(scene: Callable[..., Scene]) -> None:
    made, beaten = scene(), threading.Event()
    made.stage._beat = KeepAlive(beaten.set)
    made.stage._handler = WaitsFor(beaten)
    assert made.give("a") is not None
    assert beaten.is_set()


class WaitsFor:
    """A handler that takes until something has happened."""

    def __init__(self, event: threading.Event) -> None:
        self._event = event

    def handle(self, source: SourceRecords) -> Handled:
        assert self._event.wait(30)
        return Handled([], 1, 1, source.header.next_offset)


def test_an_engine_that_is_over_does_not_hold_up_the_end_of_java(scene: Callable[..., Scene]) -> None:
    """The other tasks of its JVM would wait with it; an engine that fails asks for no code."""
    made = scene()
    made.stage.close()
    hook = threading.Thread(target=lambda: made.exit.begun(stuck=False), daemon=True)
    hook.start()
    hook.join(30)
    assert not hook.is_alive()
