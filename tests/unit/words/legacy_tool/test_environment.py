"""The variables of the old start script, one by one."""

from __future__ import annotations

import logging

import pytest

from legacy_mm.base.settings import JvmSettings
from legacy_mm.words.legacy_tool import environment

JMX = "-Dcom.sun.management.jmxremote"


def options(*words: str, **variables: str) -> tuple[str, ...]:
    return environment.read(variables, words).jvm.options


def test_nothing_set_asks_for_nothing() -> None:
    assert environment.read({}) == environment.Environment(JvmSettings())


def test_the_order_is_that_of_the_old_command_line() -> None:
    found = options(
        "-Dword",
        KAFKA_OPTS="-Dopts",
        KAFKA_JMX_OPTS="-Djmx",
        KAFKA_LOG4J_OPTS="-Dkafka.logs.dir=/l",
        JAVA_TOOL_OPTIONS="-Dtool",
        JDK_JAVA_OPTIONS="-Djdk",
        _JAVA_OPTIONS="-Dlast",
        KAFKA_GC_LOG_OPTS="-Dgc",
        KAFKA_JVM_PERFORMANCE_OPTS="-Dperformance",
        KAFKA_HEAP_OPTS="-Xmx2g",
        KAFKA_DEBUG="y",
        JAVA_DEBUG_OPTS="-agentlib:x",
    )
    script = ("-Xmx2g", "-Dperformance", "-Dgc", "-Djmx", "-Dkafka.logs.dir=/l", "-agentlib:x", "-Dopts", "-Dword")
    assert found == ("-Dtool", "-Djdk", *script, "-Dlast")


@pytest.mark.parametrize("variable", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"])
def test_quotes_keep_words_together_in_the_variables_of_java_itself(variable: str) -> None:
    words = """ -Da="b c" '-Dd=e "f"'\t-Dg=h\\i #j """
    assert options(**{variable: words}) == ("-Da=b c", '-Dd=e "f"', "-Dg=h\\i", "#j")
    assert options(**{variable: '-Da="b -Dc'}) == ('-Da="b', "-Dc")


def test_the_log_s_own_words_are_not_for_spark() -> None:
    words = "-Dlog4j.configuration=file:x -Dlog4j2.configurationFile=y -Da=b"
    assert options(*words.split(), KAFKA_LOG4J_OPTS=words, KAFKA_OPTS=words) == ("-Da=b",) * 3


def test_variables_are_split_at_blanks_and_quotes_are_characters() -> None:
    assert options(KAFKA_OPTS='  -Da="b c"\t-javaagent:a.jar=1\n-Dd=\u00a0e ') == (
        '-Da="b',
        'c"',
        "-javaagent:a.jar=1",
        "-Dd=\u00a0e",
    )


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("-Xmx256M -Xms128M", ("-Xmx536870912", "-Xms128M")),
        ("-Xmx524287k", ("-Xmx536870912",)),
        ("-XX:MaxHeapSize=100m", ("-Xmx536870912",)),
        ("-Xmx512m", ("-Xmx512m",)),
        ("-Xmx2G -Xms2G", ("-Xmx2G", "-Xms2G")),
        ("-XX:MaxRAMPercentage=70 -XX:+ExitOnOutOfMemoryError", None),
        ("-Xmxlots", ("-Xmxlots",)),
    ],
)
def test_a_heap_that_spark_refuses_is_raised_and_said_once(asked: str, given: tuple[str, ...] | None) -> None:
    found = environment.read({"KAFKA_HEAP_OPTS": asked, "KAFKA_OPTS": asked})
    expected = given or tuple(asked.split())
    assert found.jvm.options == expected * 2
    assert [note.level for note in found.notes] == [logging.INFO] * (expected != tuple(asked.split()))


@pytest.mark.parametrize(
    ("jmx_options", "expected"),
    [
        ("", (f"{JMX}=true", f"{JMX}.authenticate=false", f"{JMX}.ssl=false", f"{JMX}.port=9", f"{JMX}.rmi.port=9")),
        ("-Dx=y", ("-Dx=y", f"{JMX}.port=9", f"{JMX}.rmi.port=9")),
        (f"{JMX}.rmi.port=8", (f"{JMX}.rmi.port=8", f"{JMX}.port=9")),
    ],
)
def test_jmx_port(jmx_options: str, expected: tuple[str, ...]) -> None:
    assert options(JMX_PORT="9", KAFKA_JMX_OPTS=jmx_options) == expected


