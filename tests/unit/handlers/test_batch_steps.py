"""Steps on whole batches do what they do record by record; compiled and uncompiled alike."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.handlers import batch_steps, batches
from legacy_mm.handlers.api import MessageHandler
from legacy_mm.handlers.batch_steps import BatchSteps, are_blind
from legacy_mm.handlers.batches import BY_KEY, Handled, PythonBatches, SourceRecords
from legacy_mm.handlers.built_in import Steps, step
from legacy_mm.handlers.loader import load_handler
from legacy_mm.protocol import records as protocol_records
from legacy_mm.protocol.kernels import WHY_UNCOMPILED, load_source, record_kernels
from tests.unit.protocol.batches import NOW, Row, build

HERE = TopicPartition("t", 3)
GUARD, PROVENANCE = "loop.guard=west>east", "provenance=west"
CHAINS = [
    ["rename.prefix=copy."],
    ["rename.map=t->u,v->w", "rename.suffix=.x"],
    ["keep.partition"],
    [PROVENANCE],
    [GUARD],
    ["rename.prefix=a.", PROVENANCE, "rename.suffix=.b", GUARD],
    [GUARD, PROVENANCE, "keep.partition"],
    ["filter.topic=t,u", PROVENANCE],
    ["filter.topic=u", PROVENANCE],
    ["rename.prefix=not a topic "],
]
PATHS = [None, b"", b"north", b"north,south", b"north,east", b"\xff"]
KERNELS = [load_source(), *([] if WHY_UNCOMPILED else [record_kernels])]
BASE = 100

header = st.tuples(st.sampled_from(["h", "mirror.path", "mirror.pat", "source.offset", ""]), st.sampled_from(PATHS))
record = st.builds(
    Row,
    st.integers(0, 2),
    st.integers(NOW - 5, NOW + 5) | st.just(-1),
    st.none() | st.binary(max_size=3),
    st.none() | st.binary(max_size=200),
    st.lists(header, max_size=4).map(tuple),
)


def source(rows: Sequence[Row], begin: int, wish: int, **fields: Any) -> SourceRecords:
    offset = -1
    placed = [row._replace(offset=(offset := offset + 1 + row.offset)) for row in rows]
    batch = build(placed, base_offset=BASE, **fields)
    return SourceRecords.of(HERE, batch.header, batch.payload, begin, wish)


def told(found: Handled) -> Any:
    """What came of it, in values that can be compared."""
    made = [
        (each.topic, each.header.records, each.header.max_timestamp, bytes(each.data), list(each.wishes))
        for each in found.made
    ]
    return made, found.records, found.dropped, found.next_offset, found.error


def both(kernels: ModuleType, chain: Sequence[str], records: SourceRecords, *, legal_topics: bool) -> tuple[Any, Any]:
    steps: list[MessageHandler] = [step(text) for text in chain]
    assert are_blind(steps)
    with (
        mock.patch.object(batch_steps, "kernels", kernels),
        mock.patch.object(batches, "kernels", kernels),
        mock.patch.object(protocol_records, "kernels", kernels),
        mock.patch.object(batches, "epoch_ms", lambda: NOW),
        mock.patch.object(batch_steps, "epoch_ms", lambda: NOW),
    ):
        by_record = PythonBatches(Steps(steps).handle, legal_topics=legal_topics)
        by_batch = BatchSteps(steps, PythonBatches(Steps(steps).handle, legal_topics=legal_topics))
        if legal_topics:
            by_batch = BatchSteps(steps, by_record, legal_topics=True)
        return told(by_batch.handle(records)), told(by_record.handle(records))


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda each: "compiled" if each.COMPILED else "uncompiled")
@given(
    rows=st.lists(record, min_size=1, max_size=6),
    chain=st.sampled_from(CHAINS),
    begin=st.integers(0, 4),
    wish=st.sampled_from([BY_KEY, 3]),
    legal_topics=st.booleans(),
)
def test_whole_batches_are_handled_as_their_records_are(
    kernels: ModuleType, rows: list[Row], chain: list[str], begin: int, wish: int, legal_topics: bool
) -> None:
    records = source(rows, BASE + begin, wish)
    by_batch, by_record = both(kernels, chain, records, legal_topics=legal_topics)
    assert by_batch == by_record


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda each: "compiled" if each.COMPILED else "uncompiled")
def test_times_that_the_broker_set_are_kept(kernels: ModuleType) -> None:
    rows = [Row(0, NOW - 9, b"k", b"v"), Row(0, NOW - 3, b"k", None)]
    by_batch, by_record = both(kernels, [PROVENANCE], source(rows, BASE, BY_KEY, attributes=8), legal_topics=False)
    assert by_batch == by_record


def test_a_record_in_a_circle_ends_it_behind_those_before() -> None:
    rows = [
        Row(0, NOW, b"k", b"1"),
        Row(0, NOW, b"k", b"2", (("mirror.path", b"north,east"),)),
        Row(0, NOW, b"k", b"3"),
    ]
    steps = [step(GUARD)]
    found = BatchSteps(steps, PythonBatches(steps[0].handle)).handle(source(rows, BASE, BY_KEY))
    assert (found.records, found.next_offset) == (1, BASE + 1)
    assert str(found.error).startswith("HandlerFailure: t goes in a circle: this record was at east before")


@pytest.mark.parametrize(
    ("chain", "whole"),
    [
        (["rename.prefix=a."], True),
        ([GUARD, PROVENANCE], True),
        (["filter.key=^a"], False),
        (["filter.header=h:x"], False),
        (["rename.prefix=a.", "filter.key=x"], False),
        ([PROVENANCE, "provenance=other"], False),
    ],
)
def test_steps_that_look_at_a_record_see_it(chain: list[str], whole: bool) -> None:
    def no_java(settings: HandlerSettings) -> Any:
        raise AssertionError(settings)

    made = load_handler(HandlerSettings(steps=tuple(chain)), no_java)
    assert isinstance(made, BatchSteps) is whole
