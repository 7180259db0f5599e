"""Java options that are left out, give way or stay; the table is held against every Java found here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm import jvm_options
from legacy_mm.runtime.jvm.java_home import MINIMUM_JAVA, find_java, java_version

INSTALLED = sorted({path.resolve() for path in [find_java(), *Path("/usr/lib/jvm").glob("*/bin/java")]})
JAVAS = [java for java in INSTALLED if java_version(java) >= MINIMUM_JAVA]
VALUES = {
    "NumberOfGCLogFiles": "=10",
    "GCLogFileSize": "=100M",
    "PermSize": "=48m",
    "MaxPermSize": "=96m",
    "CMSInitiatingOccupancyFraction": "=70",
    "CMSMaxAbortablePrecleanTime": "=1",
    "CMSWaitDuration": "=1",
    "CMSFullGCsBeforeCompaction": "=1",
    "PrintFLSStatistics": "=1",
}


def written(name: str) -> str:
    """The option as somebody writes it."""
    if name.startswith("-D"):
        return name if name.endswith("manager") else f"{name}=/x"
    if name.startswith("-X"):
        return f"{name}:x" if "/" in name else name
    if name.startswith("-"):
        return name
    return f"-XX:{name}{VALUES[name]}" if name in VALUES else f"-XX:+{name}"


def answer(java: Path, *options: str) -> tuple[int, str]:
    """How a JVM with these options ends, and what it says."""
    words = [str(java), "-XX:+DisplayVMOutputToStderr", *options, "-version"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("java", JAVAS, ids=str)
def test_the_table_is_true_and_every_refusal_is_understood(java: Path) -> None:
    release = java_version(java)
    for name, gone in jvm_options._GONE_IN.items():
        option = written(name)
        assert bool(jvm_options.removed([option], release)) == (gone <= release), option
        code, said = answer(java, option)
        if gone <= release:
            assert code != 0 or "support was removed" in said, option
        if code != 0 and not name.endswith("manager"):
            assert jvm_options.refused(said, ["-Da", option]) == [option], said


@pytest.mark.parametrize("java", JAVAS, ids=str)
@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ("-server -XX:+NoSuchThing", "-XX:+NoSuchThing"),
        ("-XX:-NoSuchThing", "-XX:-NoSuchThing"),
        ("-XX:NoSuchThing=3", "-XX:NoSuchThing=3"),
        ("-XX:MaxInlineLevel=many", "-XX:MaxInlineLevel=many"),
        ("-XX:+PrintInlining", "-XX:+PrintInlining"),
        ("-Xnosuchthing", "-Xnosuchthing"),
        ("-XX:+UseG1GC -XX:+UseTLAB -XX:+UseParallelGC", "-XX:+UseG1GC -XX:+UseParallelGC"),
    ],
)
def test_what_a_jvm_names_is_left_out(java: Path, options: str, refused: str) -> None:
    code, said = answer(java, *options.split())
    assert code != 0
    assert jvm_options.refused(said, options.split()) == refused.split()


@pytest.mark.parametrize("options", ["-javaagent:/nowhere.jar", "-Xms1g -Xmx512m"])
def test_an_error_that_names_no_option_stays_an_error(options: str) -> None:
    code, said = answer(JAVAS[0], *options.split())
    assert code != 0
    assert jvm_options.refused(said, options.split()) == []


def test_ours_give_way_where_the_user_chose() -> None:
    plain = jvm_options.with_ours(())
    assert {"-XX:+UseSerialGC", "-Xmx512m"} < set(plain)
    assert jvm_options.with_ours(["-XX:+UseG1GC", "-Da"])[-2:] == ["-XX:+UseG1GC", "-Da"]
    assert "-XX:+UseSerialGC" not in jvm_options.with_ours(["-XX:+UseG1GC"])
    for heap in ("-Xmx1g", "-Xms1g", "-XX:MaxRAMPercentage=70"):
        assert "-Xmx512m" not in jvm_options.with_ours([heap])


def test_a_heap_left_to_java_is_computed_by_java() -> None:
    assert jvm_options.computed_heap(JAVAS[0], ["-server"]) is None
    assert jvm_options.computed_heap(JAVAS[0], ["-Xms64m", "-Xmx1g"]) is None
    small, large = (
        jvm_options.computed_heap(JAVAS[0], [f"-XX:MaxRAMPercentage={percentage}"]) or 0 for percentage in (10, 40)
    )
    assert 0 < small < large


@pytest.mark.parametrize("java", JAVAS, ids=str)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("-Xmxlots", "Invalid maximum heap size: -Xmxlots"),
        ("-Xms2g -Xmx1g", "Initial heap size set to a larger value than the maximum heap size"),
        ("-Dcom.sun.management.jmxremote.port=abc", "Invalid com.sun.management.jmxremote.port number: abc"),
        ("-Dcom.sun.management.jmxremote.port=70000", "port number: 70000"),
        ("-Xmx256m -XX:+UseG1GC -XX:MaxPermSize=96m -Xlog:gc:file=/none/gc.log -XX:+NoSuchFlag", None),
        ("-Dcom.sun.management.jmxremote.port=9999", None),
    ],
)
def test_what_keeps_java_from_starting_is_known_before(java: Path, options: str, told: str | None) -> None:
    """An option that Java alone does not take is left out, as the mirror does it."""
    found = jvm_options.obstacle(java, options.split())
    assert found is None if told is None else told in (found or "")


DYING = """#!/bin/sh
echo "Error occurred during initialization of VM"
echo "{said}"
exit 1
"""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Failed to mark memory page as executable - check if grsecurity/PaX is enabled", "MemoryDenyWriteExecute=no"),
        ("Could not reserve enough space for code cache", "Could not reserve enough space"),
    ],
)
def test_a_jvm_that_dies_while_it_initializes_is_asked_why(tmp_path: Path, said: str, told: str) -> None:
    """It says so on standard output, which users' classes write to as well."""
    java = tmp_path / "java"
    java.write_text(DYING.format(said=said))
    java.chmod(0o755)
    found = jvm_options.why_ended(java, ["-Xmx1g", "-Dcom.sun.management.jmxremote.port=9999"], [])
    assert said in found
    assert told in found


def test_a_jvm_that_told_why_it_ended_is_not_asked(tmp_path: Path) -> None:
    assert jvm_options.why_ended(tmp_path / "none", [], ["java.net.BindException: in use"]).startswith("java.net.Bind")


def test_an_agent_of_another_host_is_not_tried(tmp_path: Path) -> None:
    agent = tmp_path / "agent.jar"
    with pytest.raises(HostError, match="agent.jar is not on this host"):
        jvm_options.obstacle(find_java(), [f"-javaagent:{agent}=9404:secret"])
    agent.touch()
    assert jvm_options.obstacle(find_java(), [f"-javaagent:{agent}=9404:secret"]) is None
