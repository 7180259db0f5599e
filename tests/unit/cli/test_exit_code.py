"""An exit code of a command has a name, and an error has the code of who ends by it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError, LegacyMMError, StreamFailure
from legacy_mm.cli.exit_code import ExitCode, reported
from tests.structure.source_tree import CHECKOUT


def bare_codes(path: Path) -> list[str]:
    """Places where a function returns a number that is written there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    chosen = [each for value in returned if isinstance(value, ast.IfExp) for each in (value.body, value.orelse)]
    numbers = [each for each in (*returned, *chosen) if isinstance(each, ast.Constant) and type(each.value) is int]
    return [f"{path.name}:{each.lineno}" for each in numbers]


def test_no_command_returns_a_bare_number() -> None:
    assert [found for path in (CHECKOUT / "legacy_mm" / "cli").glob("*.py") for found in bare_codes(path)] == []


@pytest.mark.parametrize("text", ["return 2", "return 1 if x else Code.DONE", "return Code.DONE if x else 0"])
def test_a_bare_number_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(f"def f(x):\n    {text}\n")
    assert bare_codes(tmp_path / "a.py") == ["a.py:2"]


def fail(error: LegacyMMError) -> int:
    raise error


@pytest.mark.parametrize(
    ("error", "as_mirror", "code"),
    [
        (ConfigurationError("no"), False, ExitCode.FAILED),
        (ConfigurationError("no"), True, 1),
        (StreamFailure("no"), False, ExitCode.FAILED),
        (StreamFailure("no"), True, 255),
    ],
)
def test_an_error_is_one_line(
    capsys: pytest.CaptureFixture[str], error: LegacyMMError, as_mirror: bool, code: int
) -> None:
    assert reported(lambda: fail(error), as_mirror=as_mirror) == code
    assert capsys.readouterr() == ("", "legacy-mm: no\n")


def test_what_is_no_error_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        reported(lambda: 1 // 0)
