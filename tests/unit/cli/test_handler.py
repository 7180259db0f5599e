"""With which client `legacy-mm handler test` reads, and which handler it tries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.audit.java_files import write_properties
from legacy_mm.cli import handler as command
from legacy_mm.cli.legacy_mm import main
from legacy_mm.config.kafka_clients import ConsumerSettings
from legacy_mm.config.settings import HandlerSettings
from legacy_mm.control_channel.frames import Started
from legacy_mm.handlers.api import Record, TargetRecord
from legacy_mm.jvm import keystore
from legacy_mm.model import Columns, Offsets
from tests.fakes.reader import FakeReader


class Reader(FakeReader):
    """Notes the settings that it is given."""

    settings: ConsumerSettings
    count: int | None = 1
    led = True

    def __init__(self, settings: ConsumerSettings, *_: Any) -> None:
        super().__init__(settings)
        Reader.settings = settings

    @override
    def partitions(self, topic: str) -> int | None:
        return self.count

    @override
    def start(self, offsets: Offsets) -> Started:
        return Started(offsets if self.led else {})


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A mirror's command line; nobody reads the source."""
    monkeypatch.setattr(command, "PartitionReader", Reader)
    words = ["kafka-mirror-maker.sh", "--whitelist", "t"]
    for side in ("consumer", "producer"):
        properties = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    return words


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"count": None}, "the source (127.0.0.1:1): it does not answer"),
        ({"count": 0}, "the source has no orders-0"),
        ({"led": False}, "orders-0 has no leader, or its leader does not answer"),
    ],
)
def test_why_nothing_can_be_read_is_one_line(
    line: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    attributes: dict[str, Any],
    said: str,
) -> None:
    for name, value in attributes.items():
        monkeypatch.setattr(Reader, name, value)
    assert main(["handler", "test", "--topic", "orders", "--", *line, "--handler.step", "keep.partition"]) == 1
    assert capsys.readouterr().err == f"legacy-mm: {said}\n"


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


def test_key_stores_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PartitionReader", Reader)
    monkeypatch.setattr(keystore, "read", lambda stores, java: keystore.StoreContents(str(stores.trusted)))
    plain = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
    secured = {"security.protocol": "SSL", "ssl.truststore.location": "/trust.jks", "ssl.truststore.password": "hush"}
    files = {"consumer": plain | secured, "producer": plain}
    words = ["--whitelist", "t", "--handler.step", "rename.prefix=copy."]
    for side, properties in files.items():
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    assert main(["handler", "test", "--topic", "t", "--", *words]) == 0
    assert "/trust.jks" in (Reader.settings.connection.tls.ca_pem or "")


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They see the name that the replication policy gives."""
    batches = [[], [Record("t", 0, 7, 1, 0, b"k", b"v", (("trace", b"1"), ("kept", b"2")))]]
    monkeypatch.setattr(command, "PartitionReader", Reader)
    monkeypatch.setattr(Reader, "read", lambda self, timeout: Columns.from_rows(batches.pop()))
    file = write_properties(tmp_path / "mm2.properties", FILE)
    assert main(["handler", "test", "--topic", "t", "--", "connect-mirror-maker.sh", str(file)]) == 0
    target = TargetRecord("A.t-19700101", b"k", b"v", (("kept", b"2"),), None, 0)
    assert f"  -> {target}\n" in capsys.readouterr().out
