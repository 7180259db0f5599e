"""`python -m legacy_mm kafka.tools.MirrorMaker ...`: the old class name is there for `ps` and `pgrep -f` to find."""

from __future__ import annotations

import sys

from legacy_mm.cli.mirror_maker import main

CLASS_NAME = "kafka.tools.MirrorMaker"

if __name__ == "__main__":
    words = sys.argv[1:]
    main(words[1:] if words[:1] == [CLASS_NAME] else words)
