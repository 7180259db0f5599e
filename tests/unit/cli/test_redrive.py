"""What leaves the quarantine when `legacy-mm redrive` sends it on, with a target that is a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typing_extensions import override

from legacy_mm.audit.java_files import write_properties
from legacy_mm.base.errors import HostError, SendFailure
from legacy_mm.base.kafka_clients import ProducerSettings
from legacy_mm.base.model import Outgoing
from legacy_mm.cli import redrive as command
from legacy_mm.cli.legacy_mm import main
from legacy_mm.clients.produce.producer_id import ProducerIdRefused
from legacy_mm.clients.produce.single_producer import RefusedRecord
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.quarantine import QuarantineFile, read_file
from legacy_mm.runtime.jvm import keystore
from tests.fakes.producer import FakeProducer


class Target(FakeProducer):
    """Takes what it is sent, but for the value that it `refuses`; `meanwhile` something else happens.

    `idempotent` False: it has no producer ids.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refuses: bytes | None = b"bad"
        self.idempotent = True
        self.meanwhile: Callable[[], None] = lambda: None
        self.asked: list[ProducerSettings] = []

    def made(self, settings: ProducerSettings, batch_of: object, silence_timeout: float) -> FakeProducer:
        self.asked.append(settings)
        return self

    @override
    def send(self, records: Sequence[Outgoing]) -> list[RefusedRecord]:
        if self.asked[-1].produce.idempotent and not self.idempotent:
            raise ProducerIdRefused("no right")
        self.meanwhile()
        super().send([record for record in records if record[2] != self.refuses])
        return [RefusedRecord("t", "too large") for record in records if record[2] == self.refuses]

    def values(self) -> list[bytes | None]:
        """What was sent."""
        return [record[2] for record in self.sent]


@pytest.fixture(autouse=True)
def target(monkeypatch: pytest.MonkeyPatch) -> Target:
    made = Target()
    monkeypatch.setattr(command, "NativeProducer", made.made)
    return made


class Aside:
    """A quarantine file, and what redrive makes of it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "aside.jsonl"
        consumer = write_properties(folder / "consumer", {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"})
        self.producer = write_properties(folder / "producer", {"bootstrap.servers": "127.0.0.1:1"})
        self._line = ["--consumer.config", str(consumer), "--producer.config", str(self.producer), "--whitelist", "t"]

    def add(self, *values: bytes) -> None:
        """As a mirror does."""
        for value in values:
            QuarantineFile(str(self.file)).put(Record("t", 5, 7, 1, 99, b"k", value, ()), "too large")

    def redrive(self, *words: str) -> int:
        return main(["redrive", str(self.file), "--", *self._line, *(words or ("--send.on.error", "quarantine"))])

    def redrive_topic(self) -> int:
        """As an operator does who knows of the topic alone."""
        flags = ("--send.on.error", "quarantine", "--quarantine.topic", "q", "--quarantine.file", str(self.file))
        return main(["redrive", "--", *self._line, *flags])

    def holds(self, ending: str = "") -> list[bytes | None]:
        """The values in the file, or in one with such an ending."""
        return [record.value for record in read_file(Path(f"{self.file}{ending}")).records]


@pytest.fixture
def aside(tmp_path: Path) -> Aside:
    return Aside(tmp_path)


def test_what_is_set_aside_meanwhile_stays_in_the_quarantine(aside: Aside, target: Target) -> None:
    """Invariant A: its source offset is committed."""
    aside.add(b"1", b"2")
    target.meanwhile = lambda: aside.add(b"3")
    assert aside.redrive() == 0
    assert (target.values(), aside.holds(), aside.holds(".redriven")) == ([b"1", b"2"], [b"3"], [b"1", b"2"])
    target.meanwhile = lambda: None
    assert aside.redrive() == 0
    assert (target.values(), aside.holds(".redriven.2")) == ([b"1", b"2", b"3"], [b"3"])


def test_what_was_not_sent_is_sent_the_next_time_and_what_came_since(
    aside: Aside, target: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    aside.add(b"1", b"bad")
    assert aside.redrive() == 255
    left = f"{aside.file}.redriving"
    said = f"sending to t failed: too large; the records are in {left}, which the next redrive takes first"
    assert said in capsys.readouterr().err
    aside.add(b"3")
    target.refuses = None
    assert aside.redrive() == 0
    assert target.values() == [b"1", b"1", b"bad", b"3"]
    assert not aside.file.exists()
    assert not Path(left).exists()


def test_what_is_no_record_stays_in_the_quarantine(
    aside: Aside, target: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise SendFailure("a record cannot be sent: int too large to convert")

    aside.add(b"1")
    target.meanwhile = refuse
    assert aside.redrive() == 255
    said = f"a record cannot be sent: int too large to convert; the records are in {aside.file}"
    assert said in capsys.readouterr().err


def test_a_file_that_is_no_quarantine_keeps_its_name(aside: Aside, capsys: pytest.CaptureFixture[str]) -> None:
    aside.file.write_text("group.id=g\n")
    assert aside.redrive() == 1
    assert "holds no quarantined record" in capsys.readouterr().err
    assert aside.file.read_text() == "group.id=g\n"


class EmptyTopic:
    """The topic of the quarantine when all of it was sent."""

    def __init__(self, *words: object) -> None: ...

    def read(self) -> list[object]:
        return []

    def done(self) -> None: ...


def test_a_redrive_of_the_topic_says_what_lies_in_the_file(
    aside: Aside, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the topic has refused as well; some of it may be left by a redrive of the file that was interrupted."""
    monkeypatch.setattr(command, "Backlog", EmptyTopic)
    assert aside.redrive_topic() == 0
    assert f"no file {aside.file} here" in capsys.readouterr().out
    aside.add(b"1", b"bad")
    assert aside.redrive() == 255
    aside.add(b"2")
    capsys.readouterr()
    assert aside.redrive_topic() == 0
    told = capsys.readouterr().out
    assert f"3 records are in {aside.file}, because the topic did not take them" in told
    aside.file.write_text("group.id=g\n")
    assert aside.redrive_topic() == 0
    assert "holds no quarantined record" in capsys.readouterr().out


