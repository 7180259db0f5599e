"""Two records have one fingerprint only when they are equal in everything a mirror must keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from legacy_mm.audit import fingerprints
from legacy_mm.clients.fetch.partition_log import LogRecord

RECORD = LogRecord(5, 1_000, False, b"key", b"value", ((b"a", b"1"), (b"b", b"2")))
OTHERS = [
    RECORD._replace(key=None),
    RECORD._replace(key=b""),
    RECORD._replace(value=None),
    RECORD._replace(value=b""),
    RECORD._replace(key=b"keyv", value=b"alue"),
    RECORD._replace(headers=()),
    RECORD._replace(headers=((b"b", b"2"), (b"a", b"1"))),
    RECORD._replace(headers=((b"a", None), (b"b", b"2"))),
    RECORD._replace(timestamp=1_001),
]


def columns(
    monkeypatch: pytest.MonkeyPatch, records: list[LogRecord], *, timed: bool, without_header: str = ""
) -> dict[str, Any]:
    def read_range(*_: object, **__: object) -> Iterator[list[LogRecord]]:
        yield records

    monkeypatch.setattr(fingerprints, "read_range", read_range)
    monkeypatch.setattr(fingerprints, "connection_of", lambda secret, side: {})
    place = {"topic": "t", "name": "t", "partition": 3, "begin": 0, "end": 9, "committed": True, "side": "source"}
    (found,) = fingerprints.columns({**place, "timed": timed, "without_header": without_header}, "")
    return found


def test_every_difference_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = columns(monkeypatch, [RECORD, *OTHERS], timed=True)
    assert len(set(found["fingerprint"])) == 1 + len(OTHERS)
    assert {len(column) for column in found.values()} == {1 + len(OTHERS)}


def test_the_place_does_not_count_and_time_only_where_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    same = [RECORD, RECORD._replace(offset=9), RECORD._replace(timestamp=2_000)]
    assert len(set(columns(monkeypatch, same, timed=True)["fingerprint"])) == 2
    assert len(set(columns(monkeypatch, same, timed=False)["fingerprint"])) == 1


def test_a_header_that_the_mirror_adds_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = [RECORD, RECORD._replace(headers=(*RECORD.headers, (b"path", b"west")))]
    assert len(set(columns(monkeypatch, copies, timed=True, without_header="path")["fingerprint"])) == 1
    assert len(set(columns(monkeypatch, copies, timed=True)["fingerprint"])) == 2
