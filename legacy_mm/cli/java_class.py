"""The Java class that a start script names: the legacy tool's, or MirrorMaker 2's.

`ps` and `pgrep -f` find the process by the class name. A process that was started without it shows only its own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from legacy_mm.words.legacy_tool import console, java_process


def run(words: Sequence[str]) -> NoReturn:
    """Run what the words say: Java's options, the name of a class, and its arguments."""
    console.hold_open()
    at = next((at for at, word in enumerate(words) if word in java_process.CLASS_NAMES), None)
    if at is not None:
        java_process.take_on()
    if at is not None and words[at] == java_process.MIRROR_MAKER_2:
        from legacy_mm.cli import connect_mirror_maker

        connect_mirror_maker.main(words[at + 1 :], words[:at])
    from legacy_mm.cli import mirror_maker

    if at is not None:
        mirror_maker.main(words[at + 1 :], words[:at])
    mirror_maker.main(words)
