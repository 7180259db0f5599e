"""`connect-mirror-maker.sh` where no flow starts: what is said, and the code of MirrorMaker 2's driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.audit.java_files import write_properties
from legacy_mm.cli import connect_mirror_maker

FILE = {
    "clusters": "A, B",
    "A.bootstrap.servers": "127.0.0.1:1",
    "B.bootstrap.servers": "127.0.0.1:1",
    "A->B.enabled": "true",
}
PROVIDER = {
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}


def test_what_a_provider_gave_is_hidden_where_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MIRROR_FILTER", "of.the.provider")
    refused = {"A->B.topic.filter.class": "${env:MIRROR_FILTER}"}
    file = write_properties(tmp_path / "mm2.properties", {**FILE, **PROVIDER, **refused})
    assert connect_mirror_maker.run([str(file)]) == 2
    said = capsys.readouterr().out
    assert "A->B.topic.filter.class=[hidden] is not possible" in said
    assert "of.the.provider" not in said


def test_words_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert connect_mirror_maker.run([]) == 255
    assert "error: too few arguments" in capsys.readouterr().err
    assert connect_mirror_maker.run(["--help"]) == 0
    assert "MM2 configuration file." in capsys.readouterr().out