def test_jmx_options_without_a_port() -> None:
    assert options(KAFKA_JMX_OPTS=f"{JMX}.port=7") == (f"{JMX}.port=7",)


@pytest.mark.parametrize(
    ("variables", "agent"),
    [
        ({}, "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=5005"),
        (
            {"DEBUG_SUSPEND_FLAG": "y", "JAVA_DEBUG_PORT": "7777"},
            "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=7777",
        ),
        ({"JAVA_DEBUG_OPTS": "-agentlib:x"}, "-agentlib:x"),
    ],
)
def test_debugging(variables: dict[str, str], agent: str) -> None:
    found = environment.read({"KAFKA_DEBUG": "no", **variables})
    assert (found.jvm.options, found.debug) == ((agent,), f"Enabling Java debug options: {agent}")


def test_debug_variables_alone_do_nothing() -> None:
    assert environment.read({"JAVA_DEBUG_OPTS": "-agentlib:x"}) == environment.Environment()


def test_class_path_and_java_home() -> None:
    variables = {"CLASSPATH": "/etc/kafka/jars/*:x.jar", "JAVA_HOME": "/opt/java", "KAFKA_LOG4J_OPTS": "-Dlog4j=1"}
    assert environment.read(variables).jvm == JvmSettings((), "/etc/kafka/jars/*:x.jar", "/opt/java")


@pytest.mark.parametrize("words", ["-cp a:b", "-classpath a:b", "--class-path=a:b", "-cp c -cp a:b"])
def test_a_class_path_among_the_words_replaces_the_variable(words: str) -> None:
    found = environment.read({"CLASSPATH": "x", "KAFKA_OPTS": "-Da=b"}, words.split()).jvm
    assert (found.options, found.class_path) == (("-Da=b",), "a:b")


def test_the_last_of_two_system_properties_holds() -> None:
    jvm = environment.read({"KAFKA_OPTS": "-Da.b=1 -Da.b=2=3 -Da.bc=4"}).jvm
    assert jvm.system_property("a.b") == "2=3"
    assert jvm.system_property("a") is None


def test_passwords_are_named_as_secrets_and_never_shown() -> None:
    found = environment.read({"KAFKA_OPTS": "-Djavax.net.ssl.trustStorePassword=geheim -Djava.awt.headless=true"})
    assert found.secrets == ("geheim",)
    assert "geheim" not in repr(found)


def test_the_file_of_jmx_passwords_is_no_password() -> None:
    """Java says of one that everybody may read: `Password file read access must be restricted`, and which."""
    words = (f"{JMX}.password.file=/etc/kafka/jmx.password", f"{JMX}.password.toHashes=false")
    assert environment.read({}, words).secrets == ()


TOOL, DRIVER = "kafka.tools.MirrorMaker", "org.apache.kafka.connect.mirror.MirrorMaker"


@pytest.mark.parametrize(
    ("call", "java"),
    [
        ((), ()),
        (("/opt/kafka/bin/kafka-mirror-maker.sh",), ()),
        (("sudo", "-u", "kafka", "JMX_PORT=9999", "kafka-mirror-maker.sh"), ()),
        (("nice", "-n", "5", "connect-mirror-maker.sh"), ()),
        ((TOOL,), ()),
        (("nice", "-n", "5", "java", "-Xmx1g", "-cp", "/libs/*", DRIVER), ("-Xmx1g",)),
        (("kafka-run-class.sh", "-daemon", "-name", "mm", "-loggc", "-Dx=y", TOOL), ("-Dx=y",)),
    ],
    ids=" ".join,
)
def test_of_the_words_before_the_command_only_java_s_options_reach_java(
    call: tuple[str, ...], java: tuple[str, ...]
) -> None:
    read = environment.read_call({}, call)
    assert read.jvm.options == java
    assert read.jvm.class_path == ("/libs/*" if "-cp" in call else "")
