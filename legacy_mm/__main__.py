"""`python -m legacy_mm [Java options] kafka.tools.MirrorMaker ...`, as the start script calls it.

The class name is there for `ps` and `pgrep -f` to find; whoever leaves it out gets a process that looks like itself.
"""

from __future__ import annotations

import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # until ours is set, without Python's traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from legacy_mm.cli.mirror_maker import main
from legacy_mm.compat import console, java_process

if __name__ == "__main__":
    console.hold_open()
    words = sys.argv[1:]
    if java_process.CLASS_NAME in words:
        java_process.take_on()
        at = words.index(java_process.CLASS_NAME)
        main(words[at + 1 :], words[:at])
    main(words)
