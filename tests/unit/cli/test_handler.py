"""With which client `legacy-mm handler test` reads, and which handler it tries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.java_files import write_properties
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.cli import handler as command
from legacy_mm.cli.legacy_mm import main
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.flow import plugins
from legacy_mm.handlers.api import TargetRecord
from legacy_mm.handlers.batches import Handled, SourceRecords
from legacy_mm.runtime.jvm import keystore
from tests.fakes.inspector import FakeInspector


class Source(FakeInspector):
    """Its topics have one partition each, with the offsets 5 and 6; nobody reads it."""

    def __init__(self) -> None:
        super().__init__({"t": 1, "orders": 1}, [(5, 7)])
        self.connection: ConnectionSettings | None = None

    def made(self, settings: ConnectionSettings) -> FakeInspector:
        self.connection = settings
        return self


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Source:
    made = Source()
    monkeypatch.setattr(command, "NativeInspector", made.made)
    monkeypatch.setattr(command, "read_on", lambda *words, **more: iter(()))
    return made


@pytest.fixture
def line(tmp_path: Path, source: Source) -> list[str]:
    """A mirror's command line; nobody reads the source."""
    words = ["kafka-mirror-maker.sh", "--whitelist", "t"]
    for side in ("consumer", "producer"):
        properties = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    return words


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--topic", "other"], "the source has no other-0"),
        (["--topic", "orders", "--partition", "1"], "the source has no orders-1"),
        (["--topic", "orders", "--from", "8"], "orders-0 holds offsets 5 to 6, not 8"),
        (["--topic", "orders", "--from", "4"], "orders-0 holds offsets 5 to 6, not 4"),
    ],
)
def test_why_nothing_can_be_read_is_one_line(
    line: list[str], capsys: pytest.CaptureFixture[str], asked: list[str], said: str
) -> None:
    assert main(["handler", "test", *asked, "--", *line, "--handler.step", "keep.partition"]) == 1
    assert capsys.readouterr().err == f"legacy-mm: {said}\n"


@pytest.mark.parametrize(("asked", "begin"), [([], 5), (["--from", "-1"], 7), (["--from", "6"], 6)])
def test_where_reading_begins(line: list[str], monkeypatch: pytest.MonkeyPatch, asked: list[str], begin: int) -> None:
    begun: list[Any] = []

    def read_on(*words: Any, **more: Any) -> Iterator[LogRecord]:
        begun.append((words[1], words[2]))
        return iter(())

    monkeypatch.setattr(command, "read_on", read_on)
    words = ["handler", "test", "--topic", "orders", *asked, "--", *line, "--handler.step", "keep.partition"]
    assert main(words) == 0
    assert begun == [(TopicPartition("orders", 0), begin)]


@pytest.mark.parametrize(
    "theirs",
    [
        (),
        ("--message.handler", "com.x.Gone", "--message.handler.args", "a"),
        ("--message.handler=com.x.Gone",),
        ("--handler.step", "keep.partition", "--handler.step", "rename.prefix=a."),
        ("--message.handler", "com.x.Gone", "--"),
    ],
    ids=["none", "a jar", "in one word", "steps", "with a word that ends it"],
)
def test_the_handler_that_is_named_takes_the_place_of_the_lines(
    line: list[str], monkeypatch: pytest.MonkeyPatch, theirs: tuple[str, ...]
) -> None:
    used = []

    def note(settings: HandlerSettings, _: Any) -> None:
        used.append((settings.name, list(settings.steps)))

    monkeypatch.setattr(command, "load_handler", note)
    assert main(["handler", "test", "/new.py", "--topic", "t", "--", *line, *theirs]) == 0
    assert used == [("/new.py", [])]


def test_key_stores_are_read(tmp_path: Path, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystore, "read", lambda stores, java, **_: keystore.StoreContents(str(stores.trusted)))
    plain = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
    secured = {"security.protocol": "SSL", "ssl.truststore.location": "/trust.jks", "ssl.truststore.password": "hush"}
    files = {"consumer": plain | secured, "producer": plain}
    words = ["--whitelist", "t", "--handler.step", "rename.prefix=copy."]
    for side, properties in files.items():
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    assert main(["handler", "test", "--topic", "t", "--", *words]) == 0
    assert source.connection is not None
    assert "/trust.jks" in (source.connection.tls.ca_pem or "")


FILE = {
    "clusters": "A, B",
    "A.bootstrap.servers": "127.0.0.1:1",
    "B.bootstrap.servers": "127.0.0.1:1",
    "A->B.enabled": "true",
    "A->B.transforms": "tidy, route",
    "A->B.transforms.tidy.type": "DropHeaders",
    "A->B.transforms.tidy.headers": "trace",
    "A->B.transforms.route.type": "TimestampRouter",
}


def test_transforms_of_a_driver_s_file_on_records(
    tmp_path: Path, source: Source, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They see the name that the replication policy gives."""
    found = LogRecord(7, 0, False, b"k", b"v", ((b"trace", b"1"), (b"kept", b"2")))
    monkeypatch.setattr(command, "read_on", lambda *words, **more: iter([found]))
    file = write_properties(tmp_path / "mm2.properties", FILE)
    assert main(["handler", "test", "--topic", "t", "--", "connect-mirror-maker.sh", str(file)]) == 0
    target = TargetRecord("A.t-19700101", b"k", b"v", (("kept", b"2"),), None, 0)
    assert f"  -> {target}\n" in capsys.readouterr().out


class FakeBridge:
    """Answers as a transform that drops everything, and keeps the settings that it is made with."""

    made: list[HandlerSettings] = []  # noqa: RUF012

    def __init__(self, settings: HandlerSettings, java: Path, compiler_jars: Any) -> None:
        self.made.append(settings)

    def handle(self, source: SourceRecords) -> Handled:
        return Handled((), 1, 1, source.header.next_offset)


def test_transforms_in_a_jar_know_the_name_at_the_target(
    tmp_path: Path, source: Source, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One JVM's bridge is enough for all records of the topic."""
    found = [LogRecord(offset, 0, False, b"k", b"v", ()) for offset in (5, 6)]
    monkeypatch.setattr(command, "read_on", lambda *words, **more: iter(found))
    monkeypatch.setattr(command, "JavaBatches", FakeBridge)
    monkeypatch.setattr(plugins, "with_connect", lambda class_path: (*class_path, "connect.jar"))
    mask = {"A->B.transforms.tidy.type": "org.apache.kafka.connect.transforms.MaskField$Value"}
    file = write_properties(tmp_path / "mm2.properties", {**FILE, **mask})
    assert main(["handler", "test", "--topic", "t", "--", "connect-mirror-maker.sh", str(file)]) == 0
    (made,) = FakeBridge.made
    assert made.transforms is not None
    assert made.transforms.names == {"t": "A.t"}
    assert made.class_path[-1] == "connect.jar"
    assert "->" not in capsys.readouterr().out
