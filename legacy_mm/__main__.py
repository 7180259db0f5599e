"""`python -m legacy_mm [Java options] CLASS ...`, as the start scripts call it: the legacy tool, or MirrorMaker 2."""

from __future__ import annotations

import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # no Python traceback before our handler is set
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from legacy_mm.cli import java_class

if __name__ == "__main__":
    java_class.run(sys.argv[1:])
