"""Settings of log4j 1 from properties: what is understood, what is said of the rest; see test_log4j_configuration."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from legacy_mm.logs.log4j_1 import is_version1, read_properties, read_xml
from legacy_mm.logs.log4j_found import Found, NotUnderstood
from legacy_mm.logs.log_settings import ALL, DEBUG, ERROR, INFO, WARN, Appender, Console, LogFile, LoggerSettings

ROOT = {"log4j.rootLogger": "WARN, a"}


def read(properties: dict[str, str], **variables: str) -> Found:
    return read_properties(properties, lambda name: variables.get(name.replace(".", "_")))


def appender(**options: str) -> tuple[Appender | None, tuple[str, ...]]:
    """Of the class `kind`; names with _ for a dot."""
    kind = options.pop("kind")
    more = {f"log4j.appender.a.{name.replace('_', '.')}": text for name, text in options.items()}
    found = read({**ROOT, "log4j.appender.a": f"org.apache.log4j.{kind}", **more}, here="/var")
    return found.settings.appenders.get("a"), found.problems


def test_which_properties_are_of_this_generation() -> None:
    assert is_version1({"x": "y", **ROOT})
    assert not is_version1({"rootLogger.level": "info", "appender.log4j.type": "Console"})


@pytest.mark.parametrize("key", ["log4j.rootLogger", "log4j.rootCategory", " log4j.rootLogger "])
def test_loggers(key: str) -> None:
    properties = {
        key: "INFO, a ,b,",
        "log4j.logger.kafka": "debug",
        "log4j.category.org.x": ",b",
        "log4j.additivity.org.x": " False ",
        "log4j.logger.odd": "NO_LEVEL",
    }
    assert read(properties).settings.loggers == {
        "": LoggerSettings(INFO, ("a", "b")),
        "kafka": LoggerSettings(DEBUG, ()),
        "org.x": LoggerSettings(None, ("b",), False),
        "odd": LoggerSettings(DEBUG, ()),
    }


def test_without_a_root_there_must_be_another_logger_with_an_appender() -> None:
    assert read({"log4j.logger.kafka": "INFO, a"}).settings.loggers[""] == LoggerSettings(DEBUG)
    with pytest.raises(NotUnderstood, match="it has no log4j.rootLogger"):
        read({"log4j.logger.kafka": "INFO"})


def test_the_threshold_of_all_holds_for_each() -> None:
    found = read(
        {
            "log4j.rootLogger": "INFO, a, b",
            "log4j.threshold": "WARN",
            "log4j.appender.a": "org.apache.log4j.ConsoleAppender",
            "log4j.appender.a.Threshold": "ERROR",
            "log4j.appender.b": "org.apache.log4j.ConsoleAppender",
            "log4j.appender.b.threshold": "DEBUG",
        }
    )
    assert {name: each.threshold for name, each in found.settings.appenders.items()} == {"a": ERROR, "b": WARN}


@pytest.mark.parametrize(
    ("options", "target"),
    [
        ({"kind": "ConsoleAppender"}, Console("stdout")),
        ({"kind": "ConsoleAppender", "Target": "System.err"}, Console("stderr")),
        ({"kind": "FileAppender", "File": "${here}/mm.log"}, LogFile("/var/mm.log")),
        ({"kind": "FileAppender", "file": "x", "append": "FALSE"}, LogFile("x", append=False)),
        ({"kind": "RollingFileAppender", "File": "x"}, LogFile("x", max_bytes=10 << 20, backups=1)),
        (
            {"kind": "RollingFileAppender", "File": "x", "MaxFileSize": "5KB", "MaxBackupIndex": "3"},
            LogFile("x", max_bytes=5 << 10, backups=3),
        ),
        ({"kind": "DailyRollingFileAppender", "File": "x"}, LogFile("x", dated=True, rolled="x%d{'.'yyyy-MM-dd}")),
        ({"kind": "NullAppender"}, None),
    ],
)
def test_where_lines_go(options: dict[str, str], target: Console | LogFile | None) -> None:
    found, problems = appender(**options)
    assert found is not None
    assert (found.target, found.threshold, problems) == (target, ALL, ())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "net.SyslogAppender"}, "(org.apache.log4j.net.SyslogAppender) is not supported: it is left out"),
        ({"kind": "FileAppender"}, "names no file: it is left out"),
        ({"kind": "FileAppender", "File": "  "}, "names no file: it is left out"),
    ],
)
def test_what_cannot_be_written_to_is_left_out_and_said(options: dict[str, str], said: str) -> None:
    assert appender(**options) == (None, (f"Log appender a {said}",))


def test_an_appender_that_nobody_described_is_said() -> None:
    assert read(ROOT).problems == ("Log appender a (without a class) is not supported: it is left out",)


def test_the_rest_of_an_appender_with_a_filter_is_honoured() -> None:
    found, problems = appender(
        kind="ConsoleAppender", filter_1="org.x.Filter", filter_1_level="WARN", layout="org.x.Odd"
    )
    assert found is not None
    assert problems == (
        "Log appender a: filter org.x.Filter, layout org.x.Odd is not supported, the rest of it is honoured",
    )


def test_xml_says_the_same() -> None:
    text = """
    <log4j:configuration xmlns:log4j="http://jakarta.apache.org/log4j/" threshold="info">
      <appender name="file" class="org.apache.log4j.FileAppender"><param name="File" value="${here}/x"/></appender>
      <appender name="async" class="org.apache.log4j.AsyncAppender"><appender-ref ref="file"/></appender>
      <category name="kafka" additivity="false"><priority value="error"/><appender-ref ref="async"/></category>
      <root><level value="warn"/><appender-ref ref="file"/></root>
    </log4j:configuration>
    """
    found = read_xml(ElementTree.fromstring(text), lambda name: "/var" if name == "here" else None)
    assert found.problems == ()
    assert found.settings.loggers == {
        "kafka": LoggerSettings(ERROR, ("file",), False),
        "": LoggerSettings(WARN, ("file",)),
    }
    assert found.settings.appenders["file"].target == LogFile("/var/x")
    assert found.settings.appenders["file"].threshold == INFO
