"""One argument tree: what each kind of command is called with, and that only the command in question is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from legacy_mm.base.errors import HandlerFailure
from legacy_mm.cli import argument_tree
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.commands import COMMANDS, CommandRow, Needs
from legacy_mm.cli.legacy_mm import main

MIRROR = ("kafka-mirror-maker.sh", "--whitelist", "t")


class Command:
    """A command of each kind with the option `--json`; notes what it was called with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[CommandCall] = []
        self.as_mirror = False
        self.error: Exception | None = None
        rows = {each.name: CommandRow(each.name, "group", "help", "example", "none", each) for each in Needs}
        monkeypatch.setattr(argument_tree, "COMMANDS", rows)
        monkeypatch.setattr(CommandRow, "load", lambda row: CommandBody(self._add_options, self._run, self.as_mirror))

    def run(self, needs: Needs, *words: str) -> int:
        return argument_tree.run_command(needs.name, words)

    def _add_options(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true")

    def _run(self, call: CommandCall) -> int:
        self.calls.append(call)
        if self.error is not None:
            raise self.error
        return 2


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(monkeypatch)


@pytest.mark.parametrize("needs", [Needs.LINE, Needs.DASHES, Needs.LINE_AND_FLAGS])
def test_what_is_behind_the_dashes_is_the_mirrors(command: Command, needs: Needs) -> None:
    """Even a second `--`, and options that the command has, too."""
    line = ("tini", "--", *MIRROR, "--json")
    assert command.run(needs, "--", *line) == 2
    assert (command.calls[0].options.json, command.calls[0].line.words) == (False, line)
    assert command.run(needs, "--json", "--", *MIRROR) == 2
    assert (command.calls[1].options.json, command.calls[1].line.words) == (True, MIRROR)


def test_flags_before_the_dashes_are_tried_with_the_line(command: Command) -> None:
    assert command.run(Needs.LINE_AND_FLAGS, "--topic.creation", "true", "--json", "--", *MIRROR) == 2
    assert command.calls[0].line.words == (*MIRROR, "--topic.creation", "true")
    assert command.calls[0].options.json


def test_another_grammars_words_arrive_as_they_are(command: Command) -> None:
    words = ["--json", "--", "-x=1", "a b", "--help"]
    assert command.run(Needs.OWN_WORDS, *words) == 2
    assert command.calls[0].options.words == words


@pytest.mark.parametrize(
    ("needs", "words", "said"),
    [
        (Needs.NOTHING, ("--", "x"), "unrecognized arguments: x"),
        (Needs.NOTHING, ("y", "--", "x"), "unrecognized arguments: y x"),
        (Needs.LINE, ("y", "--", "x"), "unrecognized arguments: y"),
        (Needs.LINE, ("--js",), "unrecognized arguments: --js"),
        (Needs.LINE, ("--whitelist", "t"), "unrecognized arguments: --whitelist t\nput -- before the command line of"),
        (Needs.DASHES, ("--nonsense",), "put -- before the command line of the mirror"),
        (Needs.LINE, ("--json=yes",), "argument --json: ignored explicit argument 'yes'"),
    ],
)
def test_wrong_words_never_reach_the_command(
    command: Command, capsys: pytest.CaptureFixture[str], needs: Needs, words: tuple[str, ...], said: str
) -> None:
    assert command.run(needs, *words) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"legacy-mm: {said}")
    assert error.endswith(f"\nusage: legacy-mm {needs.name} [-h] [--json]\n")
    assert not command.calls


@pytest.mark.parametrize("needs", [each for each in Needs if each is not Needs.OWN_WORDS])
def test_help_needs_no_line(command: Command, capsys: pytest.CaptureFixture[str], needs: Needs) -> None:
    assert command.run(needs, "--help") == 0
    assert capsys.readouterr().out.startswith(f"usage: legacy-mm {needs.name} [-h] [--json]\n")
    assert not command.calls


def test_help_behind_the_dashes_is_the_mirrors(command: Command) -> None:
    assert command.run(Needs.LINE, "--", "--help") == 2
    assert command.calls[0].line.words == ("--help",)


@pytest.mark.parametrize(("as_mirror", "code"), [(False, 1), (True, 255)])
def test_an_error_is_a_line_and_a_code(
    command: Command, capsys: pytest.CaptureFixture[str], as_mirror: bool, code: int
) -> None:
    command.as_mirror, command.error = as_mirror, HandlerFailure("it broke")
    assert command.run(Needs.LINE) == code
    assert capsys.readouterr().err == "legacy-mm: it broke\n"


def test_a_command_can_refuse_what_it_is_called_with(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    command.run(Needs.LINE)
    with pytest.raises(Exception, match="(?s)name a file.*usage: legacy-mm LINE"):
        command.calls[0].refuse("name a file")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_command_takes_an_option_of_the_legacy_tool(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Else nobody would be told that `--` is missing; files are named otherwise."""
    body = COMMANDS[name].load()
    parser = CommandParser()
    body.add_options(parser)
    assert not {"--consumer.config", "--producer.config", "--whitelist", "--include"} & set(parser.options())


def test_help_imports_no_command() -> None:
    """Each is loaded when it is called: Spark, librdkafka and two grammars would be loaded for a page of help."""
    program = (
        "import sys; from legacy_mm.cli.legacy_mm import main; main(['--help'])\n"
        "print([name for name in sys.modules if name.startswith(('legacy_mm.cli.', 'pyspark', 'confluent_kafka'))],"
        " file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    here = ("legacy_mm", "argument_tree", "command", "commands", "exit_code")
    assert set(eval(done.stderr)) == {f"legacy_mm.cli.{name}" for name in here}


def test_an_abbreviated_option_works_where_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "--kafka", "/nowhere"]) == 1
    assert "unrecognized" not in capsys.readouterr().err
