"""What leaves the quarantine when `legacy-mm redrive` sends it on, with a target that is a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm import clock
from legacy_mm.audit.java_files import write_properties
from legacy_mm.cli import redrive as command
from legacy_mm.cli.legacy_mm import main
from legacy_mm.clients.librdkafka.sender import FailedSend
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.quarantine import QuarantineFile, read_file
from legacy_mm.jvm import keystore
from legacy_mm.model import Outgoing
from tests.fakes.sender import FakeSender

TOO_LARGE = FailedSend("t", 1, 1, "too large", "MSG_SIZE_TOO_LARGE", False, False, of_the_record=True)

NO_PRODUCER_ID = replace(TOO_LARGE, reason="no right", fatal=True, refuses_idempotence=True)


class Target(FakeSender):
    """Takes what it is sent, but for the value that it `refuses`; `meanwhile` something else happens.

    It acknowledges `at_once` so many records, and 20 s go by; `idempotent` False: it has no producer ids.
    """

    sent: list[Outgoing]
    refuses: bytes | None
    meanwhile: Callable[[], None]
    at_once = 1_000
    most_waiting = 0
    seconds = 0.0
    idempotent = True
    settings: ProducerSettings

    def __init__(
        self, settings: ProducerSettings, names: Mapping[str, str], on_failure: Callable[[FailedSend], None], *_: Any
    ) -> None:
        super().__init__(settings, names, on_failure)
        Target.settings = settings
        self._on_failure = on_failure
        self._waiting: list[Outgoing] = []
        self._stuck = settings.produce.idempotent and not Target.idempotent

    @override
    def send_outgoing(
        self, records: Sequence[Outgoing], begin: int = 0, origins: Any = None, *, are_rows: bool = False
    ) -> int:
        Target.meanwhile()
        for record in records[begin:]:
            if record[2] == Target.refuses:
                self._on_failure(TOO_LARGE)
            else:
                self._waiting.append(record)
        return len(records)

    @override
    def poll(self, seconds: float) -> None:
        Target.seconds += 20
        Target.most_waiting = max(Target.most_waiting, len(self._waiting))
        if not self._stuck:
            Target.sent += self._waiting[: Target.at_once]
            del self._waiting[: Target.at_once]

    @override
    def unacknowledged(self) -> int:
        return len(self._waiting)

    @override
    def fatal(self) -> FailedSend | None:
        return NO_PRODUCER_ID if self._stuck else None


@pytest.fixture(autouse=True)
def target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "RecordSender", Target)
    monkeypatch.setattr(clock, "monotonic", lambda: Target.seconds)
    monkeypatch.setattr(Target, "sent", [], raising=False)
    monkeypatch.setattr(Target, "most_waiting", 0)
    monkeypatch.setattr(Target, "refuses", b"bad", raising=False)
    monkeypatch.setattr(Target, "meanwhile", staticmethod(lambda: None), raising=False)


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

    def holds(self, ending: str = "") -> list[bytes | None]:
        """The values in the file, or in one with such an ending."""
        return [record.value for record in read_file(Path(f"{self.file}{ending}")).records]


@pytest.fixture
def aside(tmp_path: Path) -> Aside:
    return Aside(tmp_path)


def values() -> list[bytes | None]:
    """What was sent."""
    return [record[2] for record in Target.sent]


def test_what_is_set_aside_meanwhile_stays_in_the_quarantine(aside: Aside, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant A: its source offset is committed."""
    aside.add(b"1", b"2")
    monkeypatch.setattr(Target, "meanwhile", staticmethod(lambda: aside.add(b"3")))
    assert aside.redrive() == 0
    assert (values(), aside.holds(), aside.holds(".redriven")) == ([b"1", b"2"], [b"3"], [b"1", b"2"])
    monkeypatch.setattr(Target, "meanwhile", staticmethod(lambda: None))
    assert aside.redrive() == 0
    assert (values(), aside.holds(".redriven.2")) == ([b"1", b"2", b"3"], [b"3"])


