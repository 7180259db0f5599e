"""Handlers of ours on real brokers: built-in steps, the quarantine and the way back, and a look without writing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

pytestmark = pytest.mark.brokers
SECONDS = 60.0
PICKY = """
import logging
from legacy_mm.handlers.api import Record, TargetRecord

def handle(record: Record) -> list[TargetRecord]:
    print("handled", record.offset)
    logging.warning("looked at %d", record.offset)
    if record.value == b"bad":
        raise ValueError("is bad")
    return [record.to("copy-" + record.topic)]
"""
LISTENER = """
from legacy_mm.handlers.api import RebalanceListener

class Told(RebalanceListener):
    def __init__(self, file):
        self._file = file
    def assigned(self, partitions):
        self._write("assigned", partitions)
    def revoked(self, partitions):
        self._write("revoked", partitions)
    def _write(self, what, partitions):
        with open(self._file, "a") as out:
            out.write(f"{what} {sorted(map(str, partitions))}\\n")
"""


def load(source: Cluster, target: Cluster, topic: str, values: Iterable[bytes]) -> None:
    """A topic of one partition with these records, and the one that the handler sends them to."""
    create_topic(source.bootstrap, topic, partitions=1)
    create_topic(target.bootstrap, f"copy-{topic}", partitions=1)
    writer = Producer({"bootstrap.servers": source.bootstrap, "log_level": 0})
    for value in values:
        writer.produce(topic, value, b"k", headers=[("h", b"x")], timestamp=1_700_000_000_000)
    assert writer.flush(30) == 0


def test_quarantine_and_redrive(
    source: Cluster,
    target: Cluster,
    our_mirror: Callable[..., ToolProcess],
    topic: Callable[..., str],
    group: str,
    tmp_path: Path,
) -> None:
    """A record that fails is set aside and not lost; with a handler that knows better it reaches the target.

    A rebalance listener in Python hears of it all.
    """
    name, script, file = topic("quarantine"), tmp_path / "picky.py", tmp_path / "aside.jsonl"
    listener, heard = tmp_path / "listener.py", tmp_path / "heard"
    script.write_text(PICKY)
    listener.write_text(LISTENER)
    load(source, target, name, (b"1", b"bad", b"2"))
    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    producer = {"bootstrap.servers": target.bootstrap}
    words = ("--whitelist", name, "--message.handler", str(script), "--handler.on.error", "quarantine")
    told = ("--consumer.rebalance.listener", str(listener), "--rebalance.listener.args", str(heard))
    tool = our_mirror(consumer, producer, *words, *told, "--quarantine.file", str(file))
    copied = lambda: sum(end_offsets(target.bootstrap, f"copy-{name}").values())  # noqa: E731
    wait_until(lambda: copied() == 2, SECONDS, "the two good records")
    tool.signal(signal.SIGTERM)
    assert tool.wait(SECONDS) == 143, tool.output()
    assert f"failed on {name}-0 at offset 1" in tool.output()
    said = tool.output().splitlines()
    for offset in range(3):  # on both streams, as its words were the legacy tool's own
        assert {f"handled {offset}", f"WARNING:root:looked at {offset}"} <= {*said}
    assert heard.read_text().splitlines() == [f"assigned ['{name}-0']", f"revoked ['{name}-0']"]

    looked = legacy_mm(
        "handler", "test", str(script), "--topic", name, "--from", "1", line=(*tool.command[1:5], *words[:2])
    )
    assert looked.returncode == 255
    assert "is bad" in looked.stderr
    looked = legacy_mm("handler", "test", "--topic", name, "--records", "1", line=tool.command[1:])
    assert looked.returncode == 0, looked.stderr
    assert f"-> TargetRecord(topic='copy-{name}', key=b'k', value=b'1'" in looked.stdout
    assert copied() == 2
    line = tool.command[1:]
    refused = legacy_mm("redrive", str(file), line=line)
    assert (refused.returncode, file.exists()) == (255, False), refused.stderr
    assert "aside.jsonl.redriving, which the next redrive takes first" in refused.stderr

    script.write_text(PICKY.replace('b"bad"', "None"))
    assert legacy_mm("redrive", str(file), line=line).returncode == 0
    assert [each.name for each in tmp_path.glob("aside.jsonl*")] == ["aside.jsonl.redriven"]
    *_, last = read_all(target.bootstrap, f"copy-{name}")
    assert (last.value, last.key, last.headers, last.timestamp) == (b"bad", b"k", (("h", b"x"),), 1_700_000_000_000)


def test_redrive_from_a_topic(
    source: Cluster,
    target: Cluster,
    our_mirror: Callable[..., ToolProcess],
    topic: Callable[..., str],
    group: str,
    tmp_path: Path,
) -> None:
    """What was set aside in a topic is sent on once, however often it is asked for."""
    name, aside, script = topic("quarantine"), topic("aside"), tmp_path / "picky.py"
    script.write_text(PICKY)
    create_topic(target.bootstrap, aside, partitions=2)
    load(source, target, name, (b"bad", b"1", b"bad"))
    tool = our_mirror(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": target.bootstrap},
        *("--whitelist", name, "--message.handler", "picky:handle", "--handler.classpath", str(tmp_path)),
        *("--handler.on.error", "quarantine", "--quarantine.topic", aside),
    )
    count = lambda of: sum(end_offsets(target.bootstrap, of).values())  # noqa: E731
    wait_until(lambda: (count(f"copy-{name}"), count(aside)) == (1, 2), SECONDS, "one copied and two set aside")
    tool.signal(signal.SIGTERM)
    assert tool.wait(SECONDS) == 143, tool.output()

    line = tool.command[1:]
    assert legacy_mm("redrive", line=line).returncode == 255
    script.write_text(PICKY.replace('b"bad"', "None"))
    for sent in (2, 0):
        done = legacy_mm("redrive", line=line)
        assert done.returncode == 0, done.stderr
        assert f"{sent} records redriven, {sent} sent" in done.stdout
    found = read_all(target.bootstrap, f"copy-{name}")
    assert sorted((record.value, record.headers) for record in found) == [
        (b"1", (("h", b"x"),)),
        *[(b"bad", (("h", b"x"),))] * 2,
    ]


def legacy_mm(*words: str, line: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run our own command on a mirror's command line."""
    command = [sys.executable, "-m", "legacy_mm.cli.legacy_mm", *words, "--", *line]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


