"""log4j configuration files of both generations, and the variables that name them."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from legacy_mm.logs.log4j_found import Found
from legacy_mm.logs.log_settings import (
    DEBUG,
    ERROR,
    INFO,
    LEGACY_PATTERN,
    OFF,
    WARN,
    Appender,
    Console,
    Layout,
    LogFile,
    LoggerSettings,
    LogSettings,
)
from legacy_mm.words.legacy_tool.log4j_configuration import read

FILES = Path(__file__).parent / "log4j_files"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder under a path without a blank, where an option of Java's would end."""
    (link := tmp_path / "log4j_files").symlink_to(FILES)
    return link


LOGS = "/var/log/mirror"


def reading(path: Path | str, option: str = "log4j.configuration", **environment: str) -> Found:
    return read({"LOG_DIR": LOGS, "KAFKA_LOG4J_OPTS": f"-D{option}=file:{path}", **environment})


def written(folder: Path, *lines: str) -> Found:
    file = folder / "log4j.properties"
    file.write_text("\n".join(lines))
    return reading(file)


def test_nothing_said_is_the_old_tool_s_default() -> None:
    settings = read({"KAFKA_LOG4J_OPTS": "-Dkafka.logs.dir=/tmp"}).settings
    assert settings == LogSettings()
    assert settings.level_of("kafka.tools.MirrorMaker$") == WARN
    assert settings.appenders_of("any") == (Appender("console", Console("stderr"), Layout(LEGACY_PATTERN)),)


def test_the_tools_file_of_a_release(files: Path) -> None:
    found = reading(files / "tools-log4j.properties")
    assert found == Found(
        LogSettings(
            {"": LoggerSettings(WARN, ("stderr",)), "org.reflections": LoggerSettings(ERROR)},
            {"stderr": Appender("stderr", Console("stderr"), Layout(LEGACY_PATTERN))},
        )
    )


def test_the_broker_s_file(files: Path) -> None:
    found = reading(files / "broker-log4j.properties")
    assert found.problems == ()
    settings = found.settings
    console, file = settings.appenders_of("kafka.tools.MirrorMaker$")
    assert console.target == Console("stdout")
    assert file.target == LogFile(f"{LOGS}/server.log", dated=True, rolled=f"{LOGS}/server.log%d{{'.'yyyy-MM-dd-HH}}")
    assert [appender.name for appender in settings.appenders_of("state.change.logger.x")] == ["stateFile"]
    assert settings.level_of("anything") == INFO


def test_the_connect_file(files: Path) -> None:
    settings = reading(files / "connect-log4j.properties").settings
    for appender in settings.appenders_of("x"):
        assert appender.layout == Layout("[%d] %p %X{connector.context}%m (%c:%L)%n")


@pytest.mark.parametrize("name", ["strimzi.properties", "confluent.properties"])
def test_files_of_images(name: str, files: Path) -> None:
    found = reading(files / name)
    assert found.problems == ()
    assert found.settings.level_of("kafka.tools.MirrorMaker$") == INFO
    (appender,) = found.settings.appenders_of("kafka.tools.MirrorMaker$")
    assert appender.target == Console("stdout")


def test_a_system_property_wins_over_the_file_s_own(files: Path) -> None:
    found = reading(files / "strimzi.properties", KAFKA_OPTS=" -Dmirrormaker.root.logger=DEBUG -Xmx1g ")
    assert found.settings.level_of("x") == DEBUG


def test_xml_of_version_1(files: Path) -> None:
    found = reading(files / "version1.xml")
    rolling = Appender(
        "rolling",
        LogFile(f"{LOGS}/mm.log", max_bytes=5 << 20, backups=4),
        Layout("%-5p %c{1} - %m%n"),
        threshold=WARN,
    )
    assert found.settings.appenders == {"rolling": rolling}
    assert found.settings.loggers == {
        "": LoggerSettings(INFO, ("rolling", "mail")),
        "kafka.tools": LoggerSettings(DEBUG, ("rolling",), additive=False),
    }
    assert found.problems == ("Log appender mail (org.apache.log4j.net.SMTPAppender) is not supported: it is left out",)


def test_the_tools_file_of_kafka_4(files: Path) -> None:
    found = reading(files / "tools-log4j2.yaml", "log4j2.configurationFile")
    assert found.problems == ()
    assert found.settings.loggers == {"": LoggerSettings(WARN, ("STDERR",))}
    assert found.settings.appenders == {"STDERR": Appender("STDERR", Console("stderr"))}