def test_what_was_not_sent_is_sent_the_next_time_and_what_came_since(
    aside: Aside, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aside.add(b"1", b"bad")
    assert aside.redrive() == 255
    left = f"{aside.file}.redriving"
    said = f"sending to t failed: too large; the records are in {left}, which the next redrive takes first"
    assert said in capsys.readouterr().err
    aside.add(b"3")
    monkeypatch.setattr(Target, "refuses", None)
    assert aside.redrive() == 0
    assert values() == [b"1", b"1", b"bad", b"3"]
    assert not aside.file.exists()
    assert not Path(left).exists()


def test_what_is_no_record_stays_in_the_quarantine(
    aside: Aside, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise ValueError("the name of a header holds a NUL: 'a\\x00'")

    aside.add(b"1")
    monkeypatch.setattr(Target, "meanwhile", staticmethod(refuse))
    assert aside.redrive() == 255
    said = f"a record cannot be sent: the name of a header holds a NUL: 'a\\x00'; the records are in {aside.file}"
    assert said in capsys.readouterr().err


def test_a_file_that_is_no_quarantine_keeps_its_name(aside: Aside, capsys: pytest.CaptureFixture[str]) -> None:
    aside.file.write_text("group.id=g\n")
    assert aside.redrive() == 1
    assert "holds no quarantined record" in capsys.readouterr().err
    assert aside.file.read_text() == "group.id=g\n"


def test_without_a_way_to_go_nothing_is_taken(aside: Aside) -> None:
    """Nothing says that records were set aside without a handler."""
    aside.add(b"1")
    assert aside.redrive("--quarantine.topic", "q") == 1
    assert aside.holds() == [b"1"]


@pytest.mark.parametrize(("flags", "partition"), [((), None), (("--preserve.partitions", "true"), 5)])
def test_what_a_handler_leaves_open_goes_where_the_mirror_sends_it(
    aside: Aside, flags: tuple[str, ...], partition: int | None
) -> None:
    aside.add(b"1")
    assert aside.redrive(*flags, "--handler.step", "rename.prefix=copy.") == 0
    assert [(record[0], record[4]) for record in Target.sent] == [("copy.t", partition)]


def test_what_is_behind_a_torn_line_is_sent_and_the_line_is_named(
    aside: Aside, capsys: pytest.CaptureFixture[str]
) -> None:
    aside.add(b"1")
    aside.file.write_bytes(aside.file.read_bytes() + aside.file.read_bytes()[:50])
    aside.add(b"3")
    assert aside.redrive() == 1
    assert values() == [b"1", b"3"]
    said = f"{aside.file}.redriven has torn lines, which were not sent: 2\n"
    assert said in capsys.readouterr().err
    assert not aside.file.exists()


def test_as_long_as_the_target_acknowledges_records_it_is_waited_for(
    aside: Aside, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aside.add(*(b"%d" % number for number in range(5)))
    monkeypatch.setattr(Target, "at_once", 0)
    assert aside.redrive() == 1
    assert "the target has acknowledged nothing for 30 s; the records are in" in capsys.readouterr().err
    monkeypatch.setattr(Target, "at_once", 1)
    assert aside.redrive() == 0
    assert len(Target.sent) == 5


def test_few_records_wait_for_the_target_at_a_time(aside: Aside) -> None:
    """Those that wait longer than `delivery.timeout.ms` fail."""
    aside.add(*(b"%d" % number for number in range(250)))
    assert aside.redrive() == 0
    assert (len(Target.sent), Target.most_waiting) == (250, 100)


def test_a_target_without_producer_ids_gets_the_records_as_from_the_mirror(
    aside: Aside, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Target, "idempotent", False)
    aside.add(b"1")
    assert aside.redrive() == 0
    assert values() == [b"1"]
    assert "The target refuses an idempotent producer (no right)" in caplog.text


def test_where_producer_ids_are_wanted_the_target_s_reason_is_told(
    aside: Aside, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Target, "idempotent", False)
    aside.add(b"1")
    write_properties(aside.producer, {"bootstrap.servers": "127.0.0.1:1", "enable.idempotence": "true"})
    assert aside.redrive() == 255
    assert "the target refuses an idempotent producer: no right; the records are in" in capsys.readouterr().err


def test_key_stores_are_read(aside: Aside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystore, "read", lambda stores, java: keystore.StoreContents(str(stores.trusted)))
    aside.add(b"1")
    secured = {"security.protocol": "SSL", "ssl.truststore.location": "/trust.jks", "ssl.truststore.password": "hush"}
    write_properties(aside.producer, {"bootstrap.servers": "127.0.0.1:1"} | secured)
    assert aside.redrive() == 0
    assert "/trust.jks" in (Target.settings.connection.tls.ca_pem or "")
