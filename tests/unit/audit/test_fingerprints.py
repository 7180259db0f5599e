"""Two records have one fingerprint only when they are equal in everything a mirror must keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from legacy_mm.audit import fingerprints


class Message(NamedTuple):
    """As far as a fingerprint looks."""

    k: bytes | None = b"key"
    v: bytes | None = b"value"
    h: tuple[tuple[str, bytes | None], ...] | None = (("a", b"1"), ("b", b"2"))
    t: int = 1_000
    o: int = 5

    def key(self) -> bytes | None:
        return self.k

    def value(self) -> bytes | None:
        return self.v

    def headers(self) -> Any:
        return self.h

    def timestamp(self) -> tuple[int, int]:
        return 1, self.t

    def offset(self) -> int:
        return self.o


OTHERS = [
    Message(k=None),
    Message(k=b""),
    Message(v=None),
    Message(v=b""),
    Message(k=b"keyv", v=b"alue"),
    Message(h=None),
    Message(h=(("b", b"2"), ("a", b"1"))),
    Message(h=(("a", None), ("b", b"2"))),
    Message(t=1_001),
]


def columns(
    monkeypatch: pytest.MonkeyPatch, records: list[Message], *, timed: bool, without_header: str = ""
) -> dict[str, Any]:
    def read_range(*_: object, **__: object) -> Iterator[list[Message]]:
        yield records

    monkeypatch.setattr(fingerprints, "read_range", read_range)
    monkeypatch.setattr(fingerprints, "connection_of", lambda secret, side: {})
    place = {"topic": "t", "name": "t", "partition": 3, "begin": 0, "end": 9, "committed": True, "side": "source"}
    (found,) = fingerprints.columns({**place, "timed": timed, "without_header": without_header}, "")
    return found


def test_every_difference_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = columns(monkeypatch, [Message(), *OTHERS], timed=True)
    assert len(set(found["fingerprint"])) == 1 + len(OTHERS)
    assert {len(column) for column in found.values()} == {1 + len(OTHERS)}


def test_the_place_does_not_count_and_time_only_where_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    same = [Message(), Message(o=9), Message(t=2_000)]
    assert len(set(columns(monkeypatch, same, timed=True)["fingerprint"])) == 2
    assert len(set(columns(monkeypatch, same, timed=False)["fingerprint"])) == 1


def test_a_header_that_the_mirror_adds_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = [Message(), Message(h=(*(Message().h or ()), ("path", b"west")))]
    assert len(set(columns(monkeypatch, copies, timed=True, without_header="path")["fingerprint"])) == 1
    assert len(set(columns(monkeypatch, copies, timed=True)["fingerprint"])) == 2
