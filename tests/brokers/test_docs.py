"""Who follows README.md or a page of docs/ gets on: every command of every block is run, with real values put in.

Quick walks only read the command lines of mirrors, and leave out what takes minutes; slow ones start the mirrors, and
stop them when everything is copied.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.cluster import Cluster
from compat.laboratory.jars import kafka_jars
from compat.laboratory.ports import Ports
from compat.laboratory.releases import OLD
from compat.laboratory.tools import LAUNCHER, mirror_maker_2
from compat.laboratory.topic_state import AUTHORIZER
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.cli.legacy_mm import main
from legacy_mm.cli.mirror_line import MirrorLine
from legacy_mm.features.rows import is_flag
from legacy_mm.runtime.jvm.java_home import find_java
from tests.fixtures.doc_blocks import NOT_RUN, NOT_SHOWN, OUTPUT, PAGES, PROPERTIES, PYTHON, SHELL, Block, blocks
from tests.fixtures.offsets import commit, stand
from tests.fixtures.scrape import probe

pytestmark = [pytest.mark.brokers, pytest.mark.spark, pytest.mark.usefixtures("one_java")]
SECONDS = 180.0
MM2_SECONDS = 600.0
"""Its start on a busy host takes minutes."""
SHELL_SECONDS = 900.0
PARTITIONS, RECORDS, READ = 4, 400, 10
CHANGES = 2
"""What `plan` answers where there is something to do."""
LONG = {"verify", "pip", "python", "python3", "kafka-acls.sh"}
"""Sub-commands and programs that only slow walks run."""
OFFSETS = "mm2-offsets.west.internal"
FAILOVER = CHECKOUT / "docs" / "how-to" / "failover.md"
"""Its commands need what a mirror has written down; that is slow."""
MOVE = CHECKOUT / "docs" / "how-to" / "from-mirror-maker-2.md"
FOLLOWED = [page for page in PAGES if blocks(page.read_text())]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", "*.egg-info", "__pycache__", "build", "dist", "tests")
ACLS = """#!/bin/sh
exec {java} -cp '{jars}/*' kafka.admin.AclCommand "$@"
"""


@dataclass(frozen=True)
class Sides:
    """The clusters that all pages are followed on."""

    source: Cluster
    target: Cluster


@pytest.fixture(scope="module")
def sides(module_clusters: Callable[..., Cluster]) -> Sides:
    return Sides(module_clusters(properties=AUTHORIZER), module_clusters(properties=AUTHORIZER))


class Walk:
    """Through one page, from top to bottom, in a folder of its own."""

    def __init__(self, page: Path, folder: Path, sides: Sides, *, slow: bool) -> None:
        self.topic = f"orders-{page.stem.lower()}-{'slow' if slow else 'quick'}"
        self.group = f"mirror-of-{self.topic}"
        self.app = f"app-of-{self.topic}"
        self._page, self._folder, self._sides, self._slow = page, folder, sides, slow
        self._flags: tuple[str, ...] = ()
        self._said = ""
        self._done: Callable[[], bool] = lambda: True
        self._prefix = folder / "opt" / "legacy_mm" if slow else Path(sys.prefix)
        create_topic(sides.source.bootstrap, self.topic, PARTITIONS)
        load(sides.source.bootstrap, self.topic, RECORDS, 50)
        commit(sides.source, self.app, {(self.topic, number): READ for number in range(PARTITIONS)})
        self._furnish()

    def follow(self) -> None:
        for block in blocks(self._page.read_text()):
            if block.language == OUTPUT:
                self._shown(block)
            elif block.first in NOT_RUN:
                self._said = ""
            else:
                {SHELL: self._shell, PYTHON: self._python, PROPERTIES: self._properties}[block.language](block)

    def until(self, copied: Callable[[], bool]) -> None:
        """What a mirror of this page has to have done before it is stopped, beside its copying."""
        self._done = copied

    def _furnish(self) -> None:
        """What a reader has: files, a checkout, an old Kafka, Kafka's tools."""
        bootstraps = self._sides.source.bootstrap, self._sides.target.bootstrap
        reading = f"bootstrap.servers={bootstraps[0]}\ngroup.id={self.group}\nauto.offset.reset=earliest\n"
        for name in ("c.properties", "consumer.properties"):
            (self._folder / name).write_text(reading)
        for name in ("p.properties", "producer.properties", "client.properties"):
            (self._folder / name).write_text(f"bootstrap.servers={bootstraps[1]}\n")
        for name in ("bin", "samples"):
            (self._folder / name).symlink_to(CHECKOUT / name)
        tools = self._folder / "kafka" / "bin"
        tools.mkdir(parents=True)
        for name in ("kafka-run-class.sh", "kafka-mirror-maker.sh", "kafka-acls.sh"):
            (tools / name).write_text(ACLS.format(java=find_java(), jars=kafka_jars(OLD)))
            (tools / name).chmod(0o755)

    def _filled_in(self, text: str) -> str:
        line = f"--consumer.config c.properties --producer.config p.properties --whitelist {self.topic}"
        line = " ".join((line, *self._flags))
        values = {
            "COMMAND LINE": line,
            ".sh ...": f".sh {line}",
            "/opt/legacy_mm": str(self._prefix),
            "/opt/kafka": str(self._folder / "kafka"),
            "/path/to/checkout": str(self._folder / "checkout"),
            "orders-app": self.app,
            "SOURCE": self._sides.source.bootstrap,
            "TARGET": self._sides.target.bootstrap,
            "backup:9092": self._sides.target.bootstrap,
        }
        text = re.sub(r"\borders(?= |$)", self.topic, text)
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        return text

    def _shell(self, block: Block) -> None:
        self._said = ""
        for command in block.commands():
            words = shlex.split(self._filled_in(command))
            program = Path(words[0]).name
            kind = words[1] if program == "legacy-mm" else program
            if program == "kafka-mirror-maker.sh":
                self._mirror(words[1:], start=command not in NOT_RUN)
            elif command in NOT_RUN or (kind in LONG and not self._slow):
                continue
            elif program == "legacy-mm" and kind not in LONG:
                self._legacy_mm(words[1:])
            else:
                self._outside(words)

    def _legacy_mm(self, words: list[str]) -> None:
        said = io.StringIO()
        with contextlib.chdir(self._folder), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main(words)
        assert code in ((0, CHANGES) if words[0] == "plan" else (0,)), f"{shlex.join(words)}\n{said.getvalue()}"
        self._said = said.getvalue()

    def _shown(self, block: Block) -> None:
        """Compare the output that a page shows with what the command before it printed: the words, not the numbers."""
        said, self._said = self._said, ""
        for line in block.text.splitlines() if said else ():
            if any(part in line for part in NOT_SHOWN):
                continue
            line = re.sub(r"\borders(?=:)", self.topic, line)
            shape = re.sub(r"\d[\d,.]*", "[\\\\d,.]+", re.escape(self._filled_in(line)).replace("\\.\\.\\.", ".*"))
            assert re.search(shape, said), f"{self._page.name} shows {line!r}, but it printed:\n{said}"

    def _outside(self, words: list[str]) -> None:
        if words[0] in ("pip", "python3", "legacy-mm"):
            words[0] = str(Path(sys.prefix) / "bin" / words[0])
        if not (self._folder / "checkout").exists() and any("checkout" in word for word in words):
            shutil.copytree(CHECKOUT, self._folder / "checkout", ignore=LEFT_OUT, symlinks=True)
        path = f"{self._folder / 'kafka' / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            words,
            cwd=self._folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=SHELL_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-4_000:]}{done.stderr[-4_000:]}"

    def _mirror(self, words: list[str], *, start: bool) -> None:
        with contextlib.chdir(self._folder):
            assert len(MirrorLine(words).flows()) == 1
        if not (start and self._slow):
            return
        ports = Ports()
        port = ports.reserve()
        if "--metrics.port" in words:  # the page's own port may be in use
            at = words.index("--metrics.port")
            words = words[:at] + words[at + 2 :]
        command = [str(LAUNCHER), *words, "--metrics.port", str(port), "--offset.commit.interval.ms", "500"]
        with ToolProcess(command, self._folder) as tool:

            def ready() -> bool:
                assert tool.running(), tool.output()
                return probe(port, "readyz")[0] == 200

            wait_until(ready, SECONDS, "the mirror to be ready")
            wait_until(lambda: not tool.running() or self._copied(), SECONDS, "everything to be copied")
            assert tool.stop(SECONDS) == 143, tool.output()
        ports.release()

    def _copied(self) -> bool:
        found = committed(self._sides.source.bootstrap, self.group, [self.topic])
        return (
            sum(found.values()) == sum(end_offsets(self._sides.source.bootstrap, self.topic).values()) and self._done()
        )

    def _python(self, block: Block) -> None:
        (self._folder / "handler.py").write_text(self._filled_in(block.text))
        self._outside([sys.executable, "handler.py"])

    def _properties(self, block: Block) -> None:
        """From here on the command line names it; a file of MirrorMaker 2 runs as a page shows it."""
        if block.text.startswith("clusters = "):
            (self._folder / "mm2.properties").write_text(block.text)
            self._legacy_mm(["explain", "--", "connect-mirror-maker.sh", "mm2.properties"])
            return
        assert not [line for line in block.text.splitlines() if not is_flag(line.partition("=")[0])]
        (self._folder / "features.properties").write_text(block.text)
        self._flags = ("--features.config", "features.properties")


