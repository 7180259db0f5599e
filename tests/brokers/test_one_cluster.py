"""Source and target are one cluster: what runs, what is refused, and what is said of it."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.tools import Run

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 90.0
Start = Callable[..., ToolProcess]
Files = tuple[dict[str, str], dict[str, str]]
"""Consumer and producer."""


@pytest.fixture
def name(source: Cluster, topic: Callable[..., str]) -> str:
    """A topic with ten records."""
    made = topic("one")
    create_topic(source.bootstrap, made, 1)
    load(source.bootstrap, made, 10, 10)
    return made


@pytest.fixture
def files(source: Cluster, group: str) -> Files:
    """Both files name the one cluster, by two names of its host, so that only its id tells."""
    read = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    return read | {"metadata.max.age.ms": "1000"}, {
        "bootstrap.servers": source.bootstrap.replace("127.0.0.1", "localhost")
    }


def flags(name: str, target_alias: str, **more: str) -> dict[str, str]:
    return {
        "rename.topics": "true",
        "source.cluster.alias": f"up{name[-6:]}",
        "target.cluster.alias": target_alias,
    } | more


def test_equal_aliases_rename_within_a_cluster_once(
    our_mirror: Start, source: Cluster, name: str, files: Files
) -> None:
    """Heartbeats too; the topic that comes last shows that it had looked at the copies."""
    read, written = files
    up = f"up{name[-6:]}"
    given = flags(name, up, **{"emit.heartbeats.enabled": "true", "emit.heartbeats.interval.seconds": "1"})
    tool = our_mirror(read, written | given, "--whitelist", f".*{name}.*")
    wait_until(lambda: sum(end_offsets(source.bootstrap, f"{up}.{name}").values()) == 10, SECONDS, "the copy")
    for later in ("later", "last"):
        create_topic(source.bootstrap, f"{name}-{later}", 1)
        load(source.bootstrap, f"{name}-{later}", 10, 10)
        copy = f"{up}.{name}-{later}"
        wait_until(
            lambda: copy in list_topics(source.bootstrap) and sum(end_offsets(source.bootstrap, copy).values()) == 10,  # noqa: B023
            SECONDS,
            "the next copy",
        )
    tool.signal(signal.SIGTERM)
    assert tool.wait(60) == 143, tool.output()
    there = list_topics(source.bootstrap)
    assert not [topic for topic in there if f"{up}.{up}." in topic]
    assert sum(end_offsets(source.bootstrap, f"{up}.{name}").values()) == 10
    assert "its topics are renamed within it" in tool.output()


@pytest.fixture(params=["by another name", "as advertised"])
def one(request: pytest.FixtureRequest, files: Files) -> Files:
    """Both files, where the target's bootstrap server is the source, and where its advertised brokers are."""
    read, written = files
    if request.param == "as advertised":
        written = {"bootstrap.servers": request.getfixturevalue("leading_elsewhere")}
    return read, written


@pytest.mark.parametrize("keeps", [False, True])
def test_what_would_go_round_is_refused_before_anything_is_made(
    our_mirror: Start,
    source: Cluster,
    name: str,
    one: Files,
    keeps: bool,
    run: Run,
    tmp_path: Path,
) -> None:
    read, written = one
    given = flags(name, "copy", **{"emit.heartbeats.enabled": "true"})
    words = "are one cluster"
    if keeps:
        given, words = {"preserve.partitions": "true"}, "with features that keep names"
    before = list_topics(source.bootstrap)
    tool = our_mirror(read, written | given, "--whitelist", f".*{name}.*")
    assert tool.wait(60) == 1, tool.output()
    assert len([line for line in tool.output().splitlines() if words in line]) == 1
    assert list_topics(source.bootstrap).keys() - before.keys() <= {"__consumer_offsets"}
    line = command_line(tmp_path, read, written | given, name)
    for command in ("plan", "explain"):
        code, said, complained = run(command, "--", *line)
        assert code == 1
        assert words in " ".join(f"{said} {complained}".split())


def test_an_unchanged_line_that_copies_into_itself_ends_when_its_own_records_come_back(
    our_mirror: Start, source: Cluster, name: str, one: Files, run: Run, tmp_path: Path
) -> None:
    """Shows the difference `copy-into-itself-ends`. Each record is written once more, at least."""
    read, written = one
    tool = our_mirror(read, written, "--whitelist", name)
    assert tool.wait(SECONDS) == 255, tool.output()
    assert sum(end_offsets(source.bootstrap, name).values()) >= 20
    assert "source and target are one cluster (" in tool.output()
    assert (
        f"records of {name}-0 multiply: what was written to it at offset 10 and after was read from it" in tool.output()
    )
    line = command_line(tmp_path, read, written, name)
    _, said, _ = run("explain", "--json", "--", *line)
    assert json.loads(said)["topics"]["attention"].startswith("source and target are one cluster (")
    _, said, _ = run("plan", "--", *line)
    assert "note: source and target are one cluster (" in said


def command_line(folder: Path, read: dict[str, str], written: dict[str, str], name: str) -> list[str]:
    """The old command line with these files."""
    words = ["kafka-mirror-maker.sh"]
    for option, properties in (("consumer", read), ("producer", written)):
        file = folder / f"{option}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()), encoding="utf-8")
        words += [f"--{option}.config", str(file)]
    return [*words, "--whitelist", name]