def test_without_a_way_to_go_nothing_is_taken(aside: Aside) -> None:
    """Nothing says that records were set aside without a handler."""
    aside.add(b"1")
    assert aside.redrive("--quarantine.topic", "q") == 1
    assert aside.holds() == [b"1"]


@pytest.mark.parametrize(("flags", "partition"), [((), None), (("--preserve.partitions", "true"), 5)])
def test_what_a_handler_leaves_open_goes_where_the_mirror_sends_it(
    aside: Aside, target: Target, flags: tuple[str, ...], partition: int | None
) -> None:
    aside.add(b"1")
    assert aside.redrive(*flags, "--handler.step", "rename.prefix=copy.") == 0
    assert [(record[0], record[4]) for record in target.sent] == [("copy.t", partition)]


def test_what_is_behind_a_torn_line_is_sent_and_the_line_is_named(
    aside: Aside, target: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    aside.add(b"1")
    aside.file.write_bytes(aside.file.read_bytes() + aside.file.read_bytes()[:50])
    aside.add(b"3")
    assert aside.redrive() == 1
    assert target.values() == [b"1", b"3"]
    said = f"{aside.file}.redriven has torn lines, which were not sent: 2\n"
    assert said in capsys.readouterr().err
    assert not aside.file.exists()


def test_a_target_that_goes_silent_leaves_the_records_where_they_are(
    aside: Aside, target: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    def go_silent() -> None:
        raise HostError("the target has acknowledged nothing for 30 s")

    aside.add(*(b"%d" % number for number in range(5)))
    target.meanwhile = go_silent
    assert aside.redrive() == 1
    assert "the target has acknowledged nothing for 30 s; the records are in" in capsys.readouterr().err
    target.meanwhile = lambda: None
    assert aside.redrive() == 0
    assert (len(target.sent), target.closed) == (5, True)


def test_a_target_without_producer_ids_gets_the_records_as_from_the_mirror(
    aside: Aside, target: Target, caplog: pytest.LogCaptureFixture
) -> None:
    target.idempotent = False
    aside.add(b"1")
    assert aside.redrive() == 0
    assert target.values() == [b"1"]
    assert "The target refuses an idempotent producer (no right)" in caplog.text


def test_where_producer_ids_are_wanted_the_target_s_reason_is_told(
    aside: Aside, target: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    target.idempotent = False
    aside.add(b"1")
    write_properties(aside.producer, {"bootstrap.servers": "127.0.0.1:1", "enable.idempotence": "true"})
    assert aside.redrive() == 255
    assert "the target refuses an idempotent producer: no right; the records are in" in capsys.readouterr().err


def test_key_stores_are_read(aside: Aside, target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystore, "read", lambda stores, java, **_: keystore.StoreContents(str(stores.trusted)))
    aside.add(b"1")
    secured = {"security.protocol": "SSL", "ssl.truststore.location": "/trust.jks", "ssl.truststore.password": "hush"}
    write_properties(aside.producer, {"bootstrap.servers": "127.0.0.1:1"} | secured)
    assert aside.redrive() == 0
    assert "/trust.jks" in (target.asked[-1].connection.tls.ca_pem or "")
