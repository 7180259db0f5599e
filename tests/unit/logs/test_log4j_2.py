"""Settings of log4j 2 from its tree, and the tree from each of its forms. Whole files: test_log4j_configuration.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import pytest

from legacy_mm.logs.log4j_2 import Component, from_mapping, from_properties, from_xml, read
from legacy_mm.logs.log4j_found import Found, NotUnderstood
from legacy_mm.logs.log_settings import ERROR, INFO, WARN, Console, LogFile, LoggerSettings


def found(tree: Component) -> Found:
    return read(tree, lambda own: own.get)


def from_json(*appenders: Mapping[str, Any], **loggers: Any) -> Found:
    """A configuration with these appenders and the root logger's references."""
    grouped: dict[str, list[Any]] = {}
    for each in appenders:
        grouped.setdefault(each["kind"], []).append({name: value for name, value in each.items() if name != "kind"})
    return found(
        from_mapping("configuration", {"Appenders": grouped, "Loggers": {"Root": {"level": "warn"}, **loggers}})
    )


def test_each_form_makes_the_same_tree() -> None:
    xml = ElementTree.fromstring(
        '<Configuration><Appenders><Console name="c" target="SYSTEM_ERR"/></Appenders>'
        '<Loggers><Root level="info"><AppenderRef ref="c"/></Root></Loggers></Configuration>'
    )
    json = {
        "Appenders": {"Console": {"name": "c", "target": "SYSTEM_ERR"}},
        "Loggers": {"Root": {"level": "info", "AppenderRef": {"ref": "c"}}},
    }
    properties = {
        "appender.x.type": "Console",
        "appender.x.name": "c",
        "appender.x.target": "SYSTEM_ERR",
        "rootLogger.level": "info",
        "rootLogger.appenderRef.y.ref": "c",
    }
    trees = [from_xml(xml), from_mapping("configuration", json), from_properties(properties)]
    for tree in trees:
        settings = found(tree).settings
        assert settings.loggers == {"": LoggerSettings(INFO, ("c",))}
        assert settings.appenders["c"].target == Console("stderr")


def test_the_short_form_of_properties() -> None:
    settings = found(
        from_properties({"rootLogger": "WARN, c , d", "logger.k": "ERROR", "logger.k.name": "kafka"})
    ).settings
    assert settings.loggers == {"": LoggerSettings(WARN, ("c", "d")), "kafka": LoggerSettings(ERROR, ())}


def test_properties_of_the_file_are_known_to_it() -> None:
    tree = from_properties(
        {
            "property.dir": "/var",
            "property.a.b": "mm",
            "rootLogger.level": "info",
            "appender.f.type": "File",
            "appender.f.name": "f",
            "appender.f.fileName": "${dir}/${a.b}.log",
        }
    )
    assert found(tree).settings.appenders["f"].target == LogFile("/var/mm.log")


@pytest.mark.parametrize("tree", [Component("configuration"), from_properties({"logger.k.name": "kafka"})])
def test_without_a_root_logger_it_is_not_understood(tree: Component) -> None:
    with pytest.raises(NotUnderstood, match="it has no root logger"):
        found(tree)


def test_another_document_is_not_understood() -> None:
    with pytest.raises(NotUnderstood, match="it begins with beans"):
        found(from_xml(ElementTree.fromstring("<beans/>")))


def test_a_root_without_a_level_is_log4j_2_s_own() -> None:
    assert found(from_mapping("configuration", {"Loggers": {"Root": {}}})).settings.loggers[""].level == ERROR


ROLLING = {"kind": "RollingFile", "name": "r", "fileName": "x", "filePattern": "x.%i"}


@pytest.mark.parametrize(
    ("appender", "target"),
    [
        ({"kind": "Console", "name": "r"}, Console("stdout")),
        ({"kind": "File", "name": "r", "fileName": "x", "append": False}, LogFile("x", append=False)),
        ({"kind": "Null", "name": "r"}, None),
        (
            ROLLING | {"Policies": {"SizeBasedTriggeringPolicy": {"size": "2 MB"}}},
            LogFile("x", rolled="x.%i", max_bytes=2 << 20, backups=7),
        ),
        (ROLLING | {"DefaultRolloverStrategy": {"max": 3}}, LogFile("x", rolled="x.%i", dated=True, backups=3)),
    ],
)
def test_where_lines_go(appender: dict[str, Any], target: Console | LogFile | None) -> None:
    result = from_json(appender)
    assert (result.settings.appenders["r"].target, result.problems) == (target, ())


@pytest.mark.parametrize(
    ("appender", "said"),
    [
        ({"kind": "Socket", "name": "r"}, "r (socket) is not supported: it is left out"),
        ({"kind": "File", "name": "r"}, "r names no file: it is left out"),
    ],
)
def test_what_cannot_be_written_to_is_left_out_and_said(appender: dict[str, Any], said: str) -> None:
    result = from_json(appender)
    assert (result.settings.appenders, result.problems) == ({}, (f"Log appender {said}",))


def test_a_threshold_is_a_filter_that_is_understood() -> None:
    filters = {"ThresholdFilter": {"level": "error"}, "RegexFilter": {"regex": "x"}}
    result = from_json({"kind": "Console", "name": "r", "Filters": filters})
    assert result.settings.appenders["r"].threshold == ERROR
    assert result.problems == ("Log appender r: filter regexfilter is not supported, the rest of it is honoured",)


def test_lines_go_to_what_is_behind_an_async_appender() -> None:
    result = from_json(
        {"kind": "Async", "name": "a", "AppenderRef": [{"ref": "c"}, {"ref": "d"}]},
        {"kind": "Console", "name": "c"},
        {"kind": "Console", "name": "d"},
        Logger={"name": "kafka", "level": "info", "AppenderRef": {"ref": "a"}, "additivity": "false"},
    )
    assert result.settings.loggers["kafka"] == LoggerSettings(INFO, ("c", "d"), False)
    assert set(result.settings.appenders) == {"c", "d"}


def test_iso8601_has_a_t_here_and_no_layout_is_the_message_alone() -> None:
    patterned = {"kind": "Console", "name": "p", "PatternLayout": {"pattern": "%d{ISO8601} %m%n"}}
    result = from_json(patterned, {"kind": "Console", "name": "plain"})
    assert result.settings.appenders["p"].layout.pattern == "%d{yyyy-MM-dd'T'HH:mm:ss,SSS} %m%n"
    assert result.settings.appenders["plain"].layout.pattern == "%m%n"
