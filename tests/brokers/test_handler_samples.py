"""The samples in Python and in Java make the same of the same records. Each pair has a process and a JVM of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compat.laboratory.handlers import SAMPLES
from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import HANDLERS_0_9, HANDLERS_0_10, OLD
from legacy_mm.runtime.jvm.java_home import compiler_jars, find_java
from tests.fixtures.handlers import OF_TESTS

pytestmark = pytest.mark.brokers
SECONDS = 60.0
TWINS = OF_TESTS / "twins.py"
PROGRAM = """
import sys
from pathlib import Path
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.handlers import batches, java_batches
from legacy_mm.handlers.java_batches import JavaBatches
from legacy_mm.handlers.loader import load_handler
from legacy_mm.handlers.single_records import handle_records

name, twin, args, jars, java, script, *compiler = sys.argv[1:]
argument = None if args == "-" else args
batches.epoch_ms = java_batches.epoch_ms = lambda: 1_700_000_009_999
COUNT = 60
columns = (
    ["t", "names with \\u00e4"] * (COUNT // 2),
    [number % 5 for number in range(COUNT)],
    [2**40 + number for number in range(COUNT)],
    [1, 2] * (COUNT // 2),
    [1_700_000_000_000 + number for number in range(COUNT)],
    [None if number % 3 else b"k%d" % number for number in range(COUNT - 1)] + [b"poison"],
    [None, b"", b"\\x00\\xff" * 500_000] * (COUNT // 3),
    [(), (("a", None), ("a", b""), ("\\u00e4", b"\\x00"))] * (COUNT // 2),
)
records = list(zip(*columns, strict=True))
in_java = JavaBatches(HandlerSettings(name, argument, (), jars.split(":")), Path(java), compiler)
in_python = load_handler(HandlerSettings(f"{script}:{twin}", argument), None)
for part in (records, []):
    left, right = handle_records(in_java, part), handle_records(in_python, part)
    assert [tuple(each) for each in left.targets] == [tuple(each) for each in right.targets], (left, right)
    assert list(left.ends) == list(right.ends)
    assert (left.error is None) == (right.error is None), (left.error, right.error)
    print(len(left.targets), left.error)
"""


@pytest.mark.parametrize(
    ("name", "args", "outcome"),
    [
        ("handlers.Rename", "copy.", "60 None"),
        ("handlers.DropTombstones", "-", "40 None"),
        ("handlers.FanOut", "-", "120 None"),
        ("handlers.AddHeaders", "-", "60 None"),
        ("handlers.EveryNth", "7 3", "8 None"),
        ("handlers.Picky", "-", "59 java.lang.IllegalStateException: poison at 1099511627835"),
    ],
)
def test_both_make_the_same(handler_jars: dict[str, Path], name: str, args: str, outcome: str) -> None:
    twin = name.removeprefix("handlers.")
    assert compared(handler_jars[twin], OLD, name, args, SAMPLES / "handlers.py") == [outcome, "0 None"]


def test_arrays_may_be_used_again(handler_jars: dict[str, Path]) -> None:
    """The legacy tool sends a record before the handler sees the next one."""
    assert compared(handler_jars["Thrifty"], OLD, "Thrifty", "-", TWINS) == ["60 None", "0 None"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("null", "java.lang.NullPointerException: handle answered null"),
        ("text in a list", "java.lang.ClassCastException: class java.lang.String cannot be cast to class org.apache"),
    ],
)
def test_bad_answers_end_the_batch_before_their_record(handler_jars: dict[str, Path], answer: str, error: str) -> None:
    """Contract 5.5: fatal, in Java's words."""
    (counted, empty) = compared(handler_jars["Odd"], OLD, "Odd", answer, TWINS)
    assert counted.startswith(f"59 {error}")
    assert empty == "0 None"


@pytest.mark.parametrize(
    ("name", "release", "outcome"),
    [
        ("Of09", HANDLERS_0_9, "40 None"),
        ("Of09", OLD, "40 None"),
        ("Of010", HANDLERS_0_10, "60 None"),
    ],
)
def test_handlers_of_old_releases(release_jars: dict[str, Path], name: str, release: str, outcome: str) -> None:
    """With the jars they were compiled for; and with the last ones, without the type that 0.9's second method takes."""
    assert compared(release_jars[name], release, name, "copy.", TWINS) == [outcome, "0 None"]


def compared(jar: Path, release: str, name: str, args: str, script: Path) -> list[str]:
    """What the program printed; it fails where the handler in Java and its twin in the script differ."""
    twin = name.removeprefix("handlers.")
    words = (name, twin, args, f"{jar}:{kafka_jars(release)}/*", str(find_java()), str(script), *compiler_jars())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
