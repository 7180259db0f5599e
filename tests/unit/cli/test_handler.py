"""With which client `legacy-mm handler test` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from legacy_mm.cli import handler as command
from legacy_mm.cli.handler import handler
from legacy_mm.copyjob import Started
from legacy_mm.spark import keystore
from legacy_mm.testbed.java_files import write_properties


class Reader:
    """Reads nothing."""

    properties: dict[str, str]
    led = True

    def __init__(self, properties: dict[str, str], *_: Any) -> None:
        Reader.properties = properties

    def start(self, offsets: Any) -> Started:
        return Started(offsets if Reader.led else {})

    def read(self, timeout: float) -> list[Any]:
        return []

    def take_gaps(self) -> list[Any]:
        return []


PLAIN = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}


def line(folder: Path, consumer: dict[str, str] = PLAIN) -> list[str]:
    """A mirror's, with a handler."""
    words = ["--whitelist", "t", "--handler.step", "rename.prefix=copy."]
    for side, properties in {"consumer": consumer, "producer": PLAIN}.items():
        words += [f"--{side}.config", str(write_properties(folder / side, properties))]
    return words


@pytest.fixture(autouse=True)
def reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads from no cluster."""
    monkeypatch.setattr(command, "PartitionReader", Reader)


def test_key_stores_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystore, "read", lambda stores, java: {"ssl.ca.pem": str(stores.trusted)})
    secured = {"security.protocol": "SSL", "ssl.truststore.location": "/trust.jks", "ssl.truststore.password": "hush"}
    assert handler(["test", "--topic", "t", "--", *line(tmp_path, PLAIN | secured)]) == 0
    assert "/trust.jks" in Reader.properties["ssl.ca.pem"]


def test_a_partition_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Reader, "led", False)
    assert handler(["test", "--topic", "t", "--partition", "7", "--", *line(tmp_path)]) == 1
    assert "nobody leads t-7, or its leader does not answer" in capsys.readouterr().err
