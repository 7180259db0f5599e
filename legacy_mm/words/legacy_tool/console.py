"""Standard output and error as Java has them: what they cannot take is lost, and nothing fails for it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

_MODES = {"stdin": "r", "stdout": "w", "stderr": "w"}


def hold_open() -> None:
    """Put /dev/null where this process was started without a descriptor, for us and for the processes we start.

    Python has None there, and the next file or socket that is opened would be taken for the console.
    """
    for name, mode in _MODES.items():
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))


def say(stream: TextIO, text: str = "") -> None:
    """Write and flush; a full disk, a reader that is gone or a closed descriptor (None) is no failure of ours."""
    with suppress(OSError, ValueError, AttributeError):
        stream.write(text)
        stream.flush()
