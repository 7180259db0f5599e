"""`legacy-mm install` and `legacy-mm uninstall`: our start scripts in the `bin` of a Kafka, and back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from legacy_mm.cli.exit_code import CommandParser
from legacy_mm.compat import start_scripts
from legacy_mm.errors import LegacyMMError, told


def install(words: Sequence[str]) -> int:
    """Put our scripts in place; return 0, or 1 if that is not possible."""
    parser = _parser("install", "Put kafka-mirror-maker.sh of legacy_mm in place of Kafka's, which is kept beside it.")
    parser.add_argument(
        "--run-class",
        action="store_true",
        help="also kafka-run-class.sh, for callers of kafka.tools.MirrorMaker; other classes go to the one kept",
    )
    parser.add_argument(
        "--mirror-maker-2", action="store_true", help="also connect-mirror-maker.sh, which runs MirrorMaker 2's file"
    )
    options = parser.parse_args(words)
    home, more, driver = options.kafka_home, options.run_class, options.mirror_maker_2
    return _tell(lambda: start_scripts.install(home, start_scripts.shipped(), run_class=more, driver=driver))


def uninstall(words: Sequence[str]) -> int:
    """Put Kafka's scripts back; return 0, or 1 if that is not possible."""
    options = _parser("uninstall", "Put Kafka's own scripts back.").parse_args(words)
    return _tell(lambda: start_scripts.uninstall(options.kafka_home), nothing="nothing of legacy_mm is there")


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = CommandParser(prog=f"legacy-mm {name}", description=description)
    parser.add_argument(
        "--kafka-home", type=lambda text: Path(text).absolute(), required=True, metavar="DIR", help="Kafka's folder"
    )
    return parser


def _tell(steps: Callable[[], Iterable[str]], nothing: str = "") -> int:
    done = 0
    try:
        for line in steps():
            sys.stdout.write(f"{line}\n")
            done += 1
    except LegacyMMError as error:
        sys.stderr.write(f"{told(error)}\n")
        return error.exit_code
    if not done:
        sys.stdout.write(f"{nothing}\n")
    return 0
