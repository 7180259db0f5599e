"""What is compared, and how it is read; both clusters and Spark are stand-ins, the real ones are in tests/brokers."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.audit import topic_comparison
from legacy_mm.audit.topic_comparison import ComparisonOutcome, Totals, Unread, compare
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from tests.fakes.inspector import SteadyInspector

ENDS = {"orders": (5, 9), "empty": (3, 3), "unsettled": (0, 9)}
UNSETTLED = {"unsettled": 6}


class Tables:
    """Finds four records on each side of the topic that has some."""

    read: list[dict[str, Any]]

    def __init__(self, context: object, module: str, parts: list[dict[str, Any]], *_: object) -> None:
        Tables.read = parts

    def query(self, name: str, sql: str, told: object) -> list[dict[str, Any]]:
        sides = {(part["name"], part["side"]) for part in Tables.read}
        return [{"topic": topic, "side": side, "records": 4, "hash": "7"} for topic, side in sorted(sides)]


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_comparison, "NativeInspector", lambda connection: SteadyInspector(ENDS, UNSETTLED))
    monkeypatch.setattr(topic_comparison, "Tables", Tables)


def compared(*topics: str, **options: Any) -> ComparisonOutcome:
    connections = dict.fromkeys(("source", "target"), ConnectionSettings())
    return compare(None, connections, "", lambda _: {name: name for name in topics}, None, **options)


def test_nothing_to_compare_is_no_equality() -> None:
    with pytest.raises(HostError, match="no topic of the source matches"):
        compared(timed=True)


@pytest.mark.parametrize("committed_only", [True, False])
def test_a_topic_is_compared_up_to_its_open_transaction_where_committed_records_are_read(committed_only: bool) -> None:
    """Equal sides are then not told as equal: the outcome has what was not read."""
    outcome = compared("unsettled", timed=True, committed_only=committed_only)
    unread = {side: Unread("unsettled", side, 0, 6, 9) for side in ("source", "target")}
    if not committed_only:
        del unread["source"]
    assert {part["side"]: part["end"] for part in Tables.read} == {"source": 6 if committed_only else 9, "target": 6}
    assert (outcome.unread, outcome.differences) == (tuple(unread.values()), ())


def row(kind: str, records: int) -> dict[str, Any]:
    place = {"partition": 0, "hour": 0, "first_offset": 0, "last_offset": 8}
    return {"topic": "unsettled", "kind": kind, "records": records, **place}


@pytest.mark.parametrize(
    ("rows", "committed_only", "undecided"),
    [
        ([row("missing", 3)], False, ["missing"]),
        ([row("missing", 4)], False, []),
        ([row("missing", 2), row("missing", 2)], False, []),
        ([row("doubled", 1), row("missing", 3)], False, ["missing"]),
        ([row("doubled", 1), row("unexpected", 2)], True, ["doubled", "unexpected"]),
        ([row("doubled", 2), row("unexpected", 2)], True, []),
    ],
)
def test_what_an_open_transaction_may_hide_is_no_difference_and_more_is_one(
    rows: list[dict[str, Any]], committed_only: bool, undecided: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def query(self: Tables, name: str, sql: str, told: object) -> list[dict[str, Any]]:
        counts = {"source": 9, "target": 6}
        totals = [{"topic": "unsettled", "side": side, "records": counts[side], "hash": "7"} for side in counts]
        return totals if name == "totals" else rows

    monkeypatch.setattr(Tables, "query", query)
    outcome = compared("unsettled", timed=True, committed_only=committed_only)
    assert [each.kind for each in outcome.undecided] == undecided
    assert [each.kind for each in outcome.differences] == [
        each["kind"] for each in rows if each["kind"] not in undecided
    ]


@pytest.mark.parametrize("topics", [("empty",), ("empty", "orders")])
def test_a_topic_without_records_is_told_on_both_sides(topics: tuple[str, ...]) -> None:
    outcome = compared(*topics, timed=True)
    assert outcome.differences == ()
    empty = [total for total in outcome.totals if total.topic == "empty"]
    assert empty == [Totals("empty", "source", 0, 0), Totals("empty", "target", 0, 0)]


@pytest.mark.parametrize("committed_only", [True, False])
def test_the_source_is_read_as_the_mirror_reads_it(committed_only: bool) -> None:
    compared("orders", timed=False, committed_only=committed_only, without_header="mirror.path")
    source, target = Tables.read
    assert (source["committed"], target["committed"]) == (committed_only, True)
    assert source["without_header"] == target["without_header"] == "mirror.path"