@pytest.mark.parametrize("name", ["version2.properties", "version2.xml", "version2.json", "version2.yaml"])
def test_version_2_says_the_same_in_every_form(name: str, files: Path) -> None:
    found = reading(files / name, "log4j2.configurationFile")
    assert found.problems == ()
    assert found.settings.loggers == {
        "": LoggerSettings(INFO, ("STDERR", "FILE")),
        "kafka.tools": LoggerSettings(DEBUG, ("FILE",), additive=False),
    }
    assert found.settings.appenders["STDERR"] == Appender(
        "STDERR", Console("stderr"), Layout("[%d{yyyy-MM-dd'T'HH:mm:ss,SSS}] %p %m (%c)%n")
    )
    assert found.settings.appenders["FILE"] == Appender(
        "FILE",
        LogFile(
            f"{LOGS}/mm.log",
            max_bytes=10 << 20,
            backups=20,
            rolled=f"{LOGS}/mm-%d{{yyyy-MM-dd}}-%i.log.gz",
        ),
        Layout(json=True),
        threshold=WARN,
    )


def test_version_2_in_short_form(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        "appender.a.type=Console",
        "appender.a.name=out",
        "rootLogger=ERROR, out",
        "logger.kafka=DEBUG",
        "logger.kafka.name=kafka",
    )
    assert found.settings.loggers == {"": LoggerSettings(ERROR, ("out",)), "kafka": LoggerSettings(DEBUG)}
    assert found.settings.appenders["out"] == Appender("out", Console("stdout"), Layout("%m%n"))


@pytest.mark.parametrize("variable", ["KAFKA_LOG4J_OPTS", "KAFKA_OPTS"])
@pytest.mark.parametrize("option", ["log4j.configuration", "log4j.configurationFile", "log4j2.configurationFile"])
@pytest.mark.parametrize("form", ["file:{}", "file://{}", "{}"])
def test_where_a_file_is_named(variable: str, option: str, form: str, files: Path) -> None:
    path = form.format(files / "strimzi.properties")
    assert read({variable: f"-Dx=y -D{option}={path}"}).settings.level_of("x") == INFO


def test_the_last_one_named_counts(files: Path) -> None:
    missing = "-Dlog4j.configuration=file:/nowhere"
    found = reading(files / "strimzi.properties", KAFKA_OPTS=missing)
    assert "/nowhere" in found.problems[0]


def test_words_before_the_class_name_count(files: Path) -> None:
    named = ["-Xmx1g", f"-Dlog4j.configuration=file:{files / 'strimzi.properties'}"]
    assert read({"KAFKA_LOG4J_OPTS": "-Dlog4j.configuration=file:/nowhere"}, named).settings.level_of("x") == INFO


@pytest.mark.parametrize(
    ("home", "folder"),
    [("kafka", "kafka/config"), ("kafka", "kafka/etc/kafka"), ("kafka/usr", "kafka/etc/kafka")],
    ids=["Apache's", "Confluent's archive", "Confluent's package"],
)
@pytest.mark.parametrize("variable", ["LEGACY_MM_KAFKA_HOME", "KAFKA_HOME"])
def test_without_a_file_that_is_named_the_installation_s_own_counts(
    tmp_path: Path, home: str, folder: str, variable: str, files: Path
) -> None:
    environment = {variable: str(tmp_path / home)}
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "tools-log4j2.yaml").touch()  # Kafka 4 has only that
    assert read(environment) == Found()
    (tmp_path / folder / "tools-log4j.properties").write_bytes((files / "strimzi.properties").read_bytes())
    assert read(environment).settings.level_of("x") == INFO
    assert read({**environment, "KAFKA_LOG4J_OPTS": "-Dx=y"}) == Found()


def test_the_log_folder_is_that_of_the_installation_unless_it_is_named(tmp_path: Path, files: Path) -> None:
    environment = {"KAFKA_LOG4J_OPTS": f"-Dlog4j.configuration={files / 'broker-log4j.properties'}", "KAFKA_HOME": "/k"}
    for more, folder in (({}, "/k/logs"), ({"LOG_DIR": LOGS}, LOGS), ({"KAFKA_OPTS": "-Dkafka.logs.dir=/d"}, "/d")):
        _, file = read(environment | more).settings.appenders_of("x")
        assert isinstance(file.target, LogFile)
        assert file.target.path == f"{folder}/server.log"


