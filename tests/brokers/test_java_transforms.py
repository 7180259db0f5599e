"""Transforms out of a jar, in the JVM of a copy task, beside Kafka Connect's own worker with the same jar."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import CONNECT, CURRENT
from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.flow.plugins import ready_handler
from legacy_mm.handlers.api import Record
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.runtime.jvm.java_home import compiler_jars, find_java
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.mirror_maker_2.java_transforms import java_transforms
from tests.fixtures.transform_jars import NO_TIME, Answer, answers_of_connect, properties, record, transform_jar

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SIMPLE = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
SECONDS = 120.0
NAME = "transforms"
PROGRAM = """
import json, sys
from pathlib import Path
from legacy_mm.base.settings import HandlerSettings, JavaTransforms
from legacy_mm.base.errors import HandlerFailure
from legacy_mm.handlers import java_batches
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.single_records import handle_records

java_batches.epoch_ms = lambda: -1  # a record without a time would get that of now
java, compiler, class_path, records, cases = json.loads(sys.stdin.read())
rows = [Record(*eval(each)) for each in records]
names = {each.topic: each.topic for each in rows}

def outcome(handler, row):
    done = handle_records(handler, [row])
    if done.error is not None:
        return done.error
    return done.targets[0] if done.targets else None

for case in cases:
    settings = HandlerSettings("transforms", class_path=class_path, transforms=JavaTransforms(case, names))
    try:
        handler = java_batches.JavaBatches(settings, Path(java), compiler, legal_topics=False)
    except HandlerFailure as error:
        print(repr(str(error)))
    else:
        print([None if made is None or isinstance(made, tuple) and not made else made
               for made in (outcome(handler, row) for row in rows)])
