"""Properties files are escaped so that Java reads back what was meant; log files name their target."""

from __future__ import annotations

from pathlib import Path

from legacy_mm.audit.java_files import write_log_configuration, write_properties


def test_what_java_would_misread_is_escaped(tmp_path: Path) -> None:
    file = write_properties(tmp_path / "p", {"a b": " x\\y", "k=": "ü\n😀", "#c": "!d"})
    assert file.read_text("ascii") == (
        "a\\ b=\\ x\\\\y\n"
        "k\\==\\u00fc\\n\\ud83d\\ude00\n"
        "\\#c=\\!d\n"
    )  # fmt: skip


def test_each_log4j_generation_gets_its_own_flag(tmp_path: Path) -> None:
    old = write_log_configuration(tmp_path / "1", generation=1, level="WARN", file=None)
    new = write_log_configuration(tmp_path / "2", generation=2, level="INFO", file=tmp_path / "log")
    assert old == f"-Dlog4j.configuration=file:{tmp_path}/1"
    assert new == f"-Dlog4j2.configurationFile={tmp_path}/2"
    assert "System.err" in (tmp_path / "1").read_text()
    assert f"fileName={tmp_path}/log" in (tmp_path / "2").read_text()
