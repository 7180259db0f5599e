"""Receipts tell the same of what was copied, whatever stands in between."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.handlers import SAMPLES
from legacy_mm.audit.cluster_access import create_topic, end_offsets, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

pytestmark = pytest.mark.brokers
SOON = 60.0
RECORDS, PARTITIONS = 4_000, 4
WAYS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "kept partitions": ("--preserve.partitions", "true"),
    "handler": ("--message.handler", f"{SAMPLES / 'handlers.py'}:Rename", "--message.handler.args", "copy."),
}


@pytest.mark.parametrize(
    ("way", "codec"),
    [
        *(("plain", "none"), ("kept partitions", "lz4"), ("handler", "lz4")),
        *(
            pytest.param(way, codec, marks=pytest.mark.combination)
            for way, codec in (("plain", "lz4"), ("kept partitions", "none"), ("handler", "none"))
        ),
    ],
)
def test_a_line_for_each_partition_and_commit(
    source: Cluster,
    target: Cluster,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    tmp_path: Path,
    way: str,
    codec: str,
) -> None:
    name, options = topic(), WAYS[way]
    copy = f"copy.{name}" if "copy." in options else name
    create_topic(source.bootstrap, name, PARTITIONS)
    create_topic(target.bootstrap, copy, PARTITIONS)
    load(source.bootstrap, name, RECORDS, 100, codec=codec)
    file = tmp_path / "receipts"
    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    words = ("--whitelist", name, "--receipts", str(file), "--offset.commit.interval.ms", "200", *options)
    tool = our_tool(consumer, {"bootstrap.servers": target.bootstrap}, *words)
    wait_until(lambda: sum(end_offsets(target.bootstrap, copy).values()) >= RECORDS, SOON, "the records")
    tool.signal(signal.SIGTERM)
    assert tool.wait(SOON) == 143, tool.output()
    rows: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()]
    *commits, summary = rows
    assert {row["receipt"] for row in commits} == {"commit"}
    records = read_all(source.bootstrap, name)
    size = sum(len(row.key or b"") + len(row.value or b"") for row in records)
    assert (summary["receipt"], summary["records"], summary["bytes"]) == ("summary", RECORDS, size)
    assert summary["dropped"] == {}
    for number, end in end_offsets(source.bootstrap, name).items():
        places = [row["source"] for row in commits if row["partition"] == number]
        assert places[0][0] == 0
        assert places[-1][1] == end
        assert all(before[1] == after[0] for before, after in zip(places, places[1:], strict=False))
