"""Kafka Connect's own transforms beside ours: what a connector's properties make of the same records, or why not."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any
from unittest import mock

import pytest

from compat.laboratory.releases import CONNECT, CURRENT
from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.flow.topic_steps import TopicSteps
from legacy_mm.handlers import batches
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.loader import load_handler
from legacy_mm.handlers.single_records import handle_records
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.words.mirror_maker_2 import transform_properties
from tests.fixtures.transform_jars import NO_TIME, Answer, Case, answers_of_connect, properties, record

SIMPLE, STRING = (f"org.apache.kafka.connect.storage.{name}Converter" for name in ("SimpleHeader", "String"))
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
pytestmark = [pytest.mark.brokers, pytest.mark.spark]


RECORDS = [
    record(),
    record("A.u", headers=(("x", b"1"), ("y", None), ("x", b"\xff"), ("z", b""))),
    record("B.t", 0, None),
    record("orders.eu-1", 86_399_999, b"", None, (("h", b"there"),)),
    record("t", NO_TIME, b"\0\1", b""),
    record("abc", 253_402_300_799_999, None, headers=(("X", b""), ("a b", b"2"))),
]


def ours(case: Case, records: Sequence[Record], java: StartJvm) -> Answer:
    """What our steps make of them; a refusal of ours alone begins with `here: `."""
    found, converter = case
    if why := transform_properties.refusal(properties(found)):
        return why
    transforms = transform_properties.read(properties(found))
    if not all(map(transform_properties.is_step, transforms)):
        return "here: only in Java"  # test_java_transforms.py
    try:
        texts = transform_properties.steps(transforms, converter, "A->B.")
        made = TopicSteps(texts, java) if texts else None
    except ConfigurationError as error:
        return f"here: {error}"
    with mock.patch.object(batches, "epoch_ms", return_value=NO_TIME):  # a record without a time would get that of now
        return [outcome(made, each) for each in records]


def outcome(made: TopicSteps | None, each: Record) -> Any:
    if made is None:
        return each.topic, each.key, each.value, each.headers, each.partition, each.timestamp
    try:
        handler = load_handler(HandlerSettings(steps=made.exact([each.topic])), no_java)
    except HandlerFailure as error:
        return str(error)
    handled = handle_records(handler, [each])
    if handled.error:
        return handled.error
    named = [target[:4] + (each.partition, target[5]) for target in handled.targets]
    return named[0] if named else None


def no_java(*_: object) -> Any:
    raise AssertionError("nobody asks Java")


def one(kind: str, *lines: str, predicate: str = "", negate: str = "") -> str:
    """A connector with one transform; the predicate is its class and its key, as in `HasHeaderKey name=x`."""
    found = ["transforms=a", f"transforms.a.type=org.apache.kafka.connect.transforms.{kind}"]
    found += [f"transforms.a.{line}" for line in lines]
    if predicate:
        kind, _, setting = predicate.partition(" ")
        found += ["transforms.a.predicate=p", "predicates=p", f"predicates.p.type={kind}"]
        found += [f"predicates.p.{setting}"] if setting else []
    found += [f"transforms.a.negate={negate}"] if negate else []
    return "\n".join(found)


def router(regex: str, replacement: str, **predicate: str) -> str:
    escaped = (each.replace("\\", "\\\\") for each in (regex, replacement))
    return one("RegexRouter", *map("=".join, zip(("regex", "replacement"), escaped, strict=True)), **predicate)


PREDICATES = (
    "HasHeaderKey name=x", "HasHeaderKey name=X", "HasHeaderKey name= a b ", "RecordIsTombstone",
    "TopicNameMatches pattern=A\\\\..*", "TopicNameMatches pattern=t",
    "TopicNameMatches pattern=(?i)[a-b&&[^c]]\\\\..+",
)  # fmt: skip
CASES = [
    "", "transforms=", "transforms= , ", "transforms=a", "transforms=a\ntransforms.a.type=", "predicates=q",
    one("Filter"), one("Filter").replace("=a", "=a,a", 1), one("Filter").replace("=a", "=a,", 1),
    one("Filter").replace("org.apache.kafka.connect.transforms.", ""), one("Filter", "nonsense=1"),
    one("Filter", "predicate=p"), one("Filter", "predicate="), one("Filter", negate="true"),
    *(one("Filter", predicate=each, negate=negate) for each in PREDICATES for negate in ("", "true", "TRUE", "False")),
    *(one("Filter", predicate="RecordIsTombstone", negate=each) for each in ("TRUE ", "yes", " ", "true\t", "0")),
    one("Filter", predicate="HasHeaderKey"), one("Filter", predicate="HasHeaderKey name="),
    one("Filter", predicate="TopicNameMatches"), one("Filter", predicate="TopicNameMatches pattern="),
    one("Filter", predicate="TopicNameMatches pattern=("),
    one("Filter", predicate="RecordIsTombstone").replace("s=p", "s=p, p"),
    one("Filter", predicate="RecordIsTombstone").replace("s=p", "s=p, q"),
    one("Filter", predicate="RecordIsTombstone").replace("s=p", "s="),
    one("Filter", predicate="RecordIsTombstone").replace(".predicate=p", ".predicate=p "),
    one("DropHeaders"), one("DropHeaders", "headers="), one("DropHeaders", "headers=x"),
    one("DropHeaders", "headers= x ,a b"),
    one("DropHeaders", "headers=X", predicate="RecordIsTombstone", negate="true"),
    one("InsertHeader"), one("InsertHeader", "header=h"), one("InsertHeader", "value.literal=x"),
    one("InsertHeader", "header=", "value.literal="), one("InsertHeader", "header= h ", "value.literal= x "),
    one("InsertHeader", "header=h", "value.literal=null", predicate="HasHeaderKey name=h", negate="true"),
    router(r"A\.(.*)", "$1"), router(r"(?<a>[^.]+)\.(.*)", "${a}-$2"), router("A|A.u", "b"), router("x*", "y"),
    router("t", "$0$0"), router(r"\Qt\E", "T"), router("(?i)T", "z"), router("", "x"), router("(", "x"),
    router(".*", ""), router(".*", "a b"), router("(.*)", "$2"), router("(.*)", "x$"), router(".*", r"\$1"),
    router(".{1,3}", "short", predicate="HasHeaderKey name=x"),
    router("(.*)u", "$1v", predicate="RecordIsTombstone", negate="true"),
    router("x", "y").replace("transforms.a.replacement=y", ""), router("x", "y").replace("transforms.a.regex=x", ""),
    one("TimestampRouter"), one("TimestampRouter", "topic.format=${topic}"), one("TimestampRouter", "topic.format="),
    one("TimestampRouter", "topic.format=${timestamp}.${topic}.${timestamp}${x}", "timestamp.format=yy"),
    one("TimestampRouter", "timestamp.format="), one("TimestampRouter", "timestamp.format= yyyy-MM "),
    one("MaskField$Value", "fields=x"), one("NoSuch"),
]  # fmt: skip
CHAIN = """transforms=g, m, r
transforms.g.type=org.apache.kafka.connect.transforms.Filter
transforms.g.predicate=marked
transforms.m.type=org.apache.kafka.connect.transforms.InsertHeader
transforms.m.header=x
transforms.m.value.literal=null
transforms.r.type=org.apache.kafka.connect.transforms.RegexRouter
transforms.r.regex=(.*)
transforms.r.replacement=$1-copy
transforms.r.predicate=marked
predicates=marked
predicates.marked.type=org.apache.kafka.connect.transforms.predicates.HasHeaderKey
predicates.marked.name=x
"""


def agrees(theirs: Answer, found: Answer) -> bool:
    """Refused by both, or by ours alone with its reason; else each record alike, or failed on by both."""
    if isinstance(found, str):
        return isinstance(theirs, str) or found.startswith("here: ")
    if isinstance(theirs, str):
        return False
    pairs = zip(theirs, found, strict=True)
    return all(each == mine or (isinstance(mine, str) and fails(each)) for each, mine in pairs)


def fails(each: Any) -> bool:
    """Connect fails on the record, or the target will, for the name of its topic."""
    return isinstance(each, str) or (each is not None and not re.fullmatch(r"[\w.-]+", each[0], re.ASCII))


@pytest.mark.parametrize("release", [CONNECT, CURRENT])
def test_transforms_are_connect_s_own(release: str, java: StartJvm) -> None:
    cases = [(each, SIMPLE) for each in (*CASES, CHAIN)] + [(CHAIN, BYTES)]
    theirs = answers_of_connect(release, cases, RECORDS)
    for case, expected in zip(cases, theirs, strict=True):
        found = ours(case, RECORDS, java)
        assert agrees(expected, found), (case, expected, found)
        alone = isinstance(found, str) and found.startswith("here: ") and not isinstance(expected, str)
        assert not alone or "MaskField" in case[0], (case, found)


@pytest.mark.parametrize("release", [CONNECT, CURRENT])
def test_a_chain_in_any_order(release: str, java: StartJvm) -> None:
    dice = random.Random(7)
    cases = [(chain(dice), SIMPLE) for _ in range(300)]
    for case, expected in zip(cases, answers_of_connect(release, cases, RECORDS), strict=True):
        found = ours(case, RECORDS, java)
        assert agrees(expected, found), (case, expected, found)


KINDS = (
    ("Filter",),
    ("InsertHeader", "header=x", "value.literal=1.0"),
    ("InsertHeader", "header=n", "value.literal=null"),
    ("DropHeaders", "headers=x,h"),
    ("RegexRouter", "regex=([A-Z])\\\\.(.*)", "replacement=$2"),
    ("RegexRouter", "regex=t|u", "replacement=v.$0"),
    ("TimestampRouter", "timestamp.format=yyyyMM"),
)
ALIASES = "abcd"


def chain(dice: random.Random) -> str:
    names = ALIASES[: dice.randint(1, 4)]
    lines = [f"transforms={','.join(names)}", "predicates=p,q,r"]
    for name, predicate in zip("pqr", dice.sample(PREDICATES, 3), strict=True):
        kind, _, setting = predicate.partition(" ")
        lines += [f"predicates.{name}.type={kind}", f"predicates.{name}.{setting or 'x=y'}"]
    for name in names:
        kind, *settings = dice.choice(KINDS)
        lines += [f"transforms.{name}.{line}" for line in (f"type={kind}", *settings)]
        if dice.random() < (0.9 if kind == "Filter" else 0.5):
            lines += [f"transforms.{name}.predicate={dice.choice('pqr')}"]
            lines += [f"transforms.{name}.negate={dice.choice(['true', 'false'])}"] if dice.random() < 0.6 else []
    return "\n".join(lines)


@pytest.mark.parametrize("release", [CONNECT, CURRENT])
def test_a_literal_is_written_as_connect_writes_it(release: str, java: StartJvm) -> None:
    """Of whatever letters; what ours refuses is no plain word or number."""
    dice = random.Random(11)
    letters = '0123456789+-.eETZ:,"[]{}aN '
    literals = ["".join(dice.choices(letters, k=dice.randint(0, 7))) for _ in range(2_000)]
    literals += [
        f"{dice.choice(['', '-', '+'])}{dice.randrange(10 ** dice.randint(1, 9))}{end}" for end in ("", ".0", ".5") * 50
    ]
    literals += [f"{dice.uniform(0.001, 9_999_999):.{dice.randint(1, 3)}f}" for _ in range(300)]
    literals += ["null", "true", "True", "NaN", "DC1", "source-cluster", "10.0.0.1", "2024-02-29", "1e3", "é", "½"]
    cases = [
        (one("InsertHeader", "header=h", f"value.literal={escaped(each)}"), converter)
        for each in literals
        for converter in (SIMPLE, STRING)
    ]
    refused = 0
    for case, expected in zip(cases, answers_of_connect(release, cases, RECORDS[:1]), strict=True):
        found = ours(case, RECORDS[:1], java)
        refused += isinstance(found, str)
        assert agrees(expected, found), (case, expected, found)
    assert refused < len(cases) // 2


def escaped(literal: str) -> str:
    """As a properties file has it."""
    return "".join(f"\\u{ord(letter):04x}" for letter in literal)


def test_a_time_is_written_as_java_writes_it(java: StartJvm) -> None:
    dice = random.Random(5)
    letters = "yMdDHkKhmsS"
    patterns = [
        "".join(dice.choice(letters) * dice.randint(1, 4) + dice.choice(["", "-", "'T'", "_", "''"]) for _ in range(4))
        for _ in range(400)
    ]
    patterns += ["''''", "'it''s'yy", "'''y'''", "'", "yyyy'", "YYYY", "Q", "MMM", "EEE"]
    records = [record("t", dice.randrange(253_402_300_800_000), b"") for _ in range(5)] + RECORDS
    cases = [(one("TimestampRouter", f"timestamp.format={each}"), SIMPLE) for each in patterns]
    for case, expected in zip(cases, answers_of_connect(CURRENT, cases, records), strict=True):
        found = ours(case, records, java)
        assert agrees(expected, found), (case, expected, found)


def test_what_only_bytes_can_be_is_not_written_as_text(java: StartJvm) -> None:
    """MirrorMaker 2's own converter fails on every record with such a header; ours refuses the flow."""
    cases = [(one("InsertHeader", "header=h", f"value.literal={literal}"), BYTES) for literal in ("x", "7", "true", "")]
    for case, expected in zip(cases, answers_of_connect(CURRENT, cases, RECORDS), strict=True):
        assert all(isinstance(each, str) and "ByteArrayConverter" in each for each in expected), case
        assert str(ours(case, RECORDS, java)).startswith("here: A->B.transforms.a.value.literal="), case