@pytest.fixture
def walk(sides: Sides, tmp_path: Path) -> Callable[..., Walk]:
    def begin(page: Path, *, slow: bool) -> Walk:
        made = Walk(page, tmp_path, sides, slow=slow)
        if page == FAILOVER:
            made.until(lambda: bool(checkpoints(sides.target)))
        return made

    return begin


def checkpoints(target: Cluster) -> int:
    """How many records there are in the topic of checkpoints."""
    name = "west.checkpoints.internal"
    return sum(end_offsets(target.bootstrap, name).values()) if name in list_topics(target.bootstrap) else 0


@pytest.mark.parametrize(
    "page", [page for page in FOLLOWED if page not in (MOVE, FAILOVER)], ids=lambda page: page.stem
)
def test_a_page_is_followed(page: Path, walk: Callable[..., Walk]) -> None:
    walk(page, slow=False).follow()


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in FOLLOWED if page != MOVE], ids=lambda page: page.stem)
def test_a_page_is_followed_to_the_end(page: Path, walk: Callable[..., Walk]) -> None:
    walk(page, slow=True).follow()


def test_the_group_begins_where_another_mirror_stands(walk: Callable[..., Walk], sides: Sides) -> None:
    """One partition it has never copied anything of."""
    moved = walk(MOVE, slow=False)
    stand(sides.target, OFFSETS, moved.topic, {0: 41, 1: 0, 2: 7})
    moved.follow()
    found = committed(sides.source.bootstrap, moved.group, [moved.topic])
    assert {number: offset for (_, number), offset in found.items()} == {0: 42, 1: 1, 2: 8, 3: 0}


