"""`legacy-mm install` and `legacy-mm uninstall`: our start scripts in the `bin` of a Kafka, and back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from legacy_mm.base.errors import LegacyMMError, printed_error
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.words.legacy_tool import start_scripts


def _add_install_options(parser: CommandParser) -> None:
    parser.description = "Put kafka-mirror-maker.sh of legacy_mm in place of Kafka's, which is kept beside it."
    parser.add_argument(
        "--run-class",
        action="store_true",
        help="also kafka-run-class.sh, for callers of kafka.tools.MirrorMaker; other classes go to the one kept",
    )
    parser.add_argument(
        "--mirror-maker-2", action="store_true", help="also connect-mirror-maker.sh, which runs MirrorMaker 2's file"
    )
    _add_home(parser)


def _install(call: CommandCall) -> int:
    home, more, driver = call.options.kafka_home, call.options.run_class, call.options.mirror_maker_2
    return _tell(lambda: start_scripts.install(home, start_scripts.shipped(), run_class=more, driver=driver))


def _add_uninstall_options(parser: CommandParser) -> None:
    parser.description = "Put Kafka's own scripts back."
    _add_home(parser)


def _uninstall(call: CommandCall) -> int:
    return _tell(lambda: start_scripts.uninstall(call.options.kafka_home), nothing="nothing of legacy_mm is there")


def _add_home(parser: CommandParser) -> None:
    parser.allow_abbrev = True
    parser.add_argument(
        "--kafka-home", type=lambda text: Path(text).absolute(), required=True, metavar="DIR", help="Kafka's folder"
    )


def _tell(steps: Callable[[], Iterable[str]], nothing: str = "") -> int:
    done = 0
    try:
        for line in steps():
            sys.stdout.write(f"{line}\n")
            done += 1
    except LegacyMMError as error:
        sys.stderr.write(f"{printed_error(error)}\n")
        return ExitCode.FAILED
    if not done:
        sys.stdout.write(f"{nothing}\n")
    return ExitCode.DONE


BODIES = {
    "install": CommandBody(_add_install_options, _install),
    "uninstall": CommandBody(_add_uninstall_options, _uninstall),
}
