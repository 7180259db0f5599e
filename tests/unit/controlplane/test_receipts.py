"""Receipts: what is written when, and how the file is kept."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.errors import HostError
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Portion
from legacy_mm.base.settings import ReceiptSettings
from legacy_mm.controlplane.receipts import Receipts
from legacy_mm.runtime.channel.frames import Copied

HERE = TopicPartition("orders", 0)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def portion(begin: int, end: int, partition: int = 0) -> Portion:
    return Portion("orders", partition, begin, end, end - begin, 100 * (end - begin))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "receipts"


@pytest.fixture
def receipts(path: Path) -> Receipts:
    return Receipts(ReceiptSettings(str(path), 0))


def test_a_commit_joins_what_it_covers_and_keeps_the_rest(receipts: Receipts, path: Path) -> None:
    stream = receipts.of_stream("a->b", 2)
    stream.copied(Copied([portion(5, 10), portion(0, 7, partition=1)], {"MESSAGE_TOO_LARGE": 2}))
    stream.copied(Copied([portion(10, 14)], {}))
    stream.copied(Copied([portion(14, 15)], {}))
    assert lines(path) == []
    stream.committed({HERE: 14})
    commit, dropped = lines(path)
    assert commit.pop("time") > 0
    assert commit == {
        "receipt": "commit",
        "flow": "a->b",
        "stream": 2,
        "topic": "orders",
        "partition": 0,
        "source": [5, 14],
        "records": 9,
        "bytes": 900,
        "absent": ["target", "crc32c"],
    }
    assert dropped["reasons"] == {"MESSAGE_TOO_LARGE": 2}
    stream.committed({HERE: 15, TopicPartition("orders", 1): 7})
    assert [(row["partition"], row["source"]) for row in lines(path)[2:]] == [(0, [14, 15]), (1, [0, 7])]
    receipts.close()
    summary = lines(path)[-1]
    assert (summary["receipt"], summary["records"], summary["dropped"]) == ("summary", 17, {"MESSAGE_TOO_LARGE": 2})


def only_line(receipts: Receipts, path: Path) -> tuple[list[int], int]:
    """The source offsets and the records that it tells of; behind it there is the summary alone."""
    receipts.close()
    row, _ = lines(path)
    return row["source"], row["records"]


def test_what_is_copied_again_is_told_once(receipts: Receipts, path: Path) -> None:
    stream = receipts.of_stream("a->b", 0)
    stream.copied(Copied([portion(0, 5), portion(5, 9)], {}))
    stream.started({HERE: 5})
    stream.copied(Copied([portion(5, 20)], {}))
    stream.committed({HERE: 20})
    assert only_line(receipts, path) == ([0, 20], 20)


def test_what_somebody_else_copies_again_is_not_told(receipts: Receipts, path: Path) -> None:
    stream = receipts.of_stream("a->b", 0)
    stream.copied(Copied([portion(100, 200)], {}))
    stream.released([HERE])
    stream.started({HERE: 300})
    stream.copied(Copied([portion(300, 400)], {}))
    stream.committed({HERE: 400})
    assert only_line(receipts, path) == ([300, 400], 100)


def test_nobody_else_may_read_it_and_it_rotates(path: Path) -> None:
    path.write_text("")
    path.chmod(0o644)
    receipts = Receipts(ReceiptSettings(str(path), 400))
    stream = receipts.of_stream("a->b", 0)
    for number in range(20):
        stream.copied(Copied([portion(number, number + 1)], {}))
        stream.committed({HERE: number + 1})
    receipts.close()
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["receipts", *(f"receipts.{n}" for n in range(1, 6))]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert lines(path)[-1]["records"] == 20


@pytest.mark.parametrize("gone", ["file", "folder"])
def test_it_is_made_again_when_somebody_removes_it(gone: str, tmp_path: Path) -> None:
    path = tmp_path / "receipts" / "file"
    path.parent.mkdir()
    receipts = Receipts(ReceiptSettings(str(path), 0))
    receipts.commit({}, portion(0, 5))
    path.unlink()
    if gone == "folder":
        path.parent.rmdir()
    receipts.commit({}, portion(5, 9))
    receipts.close()
    assert [line.get("source") for line in lines(path)] == [[5, 9], None]


def test_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    receipts = Receipts(ReceiptSettings("-", 1))
    receipts.close()
    assert json.loads(capsys.readouterr().out)["receipt"] == "summary"


def test_a_file_that_cannot_be_made_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="cannot be written"):
        Receipts(ReceiptSettings(str(tmp_path / "no" / "folder"), 0))


def test_a_disk_that_is_full_holds_up_nothing(caplog: pytest.LogCaptureFixture) -> None:
    receipts = Receipts(ReceiptSettings("/dev/full", 0))
    receipts.of_stream("a->b", 0)
    receipts.close()
    receipts.close()
    assert caplog.text.count("Receipts cannot be written") == 1
