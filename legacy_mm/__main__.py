"""`python -m legacy_mm [Java options] kafka.tools.MirrorMaker ...`, as the start script calls it.

`ps` and `pgrep -f` find the process by the class name. A process that was started without it shows only its own words.
"""

from __future__ import annotations

import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # no Python traceback before our handler is set
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
