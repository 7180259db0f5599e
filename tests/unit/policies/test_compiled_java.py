"""Where the jar of a Java source is: by its text, so that an old jar is never taken for a new source."""

from __future__ import annotations

import sys
from pathlib import Path

from legacy_mm.policies.compiled_java import path_for


def test_each_text_has_its_own_place_in_the_installation() -> None:
    one, other = path_for("class A {}"), path_for("class A { }")
    assert one != other
    assert one == path_for("class A {}")
    assert one.parent == Path(sys.prefix) / "share" / "legacy_mm"
    assert one.suffix == ".jar"
