"""Records in the quarantine and back: nothing of them changes, and broken lines are named."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.base.settings import QuarantineSettings
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.quarantine import QuarantineFile, QuarantineTopic, quarantine_of, read_file, released

RECORD = Record("t", 5, 7, 1, 99, b"k", b"v", (("h", b"x"), ("h", None)))
data = st.none() | st.binary(max_size=8)
records = st.builds(
    Record,
    st.text("abc._-", min_size=1, max_size=5),
    st.integers(0, 1 << 30),
    st.integers(0, 1 << 62),
    st.sampled_from([0, 1, 2]),
    st.integers(-1, 1 << 50),
    data,
    data,
    st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), data), max_size=3).map(tuple),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "aside.jsonl"


@given(found=st.lists(records, min_size=1, max_size=4), error=st.text(max_size=9))
def test_what_comes_back_from_a_file_is_what_went_in(
    tmp_path_factory: pytest.TempPathFactory, found: list[Record], error: str
) -> None:
    file = tmp_path_factory.mktemp("quarantine") / "aside"
    for record in found:
        assert QuarantineFile(str(file)).put(record, error) == []
    assert read_file(file) == (found, [])


@given(record=records)
def test_what_comes_back_from_a_topic_is_what_went_in(record: Record) -> None:
    """A consumer sees it at another place."""
    (target,) = QuarantineTopic("q").put(record, "why")
    assert (target.topic, target.key, target.value, target.partition) == ("q", record.key, record.value, None)
    there = Record("q", 0, 1, record.timestamp_type, record.timestamp, target.key, target.value, target.headers)
    assert released(there) == record


def test_a_file_is_the_owners_alone(file: Path) -> None:
    QuarantineFile(str(file)).put(RECORD, "why")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_reason_of_any_letters_is_kept(file: Path) -> None:
    """The reason may quote a record; a lone surrogate has no UTF-8."""
    (target,) = QuarantineTopic("q").put(RECORD, "größe \ud800")
    assert dict(target.headers)["legacy_mm.quarantine.error"] == "größe ?".encode()


def test_the_first_place() -> None:
    assert isinstance(quarantine_of(QuarantineSettings(topic="q", file="f")), QuarantineTopic)
    assert isinstance(quarantine_of(QuarantineSettings(file="f")), QuarantineFile)


def test_a_place_that_takes_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match="file/aside cannot be written: "):
        QuarantineFile(str(tmp_path / "file" / "aside")).put(RECORD, "why")


def line(**changes: object) -> bytes:
    row = {
        "timestamp_type": 1,
        "timestamp": 9,
        "key": None,
        "value": "dg==",
        "headers": [
            ["legacy_mm.quarantine.topic", "dA=="],
            ["legacy_mm.quarantine.partition", "NQ=="],
            ["legacy_mm.quarantine.offset", "Nw=="],
        ],
    }
    return json.dumps(row | changes).encode()


@pytest.mark.parametrize(
    "torn",
    [
        line()[:-9],
        b"",
        b"{}",
        b"[]",
        b"7",
        b"null",
        b"\xff\xfe",
        line(value="no base64!"),
        line(value="größe"),
        line(value=7),
        line(headers=[]),
        line(headers=[["legacy_mm.quarantine.topic"]]),
        line(headers={"a": "b"}),
        line(headers=[["legacy_mm.quarantine.topic", "dA=="], ["legacy_mm.quarantine.partition", "eA=="]]),
        b"[" * 100_000,
    ],
    ids=lambda text: text[-24:].decode(errors="replace"),
)
def test_a_torn_line_is_numbered_and_hides_no_other(file: Path, torn: bytes) -> None:
    file.write_bytes(b"\n".join([line(), torn, line(timestamp=10)]) + b"\n")
    found = read_file(file)
    assert ([record.timestamp for record in found.records], found.torn) == ([9, 10], [2])
    file.write_bytes(torn + b"\n")
    with pytest.raises(ConfigurationError, match="holds no quarantined record"):
        read_file(file)


def test_an_empty_file_holds_nothing(file: Path) -> None:
    file.touch()
    assert read_file(file) == ([], [])
    with pytest.raises(ConfigurationError, match=r"cannot be read: No such file"):
        read_file(file.with_suffix(".gone"))


def test_a_record_that_nobody_put_aside_is_named() -> None:
    with pytest.raises(ConfigurationError, match="t-5 at 7: not quarantined"):
        released(RECORD)
