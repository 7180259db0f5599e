"""The gateway JVM, really started: with the default options of every old release, with refused ones, by any Java."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, StreamFailure
from legacy_mm.base.settings import JvmSettings
from legacy_mm.runtime.jvm.gateway import Jvm, TopicMatcher
from legacy_mm.runtime.jvm.java_home import java_version
from legacy_mm.words.legacy_tool import environment
from tests.structure.source_tree import CHECKOUT

pytestmark = pytest.mark.spark
GOLDEN = CHECKOUT / "compat" / "recorded" / "scripts" / "of-15-releases.json"
HOMES = sorted({java.resolve().parents[1] for java in Path("/usr/lib/jvm").glob("*/bin/java")})
NEWEST = max(HOMES, key=lambda home: java_version(home / "bin" / "java"), default=None)
Start = Callable[..., Jvm]


def default_sets() -> dict[tuple[str, ...], str]:
    """The Java options that start scripts add unasked, with -loggc; -> the releases."""
    found: dict[tuple[str, ...], str] = {}
    for case in json.loads(GOLDEN.read_text())["cases"]:
        if case["case"] == "rc-name-loggc":
            lines = case["stdout"].splitlines()
            options = (line.replace("bin/../logs/", "") for line in lines[: lines.index("-cp")])
            kept = tuple(option for option in options if not option.startswith(("-Dkafka.", "-Dlog4j.")))
            found[kept] = f"{found.get(kept, '')} {case['version']}".strip()
    return found


def sampled(sets: dict[tuple[str, ...], str]) -> list[Any]:
    """The first and the last set always, those between in slow runs."""
    ends = (next(iter(sets)), next(reversed(sets)))
    return [
        pytest.param(options, id=releases, marks=() if options in ends else pytest.mark.slow)
        for options, releases in sets.items()
    ]


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """The environment of a JVM."""
    import pyspark

    return {"SPARK_CONF_DIR": str(tmp_path), "SPARK_HOME": str(Path(pyspark.__file__).parent)}


@pytest.fixture
def start(tmp_path: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    monkeypatch.chdir(tmp_path)
    started: list[Jvm] = []

    def make(settings: JvmSettings, **more: str) -> Jvm:
        started.append(Jvm(settings, variables | more))
        return started[-1]

    yield make
    for jvm in started:
        jvm.stop(Deadline.after(10))


def system_property(jvm: Jvm, name: str) -> str:
    return str(jvm.connect().jvm.System.getProperty(name))


@pytest.mark.parametrize("home", [None, *({NEWEST} if NEWEST else ())], ids=lambda home: home.name if home else "found")
@pytest.mark.parametrize("options", sampled(default_sets()))
def test_default_options_of_every_release(options: tuple[str, ...], home: Path | None, start: Start) -> None:
    """Difference: java-options-left-out."""
    found = environment.read({"KAFKA_HEAP_OPTS": " ".join(options), **({"JAVA_HOME": str(home)} if home else {})})
    assert system_property(start(found.jvm), "com.sun.management.jmxremote.ssl") == "false"


def test_what_no_table_knows_is_left_out_one_by_one(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    bad = ["-XX:+NoSuchThing", "-XX:NoSuchSize=3m", "-Xnosuchthing", "-XX:+UseG1GC", "-XX:+UseParallelGC"]
    jvm = start(JvmSettings(("-Da=b", *bad, "-Dc=d")))
    assert (system_property(jvm, "a"), system_property(jvm, "c")) == ("b", "d")
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * len(bad)
    assert [next(option for option in bad if option in record.getMessage()) for record in caplog.records] == bad
    assert jvm.alive()


def test_what_the_user_sets_holds(start: Start) -> None:
    jvm = start(JvmSettings(("-Xmx700m", "-XX:+UseParallelGC", "-Djava.io.tmpdir=/var/tmp"), class_path="/some/x.jar"))
    gateway = jvm.connect().jvm
    assert gateway.Runtime.getRuntime().maxMemory() > 600 * 2**20
    collectors = gateway.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
    assert {bean.getName() for bean in collectors} == {"PS MarkSweep", "PS Scavenge"}
    assert system_property(jvm, "java.io.tmpdir") == "/var/tmp"
    assert system_property(jvm, "java.class.path").endswith(":/some/x.jar")


def test_a_share_of_a_small_memory_is_raised(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "legacy_mm")
    jvm = start(JvmSettings(("-XX:MaxRAMPercentage=0.1",)))
    assert jvm.connect().jvm.Runtime.getRuntime().maxMemory() > 450 * 2**20
    own = [record for record in caplog.records if record.name == "legacy_mm"]
    assert [record.levelno for record in own] == [logging.INFO]


def test_configurations_of_clusters_are_on_the_class_path(start: Start, tmp_path: Path) -> None:
    jvm = start(JvmSettings(class_path="/some/x.jar"), HADOOP_CONF_DIR="/hadoop", YARN_CONF_DIR="/yarn")
    assert system_property(jvm, "java.class.path").endswith(f".jar:{tmp_path}:/hadoop:/yarn:/some/x.jar")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("-javaagent:/nowhere.jar", "Error opening zip file or JAR manifest missing : /nowhere.jar"),
        ("-Dcom.sun.management.jmxremote.port=x", "Invalid com.sun.management.jmxremote.port number: x"),
        ("stray", "Could not find or load main class stray"),
    ],
)
def test_an_option_that_fails_for_itself_ends_the_start_with_its_reason(option: str, words: str, start: Start) -> None:
    with pytest.raises(HostError, match=words):
        start(JvmSettings((option,))).connect()


class Gone:
    """A Java that has ended: py4j raises what its new socket says."""

    def __getattr__(self, name: str) -> Any:
        raise ConnectionRefusedError(111, "Connection refused")


def test_a_pattern_for_a_java_that_has_ended_is_a_failure_of_ours() -> None:
    """No thread ends in a traceback because of it."""
    with pytest.raises(StreamFailure, match="does not answer"):
        TopicMatcher(Gone(), "a.*")


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [("a", {"a"}), (".*", {"a", "b", "é"}), ("(?s).*", {"a", "b", "é", "a\nb", "b\na\n"}), ("[ab]\n[ab]", {"a\nb"})],
)
def test_a_name_is_matched_as_a_whole(jvm: Jvm, pattern: str, matching: set[str]) -> None:
    """Names of consumer groups may be several lines."""
    assert jvm.topic_matcher(pattern).matching(["a", "b", "é", "a\nb", "b\na\n", ""]) == matching


def test_a_folder_that_cannot_be_removed_ends_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    jvm = start(JvmSettings())
    (folder,) = tmp_path.glob("legacy_mm-jvm-*")
    shutil.rmtree(folder)
    folder.touch()
    jvm.stop(Deadline.after(2))


def test_one_that_is_stopped_while_it_starts_ends_by_itself(start: Start) -> None:
    """Also when we are killed before we could kill it."""
    jvm = start(JvmSettings())
    process = jvm._process
    jvm.stop(Deadline.after(60))
    assert process.returncode == 0


_FAILING = """
import json, os, sys
from legacy_mm.base.settings import JvmSettings
from legacy_mm.runtime.jvm.gateway import Jvm
print(Jvm(JvmSettings(), json.loads(sys.argv[1])).pid, flush=True)
os._exit(1)
"""


def test_one_that_is_left_behind_ends_by_itself(variables: dict[str, str]) -> None:
    """An error that nobody expected has let go of the object, and the process has ended."""
    command = [sys.executable, "-c", _FAILING, json.dumps(variables)]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=False).stdout
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(told)).wait(60)


def test_one_that_cannot_be_started_leaves_no_folder(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Jvm, "_start", refuse)
    with pytest.raises(BlockingIOError):
        start(JvmSettings())
    assert not list(tmp_path.glob("legacy_mm-jvm-*"))
