"""`legacy-mm install` and `uninstall`: what is said of what was done, and of what is no Kafka."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from legacy_mm.cli.legacy_mm import main
from legacy_mm.words.legacy_tool.start_scripts import KEPT
from tests.structure.source_tree import CHECKOUT
from tests.unit.words.legacy_tool.test_start_scripts import unpack


def command(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(words)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_command_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the scripts of this checkout."""
    home = unpack(tmp_path / "kafka", "3.9")
    script = f"{home}/bin/kafka-mirror-maker.sh"
    done = command("install", "--kafka-home", str(home), capsys=capsys)
    assert done == (0, f"{script}: ours now, the original is kept as kafka-mirror-maker.sh{KEPT}\n", "")
    assert f"exec {shlex.quote(f'{CHECKOUT}/bin/kafka-mirror-maker.sh')} " in Path(script).read_text()
    assert command("uninstall", "--kafka-home", str(home), capsys=capsys) == (0, f"{script}: the original again\n", "")
    done = command("uninstall", "--kafka-home", str(home), capsys=capsys)
    assert done == (0, "nothing of legacy_mm is there\n", "")


@pytest.mark.parametrize("name", ["install", "uninstall"])
def test_what_is_no_kafka_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    done = command(name, "--kafka-home", str(tmp_path / "none"), capsys=capsys)
    assert done == (1, "", f"{tmp_path}/none is not a Kafka: it has no folder bin\n")
    (tmp_path / "bin").mkdir()
    code, out, error = command(name, "--kafka-home", str(tmp_path), capsys=capsys)
    assert (code, out, error.count("\n")) == (1, "", 1)
    assert "it has no kafka-run-class.sh" in error


@pytest.mark.parametrize(
    ("option", "script"), [("--run-class", "kafka-run-class.sh"), ("--mirror-maker-2", "connect-mirror-maker.sh")]
)
def test_another_script_is_replaced_only_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, script: str
) -> None:
    home = unpack(tmp_path / "kafka", "3.9")
    file = home / "bin" / script
    before = file.read_text()
    assert command("install", "--kafka-home", str(home), capsys=capsys)[0] == 0
    assert file.read_text() == before
    code, out, _ = command("install", "--kafka-home", str(home), option, capsys=capsys)
    assert (code, f"{file}: ours now" in out) == (0, True)
    assert f"{CHECKOUT}/bin/" in file.read_text()
    assert command("uninstall", "--kafka-home", str(home), capsys=capsys)[0] == 0
    assert file.read_text() == before


def test_a_folder_may_be_named_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script names it as a whole: it is called from anywhere."""
    unpack(tmp_path / "kafka", "3.9")
    monkeypatch.chdir(tmp_path)
    code, out, _ = command("install", "--kafka-home", "kafka", capsys=capsys)
    assert code == 0
    assert out.startswith(f"{tmp_path}/kafka/bin/")
