"""The environment variables of the old start scripts and their effect in this tool, as `explain` prints them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from legacy_mm.base.option import ENVIRONMENT_PREFIX, environment_variable
from legacy_mm.features.rows import BY_NAME
from legacy_mm.words.options import unbuilt
from legacy_mm.words.options.option_catalogue import ALL_OPTIONS


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable."""

    name: str
    meaning: str


VARIABLES = (
    Variable("KAFKA_HEAP_OPTS", "heap of the JVM that drives Spark, at least 512 MB"),
    Variable("KAFKA_OPTS", "-D properties and agents of the JVM that drives Spark"),
    Variable("KAFKA_JVM_PERFORMANCE_OPTS", "options of the JVM that drives Spark; those it does not know are left out"),
    Variable("KAFKA_GC_LOG_OPTS", "garbage collection log of the JVM that drives Spark"),
    Variable("GC_LOG_ENABLED", "true: like -loggc, regardless of KAFKA_GC_LOG_OPTS"),
    Variable("KAFKA_JMX_OPTS", "options for access to JMX, instead of the default without login"),
    Variable("JMX_PORT", "port of JMX"),
    Variable("JAVA_TOOL_OPTIONS", "options of the JVM that drives Spark, before all others"),
    Variable("JDK_JAVA_OPTIONS", "options of the JVM that drives Spark, after JAVA_TOOL_OPTIONS"),
    Variable("_JAVA_OPTIONS", "options of the JVM that drives Spark, after all others"),
    Variable("KAFKA_LOG4J_OPTS", "level, file and pattern of the log, from a log4j configuration"),
    Variable("LOG_DIR", "folder of log files, by default logs in the Kafka's folder"),
    Variable("CLASSPATH", "jars of message handlers and rebalance listeners"),
    Variable("LEGACY_MM_KAFKA_HOME", "the Kafka whose script this tool replaces: its scripts, its jars"),
    Variable("LEGACY_MM_CACHE", "folder of Kafka's jars and other cached files, by default ~/.cache/legacy_mm"),
    Variable("KAFKA_HOME", "the same, if LEGACY_MM_KAFKA_HOME is not set"),
    Variable("JAVA_HOME", "the Java to use; one below 17 is ignored"),
    Variable("KAFKA_DEBUG", "a debugger's port in the JVM that drives Spark"),
    Variable("JAVA_DEBUG_PORT", "read only with KAFKA_DEBUG"),
    Variable("JAVA_DEBUG_OPTS", "read only with KAFKA_DEBUG"),
    Variable("DEBUG_SUSPEND_FLAG", "read only with KAFKA_DEBUG"),
    Variable("INCLUDE_TEST_JARS", "no effect: there is no folder of jars"),
    Variable("SCALA_VERSION", "no effect: it chose folders of a source checkout"),
    Variable("SCALA_BINARY_VERSION", "no effect: it chose folders of a source checkout"),
)
_NOT_READ = "read neither by the old scripts nor by this tool"
_OWN = {
    **{row.environment_variable: row for row in ALL_OPTIONS},
    **{environment_variable(name): row.option for name, row in BY_NAME.items()},
}


def meanings(environment: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return name, value and meaning of every variable that is set and is, or looks like, one of the tool's."""
    known = {row.name: row.meaning for row in VARIABLES if row.name in environment}
    others = {name: _NOT_READ for name in sorted(environment) if name.startswith("KAFKA_") and name not in known}
    ours = {name: _own(name) for name in sorted(environment) if name.startswith(ENVIRONMENT_PREFIX)}
    return [(name, environment[name], meaning) for name, meaning in (ours | known | others).items()]


def _own(variable: str) -> str:
    if variable in _OWN:
        return f"option --{_OWN[variable].name}"
    name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", ".")
    return f"refused: {unbuilt.refusal(name)}" if unbuilt.is_unbuilt(name) else "no option of ours, ignored"
