"""A planted fault is found, missed, or broken; and the checkout stays as it was."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from compat.laboratory import mutants
from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.mutants import BROKEN, FOUND, MISSED, Fault, Trial, read_faults, rendered, try_fault
from compat.laboratory.planted_copy import plant

CLOCK = "legacy_mm/base/clock.py"
FIRST = "from __future__ import annotations\n"
TEST = """
from legacy_mm.base import clock


def test_it_is_not_planted():
    assert not hasattr(clock, "PLANTED")
"""


def planted(line: str) -> Fault:
    return Fault("clock", "a-name", CLOCK, FIRST, FIRST + line + "\n", ("tests/unit/base/test_clock.py",))


@pytest.fixture
def sees_it(tmp_path: Path) -> list[str]:
    """A test that finds a constant of the clock."""
    (tmp_path / "test_planted.py").write_text(TEST)
    return [str(tmp_path / "test_planted.py")]


@pytest.mark.parametrize(
    ("line", "result"), [("PLANTED = 1", FOUND), ("OTHER = 1", MISSED), ("raise SystemError", BROKEN)]
)
def test_what_becomes_of_a_fault(line: str, result: str, sees_it: list[str]) -> None:
    before = (CHECKOUT / CLOCK).read_text()
    trial = try_fault(planted(line), sees_it)
    assert trial.result == result, trial.output
    assert len(trial.finders) == (result == FOUND)
    assert (CHECKOUT / CLOCK).read_text() == before


def test_a_test_that_hangs_has_found_its_fault(sees_it: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "_UNIT_SECONDS", 0.1)
    assert try_fault(planted("OTHER = 1"), sees_it).result == mutants.HANGS


def test_commands_of_a_copy_run_the_planted_file(tmp_path: Path) -> None:
    python = plant(tmp_path / "copy", "legacy_mm/__init__.py", '__version__ = "planted"\n')
    code = "import legacy_mm, sys; print(legacy_mm.__version__, legacy_mm.__file__, sys.prefix)"
    said = subprocess.run([python, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["planted", str(tmp_path / "copy/legacy_mm/__init__.py"), str(tmp_path / "copy/.venv")]


def test_a_planted_kernel_is_not_the_compiled_one(tmp_path: Path) -> None:
    file = "legacy_mm/protocol/record_kernels.py"
    plant(tmp_path / "copy", file, (CHECKOUT / file).read_text())
    assert not list((tmp_path / "copy/legacy_mm/protocol").glob("*.so"))


def test_a_place_that_is_gone_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"clock: a-name: its old text is 0 times in legacy_mm/base/clock\.py"):
        Fault("clock", "a-name", CLOCK, "no such line", "", ()).planted()


def test_rows_are_read(tmp_path: Path) -> None:
    row = '[[fault]]\nname = "n"\nfile = "f"\nold = "o"\nnew = "w"\ntests = ["t"]\n'
    (tmp_path / "area.toml").write_text(row)
    assert read_faults(tmp_path) == [Fault("area", "n", "f", "o", "w", ("t",))]


def test_the_report_has_a_line_for_each() -> None:
    text = rendered([Trial(planted(""), FOUND, ("a.py::test_a", "b.py::test_b"), 1.4, "")])
    assert "1 faults: 1 found." in text
    assert "| clock | a-name | found | a.py::test_a<br>b.py::test_b | 1 |" in text


def test_none_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is misspelt must not look like a success."""
    assert mutants.main(["no such fault"]) == 1
    assert "0 found, 0 missed" in capsys.readouterr().out