"""


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return transform_jar(tmp_path_factory.mktemp("acme"))


def chain(*transforms: str, **predicates: str) -> str:
    """A connector with these transforms, each `class key=value ...`, with aliases from `a` on."""
    lines = [f"transforms={','.join('abcdef'[: len(transforms)])}", f"predicates={','.join(predicates)}"]
    for family, named in (("transforms", zip("abcdef", transforms, strict=False)), ("predicates", predicates.items())):
        for name, text in named:
            kind, *settings = text.split()
            lines += [f"{family}.{name}.{line}" for line in (f"type={kind}", *settings)]
    return "\n".join(lines)


LONGER, MARKED = "com.acme.Longer bytes=3", "org.apache.kafka.connect.transforms.predicates.HasHeaderKey name=mark"
CONNECTS = "org.apache.kafka.connect.transforms."
CASES = [
    chain("com.acme.Mask kept=2"),
    chain("com.acme.Mask kept=1 predicate=p", p=LONGER),
    chain("com.acme.Mask kept=1 predicate=p negate=true", p=LONGER),
    chain("com.acme.Mask kept=0 predicate=p negate=TRUE", p=MARKED),
    chain("Filter predicate=p", p=LONGER),
    chain("Filter predicate=p negate=true", p=LONGER),
    chain("com.acme.Route", "com.acme.Mask kept=1"),
    chain("com.acme.Route", f"{CONNECTS}RegexRouter regex=(.*)u replacement=$1v", "DropHeaders headers=was"),
    chain(f"{CONNECTS}TimestampRouter", "com.acme.Route", "RegexRouter regex=(.*) replacement=x.$1"),
    chain("InsertHeader header=mark value.literal=[1,2]", "com.acme.Mask kept=1 predicate=p", p=MARKED),
    chain("com.acme.Mask kept=1 predicate=p", "InsertHeader header=mark value.literal=12:30", p=MARKED),
    chain("com.acme.Odd"), chain("com.acme.Odd", "com.acme.Route"),
    chain(f"{CONNECTS}MaskField$Value fields=x"), chain(f"{CONNECTS}HoistField$Value field=x"),
    chain(f"{CONNECTS}HoistField$Value field=x", f"{CONNECTS}ExtractField$Value field=x"),
    chain(f"{CONNECTS}HeaderFrom$Value fields=a headers=b operation=copy"),
    chain(f"{CONNECTS}ValueToKey fields=a"), chain(f"{CONNECTS}SetSchemaMetadata$Value schema.name=s"),
    # refused
    chain("com.acme.Mask"), chain("com.acme.Mask kept=-1"), chain("com.acme.Mask kept=x"),
    chain("com.acme.Mask kept=99"), chain("com.acme.Plain"), chain("com.acme.Longer bytes=1"), chain("com.acme.None"),
    chain("com.acme.Mask kept=1 predicate=p", p="com.acme.Mask kept=1"), chain(f"{CONNECTS}None"),
    chain("com.acme.Mask kept=1 predicate=p", p="com.acme.Longer"), chain("com.acme.Mask kept=1 predicate=q", p=LONGER),
]  # fmt: skip
ODD = (
    "throw", "refuse", "error", "null", "text", "map", "buffer", "nothing", "no text", "bytes", "text header",
    "int header", "early", "no time", "no partition", "negative", "no topic",
)  # fmt: skip
RECORDS = [
    record(),
    record("A.u", headers=(("mark", b"1"), ("y", None), ("mark", b"\xff"), ("z", b""))),
    record("B.t", 0, None),
    record("A.t", 86_399_999, b"secret", None, (("topic", b"elsewhere"), ("partition", b"7"), ("time", b"5"))),
    record("A.t", NO_TIME, b"12345", b"", (("partition", b""), ("time", b""))),
    record("A.t", value=b"\xff" * 300, headers=(("topic", b"with blank"), ("topic", b"last"))),
    record("A.t", value=b"", headers=(("partition", b"x"),)),
    *(record("A.t", value=each.encode()) for each in ODD),
]


def reading(text: str, converter: str = SIMPLE) -> FlowReading:
    flow = {f"A->B.{key}": value for key, value in properties(text).items()}
    start = {"clusters": "A, B", "A.bootstrap.servers": "a:9092", "B.bootstrap.servers": "b:9092"}
    file = DriverFile({**start, "A->B.enabled": "true", "A->B.header.converter": converter, **flow})
    return next(FlowReading.of_driver(file, pair) for pair in file.pairs() if str(pair) == "A->B")


def ours(cases: Sequence[str], records: Sequence[Record], class_path: Sequence[str], java: StartJvm) -> list[Answer]:
    """What our bridge makes of them, all in one JVM."""
    found: list[Answer] = []
    asked: list[dict[str, str]] = []
    for text in cases:
        read = reading(text)
        try:
            made = None if not read.copies else java_transforms(read, class_path)
            if made is None:
                found.append(read.refusals.get("source", "no transform in Java"))
                continue
            ready_handler(HandlerSettings(NAME, class_path=class_path, transforms=made), java)
        except (ConfigurationError, HandlerFailure) as error:
            found.append(str(error))
            continue
        asked.append({**made.properties})
        found.append([])
    given = (str(find_java()), compiler_jars(), [*class_path], [repr(tuple(each)) for each in records], asked)
    words = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(words, input=json.dumps(given), capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    answers = map(ast.literal_eval, done.stdout.splitlines())
    return [next(answers) if each == [] else each for each in found]


def differing(theirs: Answer, found: Answer) -> list[Any]:
    """What is not refused by both, or alike for each record, or failed on by both for the same cause."""
    if isinstance(theirs, str) or isinstance(found, str):
        return [] if isinstance(theirs, str) and isinstance(found, str) else [(theirs, found)]
    pairs = zip(map(timed, theirs), found, strict=True)
    return [(each, mine) for each, mine in pairs if each != mine and not same_cause(each, mine)]


def timed(made: Any) -> Any:
    """A record without a time gets that of now, which is NO_TIME here."""
    return (*made[:-1], NO_TIME) if isinstance(made, tuple) and made[-1] is None else made


def same_cause(theirs: Any, mine: Any) -> bool:
    if not (isinstance(theirs, str) and isinstance(mine, str)):
        return False
    kind, _, words = theirs.partition(": ")
    return (kind in mine and words in mine) or ("Invalid record timestamp" in words and "Invalid timestamp" in mine)


@pytest.mark.parametrize("release", [CONNECT, CURRENT])
def test_a_jar_runs_as_in_connect(release: str, jar: Path, java: StartJvm) -> None:
    class_path = [str(jar), *map(str, sorted(kafka_jars(release).glob("*.jar")))]
    theirs = answers_of_connect(release, [(each, SIMPLE) for each in CASES], RECORDS, [jar])
    answers = zip(CASES, theirs, ours(CASES, RECORDS, class_path, java), strict=True)
    assert [(case, wrong) for case, expected, found in answers if (wrong := differing(expected, found))] == []
