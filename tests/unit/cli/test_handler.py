"""With which client `legacy-mm handler test` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from legacy_mm.cli import handler as command
from legacy_mm.cli.handler import handler
from legacy_mm.spark import keystore
from legacy_mm.testbed.java_files import write_properties


class Reader:
    """Reads nothing."""

    properties: dict[str, str]

    def __init__(self, properties: dict[str, str], *_: Any) -> None:
        Reader.properties = properties

    def start(self, offsets: Any) -> None:
        pass

    def read(self, timeout: float) -> list[Any]:
        return []

    def take_gaps(self) -> list[Any]:
        return []


def test_key_stores_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PartitionReader", Reader)
    monkeypatch.setattr(keystore, "read", lambda stores, java: {"ssl.ca.pem": str(stores.trusted)})
    plain = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
    secured = {"security.protocol": "SSL", "ssl.truststore.location": "/trust.jks", "ssl.truststore.password": "hush"}
    files = {"consumer": plain | secured, "producer": plain}
    words = ["--whitelist", "t", "--handler.step", "rename.prefix=copy."]
    for side, properties in files.items():
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    assert handler(["test", "--topic", "t", "--", *words]) == 0
    assert "/trust.jks" in Reader.properties["ssl.ca.pem"]
