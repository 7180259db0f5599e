"""An option of ours is one row; parser, environment variable, help and checks are made out of the
rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

ENVIRONMENT_PREFIX = "LEGACY_MM_"


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the catalogue."""

    name: str
    """As Kafka writes names: words joined by dots, no leading dashes."""
    default: str | None
    argument: str
    """What the help calls the value."""
    help: str
    owner: str
    """The module that acts on it."""
    type: Callable[[str], object] = str
    choices: tuple[str, ...] = ()
    repeated: bool = False
    is_file_of_options: bool = False
    """Its value names a properties file that may hold all other rows."""

    @property
    def environment_variable(self) -> str:
        """`--shutdown.timeout.ms` is also `LEGACY_MM_SHUTDOWN_TIMEOUT_MS`."""
        return ENVIRONMENT_PREFIX + self.name.upper().replace(".", "_")

    @property
    def attribute(self) -> str:
        """The name of the value in Python."""
        return self.name.replace(".", "_")


def whole_number(text: str) -> int:
    """A decimal integer that is not negative."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def port_number(text: str) -> int:
    """A TCP port."""
    number = whole_number(text)
    if not 1 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port")
    return number
