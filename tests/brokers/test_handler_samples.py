"""The samples in Python and in Java make the same of the same records. Each pair has a process and a JVM of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from legacy_mm.spark.java import compiler_jars, find_java
from legacy_mm.testbed.handlers import SAMPLES
from legacy_mm.testbed.jars import kafka_jars
from legacy_mm.testbed.releases import OLD

pytestmark = pytest.mark.brokers
SECONDS = 60.0
PROGRAM = """
import sys
from pathlib import Path
from legacy_mm.config.settings import HandlerSettings
from legacy_mm.handlers.java import JavaBatches
from legacy_mm.handlers.loader import load_handler
from legacy_mm.model import Columns

name, twin, args, jars, java, script, *compiler = sys.argv[1:]
argument = None if args == "-" else args
COUNT = 60
batch = Columns(
    ["t", "names with \\u00e4"] * (COUNT // 2),
    [number % 5 for number in range(COUNT)],
    [2**40 + number for number in range(COUNT)],
    [1, 2] * (COUNT // 2),
    [1_700_000_000_000 + number for number in range(COUNT)],
    [None if number % 3 else b"k%d" % number for number in range(COUNT - 1)] + [b"poison"],
    [None, b"", b"\\x00\\xff" * 500] * (COUNT // 3),
    [(), (("a", None), ("a", b""), ("\\u00e4", b"\\x00"))] * (COUNT // 2),
)
in_java = JavaBatches(HandlerSettings(name, argument, (), jars.split(":")), Path(java), compiler)
in_python = load_handler(HandlerSettings(f"{script}:{twin}", argument), None)
for part in (batch, batch.rest(COUNT)):
    left, right = in_java.handle(part), in_python.handle(part)
    assert [tuple(each) for each in left.targets] == [tuple(each) for each in right.targets], (left, right)
    assert list(left.ends) == list(right.ends)
    assert (left.error is None) == (right.error is None), (left.error, right.error)
    print(len(left.targets), left.error)
"""


@pytest.mark.parametrize(
    ("name", "args", "outcome"),
    [
        ("handlers.Rename", "copy.", "60 None"),
        ("Overloaded", "copy.", "60 None"),
        ("handlers.DropTombstones", "-", "40 None"),
        ("handlers.FanOut", "-", "120 None"),
        ("handlers.AddHeaders", "-", "60 None"),
        ("handlers.EveryNth", "7 3", "8 None"),
        ("handlers.Picky", "-", "59 java.lang.IllegalStateException: poison at 1099511627835"),
    ],
)
def test_both_make_the_same(handler_jars: dict[str, Path], name: str, args: str, outcome: str) -> None:
    """Overloaded has the second method of 0.9, whose type is not there: it does no harm."""
    twin = name.removeprefix("handlers.").replace("Overloaded", "Rename")
    class_path = f"{handler_jars[name.removeprefix('handlers.')]}:{kafka_jars(OLD)}/*"
    words = (name, twin, args, class_path, str(find_java()), str(SAMPLES / "handlers.py"), *compiler_jars())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [outcome, "0 None"]
