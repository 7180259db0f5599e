"""What `legacy-mm exactly-once status` prints; `tests/brokers/test_exactly_once.py` runs all of it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.cli import bundle_positions
from legacy_mm.cli.legacy_mm import main
from legacy_mm.transactions.offset_book import GROUP, OffsetBook
from legacy_mm.transactions.position_changes import Changed
from legacy_mm.transactions.position_records import SourcePosition
from legacy_mm.transactions.txn_requests import TransactionVersion

LINE = ("--", "--consumer.config", "c.properties", "--producer.config", "p.properties", "--include", "t")


def test_status_names_the_transaction_version_of_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def positions(settings: Any, deadline: Any) -> Any:
        flow = SimpleNamespace(positions_topic="pos")
        version = TransactionVersion.TWO
        return SimpleNamespace(rows=list, transaction_version=lambda: version, flow=flow, offset_book=OffsetBook("mm2"))

    monkeypatch.chdir(tmp_path)
    for name in "cp":
        (tmp_path / f"{name}.properties").write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    monkeypatch.setattr(bundle_positions, "PositionChanges", positions)
    assert main(["exactly-once", "status", *LINE]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("positions topic pos\ntransaction version 2\n")
    assert "offset in topic mm2" in shown
    assert main(["exactly-once", "status", "--json", *LINE]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "positions_topic": "pos",
        "transaction_version": 2,
        "partitions": [],
    }


@pytest.fixture
def changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Changed]:
    """What each command has changed, whatever it is asked for."""
    monkeypatch.chdir(tmp_path)
    for name in "cp":
        (tmp_path / f"{name}.properties").write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    made: dict[str, Changed] = {}
    commands = SimpleNamespace(
        adopt=lambda replaced: made["adopt"],
        move=lambda to, replaced: made["move"],
        retire=lambda: made["retire"],
        offset_book=GROUP,
    )
    monkeypatch.setattr(bundle_positions, "PositionChanges", lambda *_: commands)
    return made


P, Q = TopicPartition("t", 0), TopicPartition("t", 1)
BEFORE = {P: SourcePosition(9, 4, "id", "first", 0)}


@pytest.mark.parametrize(
    ("words", "changed", "says"),
    [
        (
            ("adopt", "--replaced", "first"),
            Changed({P: 5, Q: 6}, BEFORE, "first"),
            "the positions were those of source cluster first, and are those of this one now\n"
            "t-0: 5 is the position now; it was 9\nt-1: 6 is the position now; it had none\n",
        ),
        (("adopt",), Changed({}, BEFORE), "nothing to adopt: the group has no offsets of the flow; nothing was chang"),
        (("retire",), Changed({}, {}), "nothing to retire: "),
        (("retire",), Changed({P: 9}, BEFORE), "t-0: 9 is the group's offset now\n"),
    ],
)
def test_a_command_says_what_it_has_changed(
    changes: dict[str, Changed],
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    changed: Changed,
    says: str,
) -> None:
    changes[words[0]] = changed
    assert main(["exactly-once", *words, *LINE]) == 0
    assert capsys.readouterr().out.startswith(says)


@pytest.mark.parametrize("action", ["status", "retire"])
def test_only_who_says_where_to_begin_takes_positions_over(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exactly-once", action, "--replaced", "first", *LINE]) != 0
    assert "--replaced goes with adopt and move only" in capsys.readouterr().err


@pytest.mark.usefixtures("changes")
def test_of_several_flows_none_is_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first one would be changed, whichever was meant."""
    file = tmp_path / "mm2.properties"
    lines = ["clusters=a,b", *(f"{name}.bootstrap.servers=127.0.0.1:1" for name in "ab")]
    file.write_text("\n".join([*lines, "a->b.enabled=true", "b->a.enabled=true", "exactly.once=true", ""]))
    assert main(["exactly-once", "retire", "--", "connect-mirror-maker.sh", str(file)]) != 0
    assert "the file has 2 flows that copy: name one by --flow: " in capsys.readouterr().err