def test_what_every_java_knows_can_stand_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    user = pwd.getpwuid(os.getuid())
    found = written(
        tmp_path,
        "log4j.rootLogger=INFO, a",
        "log4j.appender.a=org.apache.log4j.FileAppender",
        "log4j.appender.a.File=${user.home}|${user.dir}|${user.name}|${java.io.tmpdir}",
    )
    assert found.settings.appenders["a"].target == LogFile(f"{user.pw_dir}|{tmp_path}|{user.pw_name}|/tmp")


def test_without_a_root_logger_the_root_is_log4j_s_own(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        "log4j.logger.kafka=INFO, a",
        "log4j.appender.a=org.apache.log4j.ConsoleAppender",
    )
    assert found.problems == ()
    assert (found.settings.level_of("x"), found.settings.level_of("kafka.tools")) == (DEBUG, INFO)
    assert found.settings.appenders_of("x") == ()
    assert [appender.name for appender in found.settings.appenders_of("kafka.tools")] == ["a"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("missing.properties", None, "No such file"),
        ("empty.properties", "", "no root logger"),
        ("half.properties", "log4j.logger.a=INFO", "no log4j.rootLogger"),
        ("broken.xml", "<Configuration>", "no element found"),
        ("broken.json", "{", "Expecting"),
        ("broken.yaml", "Configuration: [", "expected the node content"),
        ("list.yaml", "- a", "no Configuration"),
    ],
)
def test_a_file_that_cannot_be_used_is_said_once_and_logging_goes_to_the_console(
    tmp_path: Path, name: str, content: str | None, why: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    found = reading(tmp_path / name)
    assert found.settings == LogSettings()
    (problem,) = found.problems
    assert problem.startswith(f"Could not read the log4j configuration file:{tmp_path / name}: ")
    assert why in problem


def test_what_is_not_supported_is_said_once_per_appender(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        "log4j.rootLogger=DEBUG#x.Level, sys, html, nameless, absent",
        "log4j.appender.sys=org.apache.log4j.net.SyslogAppender",
        "log4j.appender.html=org.apache.log4j.ConsoleAppender",
        "log4j.appender.html.layout=org.apache.log4j.HTMLLayout",
        "log4j.appender.html.filter.a=org.apache.log4j.varia.StringMatchFilter",
        "log4j.appender.html.filter.a.StringToMatch=x",
        "log4j.appender.nameless=org.apache.log4j.FileAppender",
    )
    assert found.problems == (
        "Log appender sys (org.apache.log4j.net.SyslogAppender) is not supported: it is left out",
        "Log appender html: filter org.apache.log4j.varia.StringMatchFilter, layout org.apache.log4j.HTMLLayout"
        " is not supported, the rest of it is honoured",
        "Log appender nameless names no file: it is left out",
        "Log appender absent (without a class) is not supported: it is left out",
    )
    assert list(found.settings.appenders) == ["html"]
    assert found.settings.level_of("x") == DEBUG


def test_levels_are_inherited_and_the_repository_s_threshold_holds(tmp_path: Path) -> None:
    settings = written(
        tmp_path,
        "log4j.threshold=ERROR",
        "log4j.rootCategory=OFF, a",
        "log4j.category.kafka=INHERITED",
        "log4j.logger.kafka.tools=",
        "log4j.appender.a=org.apache.log4j.ConsoleAppender",
        "log4j.appender.a.layout=org.apache.log4j.SimpleLayout",
    ).settings
    assert settings.level_of("kafka.tools.MirrorMaker$") == OFF
    (appender,) = settings.appenders_of("kafka.tools.MirrorMaker$")
    assert (appender.threshold, appender.layout) == (ERROR, Layout("%p - %m%n"))


def test_environment_and_defaults_in_values(tmp_path: Path) -> None:
    file = tmp_path / "l.properties"
    file.write_text(
        "log4j.rootLogger=${env:LEVEL}, ${sys:name:-${fallback}}\nfallback=out\n"
        "log4j.appender.out=org.apache.log4j.ConsoleAppender\n"
    )
    found = reading(file, LEVEL="ERROR")
    assert found.settings.loggers[""] == LoggerSettings(ERROR, ("out",))