ODD = """
from legacy_mm.handlers.api import Record, TargetRecord

def handle(record: Record) -> list[TargetRecord]:
    return [record.to("not a topic" if record.value == b"bad" else "copy-" + record.topic)]
"""


@pytest.mark.parametrize("reaction", ["ends", "quarantine", "drops"])
def test_a_topic_that_cannot_be_is_never_asked_for(
    reaction: str,
    source: Cluster,
    target: Cluster,
    our_mirror: Callable[..., ToolProcess],
    topic: Callable[..., str],
    group: str,
    tmp_path: Path,
) -> None:
    """As the legacy tool, it ends the mirror, or, with abort.on.send.failure=false, is dropped; or it is set aside."""
    name, script = topic("odd"), tmp_path / "odd.py"
    script.write_text(ODD)
    load(source, target, name, (b"1", b"bad", b"2"))
    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    more = {
        "ends": [],
        "quarantine": ["--handler.on.error", "quarantine", "--quarantine.file", str(tmp_path / "aside")],
        "drops": ["--abort.on.send.failure", "false"],
    }[reaction]
    words = ("--whitelist", name, "--message.handler", str(script), *more)
    tool = our_mirror(consumer, {"bootstrap.servers": target.bootstrap}, *words)
    copied = lambda: sum(end_offsets(target.bootstrap, f"copy-{name}").values())  # noqa: E731
    if reaction == "ends":
        assert tool.wait(SECONDS) == 255
        assert f"failed on {name}-0 at offset 1: topic 'not a topic': names have letters" in tool.output()
        assert copied() == 1
        return
    wait_until(lambda: copied() == 2, SECONDS, "the two good records")
    tool.signal(signal.SIGTERM)
    assert tool.wait(SECONDS) == 143, tool.output()
    assert sum(committed(source.bootstrap, group, [name]).values()) == 3
    told = "Error when sending message to topic not a topic" if reaction == "drops" else "topic 'not a topic': names"
    assert told in tool.output()


def test_topics_are_renamed_in_javas_dialect(
    source: Cluster, target: Cluster, our_mirror: Callable[..., ToolProcess], topic: Callable[..., str], group: str
) -> None:
    r"""Groups by `$1`, commas in repetitions, classes that Python does not know; a broken one ends it at the start."""
    first, second = topic("one"), topic("two")
    for name in (first, second):
        create_topic(source.bootstrap, name, partitions=1)
        writer = Producer({"bootstrap.servers": source.bootstrap, "log_level": 0})
        writer.produce(name, b"v", b"k")
        assert writer.flush(30) == 0
    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    producer = {"bootstrap.servers": target.bootstrap}
    rows = r"(\p{Alpha}{1,3})(\p{Graph}*)->$1.$2,x{2,}->y"
    words = ("--whitelist", f"{first}|{second}", "--handler.step", "filter.topic=[\\p{Graph}&&[^ ]]+", "--handler.step")
    tool = our_mirror(consumer, producer, *words, f"rename.map={rows}")
    names = [f"{name[:3]}.{name[3:]}" for name in (first, second)]
    wait_until(lambda: set(names) <= set(list_topics(target.bootstrap)), SECONDS, "the copies")
    wait_until(lambda: all(sum(end_offsets(target.bootstrap, name).values()) == 1 for name in names), SECONDS, "them")
    tool.signal(signal.SIGTERM)
    assert tool.wait(SECONDS) == 143, tool.output()
    broken = our_mirror(consumer, producer, *words, "rename.map=(a)->$2")
    assert broken.wait(SECONDS) == 1
    assert "--handler.step rename.map: (a)->$2 is not possible: No group 2" in broken.output()