@pytest.mark.slow
@pytest.mark.side_by_side
def test_from_mirror_maker_2_without_a_gap_or_a_duplicate(sides: Sides, tmp_path: Path) -> None:
    """The real one copies, and stops while records come in; the page is followed; the copies are equal."""
    (tmp_path / "page").mkdir()
    moved = Walk(MOVE, tmp_path / "page", sides, slow=True)
    flow = {
        "clusters": "west, east",
        "west.bootstrap.servers": sides.source.bootstrap,
        "east.bootstrap.servers": sides.target.bootstrap,
        "west->east.enabled": "true",
        "east->west.enabled": "false",
        "west->east.topics": moved.topic,
    }
    bootstraps = sides.source.bootstrap, sides.target.bootstrap
    with mirror_maker_2(tmp_path / "mm2", *bootstraps, moved.topic, properties=flow) as theirs:
        wait_until(lambda: copied(sides.target, moved.topic) == RECORDS, MM2_SECONDS, "MirrorMaker 2 to copy")
        load(sides.source.bootstrap, moved.topic, RECORDS, 50, seed=8)
        wait_until(lambda: copied(sides.target, moved.topic) > RECORDS, MM2_SECONDS, "MirrorMaker 2 to go on")
        theirs.stop(SECONDS)
    load(sides.source.bootstrap, moved.topic, RECORDS, 50, seed=9)
    moved.follow()
    kept = [
        [(each.partition, each.offset, each.timestamp, each.key, each.value) for each in read_all(place, moved.topic)]
        for place in bootstraps
    ]
    assert len(kept[0]) == 3 * RECORDS
    assert kept[1] == kept[0]


def copied(target: Cluster, topic: str) -> int:
    return sum(end_offsets(target.bootstrap, topic).values()) if topic in list_topics(target.bootstrap) else 0
