"""`python -m legacy_mm [Java options] CLASS ...`, as the start scripts call it: the legacy tool, or MirrorMaker 2.

`ps` and `pgrep -f` find the process by the class name. A process that was started without it shows only its own words.
"""

from __future__ import annotations

import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # no Python traceback before our handler is set
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from legacy_mm.compat import console, java_process

if __name__ == "__main__":
    console.hold_open()
    words = sys.argv[1:]
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
