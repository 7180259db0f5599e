"""Everything below TMPDIR is removed while the mirror runs, as systemd-tmpfiles does with what is ten days old."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.security import Stores, secured_cluster
from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.runtime.jvm.class_archive import path_for
from legacy_mm.runtime.jvm.java_home import find_java

pytestmark = [pytest.mark.faults, pytest.mark.spark]
SECONDS = 60.0
HANDLER = "handlers.Rename"
SILENT = "-Xlog:cds=off -Xlog:cds+dynamic=off"
SCRIPT = """
def handle(record):
    return [record.to("copy." + record.topic)]
"""


def empty(folder: Path) -> list[str]:
    """Remove all that is in the folder; what there was."""
    found = sorted(path.name for path in folder.iterdir())
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return found


def copies_on(source: Any, target: Any, first: str, prefix: str, folder: Path) -> None:
    """Copy a topic, and two that come when the folder is empty: each makes the group rebalance."""
    for name in (first, f"{first}-2", f"{first}-3"):
        if name != first:
            create_topic(source.bootstrap, name, partitions=4)
        copy = f"{prefix}{name}"
        create_topic(target.bootstrap, copy, partitions=4)
        load(source.bootstrap, name, 1_000, 100)
        wait_until(lambda: sum(end_offsets(target.bootstrap, copy).values()) == 1_000, SECONDS, copy)  # noqa: B023
        assert empty(folder) or name != first, "nothing was there, so nothing is shown"


@pytest.fixture
def class_archive(kind: str) -> Path:
    """Of Spark's classes, which the driver's JVM has open."""
    found = path_for(find_java())
    if kind == "own archive" and not found.exists():
        pytest.skip("no archive here: bin/setup writes one")
    return found


@pytest.mark.parametrize(
    "kind",
    [
        "no handler",
        "own jar",
        "own archive",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("jar", "own folder", "own script")),
    ],
)
def test_nothing_happens(
    kind: str,
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    handler_jars: dict[str, Path],
    class_archive: Path,
    tmp_path: Path,
) -> None:
    """New copy jobs start after rebalances, also with a handler in a jar, and the stop is clean and silent."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    first = topic("kept")
    words: tuple[str, ...] = ("--num.streams", "2")
    more: dict[str, Any] = {}
    environment = {"TMPDIR": str(folder)}
    prefix = ""
    if kind.endswith(("jar", "folder", "archive")):
        prefix = "copy."
        words += ("--message.handler", HANDLER, "--message.handler.args", prefix)
        jar = handler_jars["Rename"]
        more["classpath"] = [jar if kind == "jar" else Path(shutil.copy(jar, folder))]
        if kind == "own archive":
            option = f"-XX:SharedArchiveFile={shutil.copy(class_archive, folder)}"
            environment |= {"KAFKA_OPTS": f"{option} {SILENT}", "NOTIFY_SOCKET": f"{folder}/notify"}
        if kind.endswith("folder"):
            shutil.unpack_archive(jar, folder / "classes", "zip")
            more["classpath"] = [folder / "classes"]
    elif kind == "own script":
        prefix = "copy."
        script = folder / "handler.py"
        script.write_text(SCRIPT)
        words += ("--message.handler", str(script))
    read = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    create_topic(source.bootstrap, first, partitions=4)
    tool = our_tool(
        {**read, "metadata.max.age.ms": "1000"},
        {"bootstrap.servers": target.bootstrap},
        "--whitelist",
        f"{first}.*",
        *words,
        environment=environment,
        **more,
    )

    copies_on(source, target, first, prefix, folder)
    tool.signal(signal.SIGTERM)
    assert tool.wait(40) == 143
    assert [line for line in tool.output().splitlines() if "legacy_mm" in line or "ERROR" in line] == []
    assert empty(folder) == []


def test_key_stores_are_read_once(
    stores: Stores,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    tmp_path: Path,
) -> None:
    """Java's, of a consumer that shows a key of its own."""
    folder, first = tmp_path / "temporary", topic("kept")
    shutil.copytree(stores.folder, folder)
    own = Stores(folder)
    with secured_cluster(tmp_path / "source", stores) as source:
        create_topic(source.bootstrap, first, partitions=4)
        read = {"bootstrap.servers": source.bootstrap_of("MUTUAL"), "security.protocol": "SSL", "group.id": group}
        read |= {"auto.offset.reset": "earliest", "metadata.max.age.ms": "1000", **own.trust(), **own.identity()}
        tool = our_tool(
            read,
            {"bootstrap.servers": target.bootstrap},
            "--whitelist",
            f"{first}.*",
            environment={"TMPDIR": str(folder)},
        )
        copies_on(source, target, first, "", folder)
        tool.signal(signal.SIGTERM)
        assert tool.wait(40) == 143
    assert [line for line in tool.output().splitlines() if "legacy_mm" in line or "ERROR" in line] == []
