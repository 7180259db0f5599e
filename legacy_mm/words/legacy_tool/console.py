"""Standard output and error as Java has them: what they cannot take is lost, and nothing fails for it.

The notes about a user's files go to the log or there.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from legacy_mm.words.java_clients.client_properties.rule import Note

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


def say_notes(notes: Iterable[Note], logger: str = "") -> None:
    """Log the notes; one without a logger has this one, or goes to stderr as it is."""
    for note in notes:
        if name := note.logger or logger:
            logging.getLogger(name).log(note.level, "%s", note.text)
        else:
            say(sys.stderr, note.text + "\n")
