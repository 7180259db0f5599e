"""Options and log levels that are read again: what holds for the process stays."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from legacy_mm.connect.start_words import OF_PROCESS, LevelChanges, of_flows, of_process
from legacy_mm.logs import root_logger
from legacy_mm.logs.log_settings import DEBUG, ERROR, INFO, WARN, LoggerSettings, LogSettings
from legacy_mm.words.options.option_catalogue import OPTIONS, OwnOptions

BEFORE = OwnOptions()


def test_what_follows_from_process_settings_is_of_the_process() -> None:
    assert {*OF_PROCESS} <= {row.name for row in OPTIONS}
    later = replace(BEFORE, on_gap="fail", handler_step=("drop=x",), spark_master="x", spark_conf={"a": "b"})
    later = replace(later, shutdown_timeout_ms=1, receipts="r", metrics_port=1, admin_port=2)
    kept, changes = of_process(BEFORE, later)
    assert kept == replace(BEFORE, on_gap="fail", handler_step=("drop=x",))
    told = {each.key: (each.before, each.after) for each in changes}
    assert told == {
        "spark.master": ("embedded", "x"),
        "spark.conf": ("", "a=b"),
        "shutdown.timeout.ms": ("30000", "1"),
        "receipts": (None, "r"),
        "metrics.port": (None, "1"),
        "admin.port": (None, "2"),
    }
    assert all(each.kept_because for each in changes)


def test_what_flows_read_are_other_options_and_flags() -> None:
    later = replace(BEFORE, admin_actions=True, log_level="INFO", handler_step=("a=b", "c=d"), features={"x": ["y"]})
    there, asked = of_flows(BEFORE), of_flows(later)
    assert {key: text for key, text in asked.items() if there.get(key) != text} == {"handler.step": "a=b c=d", "x": "y"}


@pytest.fixture
def loggers() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)


def settings(**levels: int) -> LogSettings:
    return LogSettings({"" if name == "root" else name: LoggerSettings(level) for name, level in levels.items()})


def test_only_levels_with_a_difference_are_given_and_told(loggers: None, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = settings(root=WARN, z1=INFO, z2=INFO, z3=INFO), settings(root=INFO, z1=INFO, z2=ERROR, z4=DEBUG)
    root_logger.configure(before, {})
    root_logger.set_level("z1", ERROR)
    changes = LevelChanges.between(before, after)
    told = [each.text() for each in changes.plan()]
    assert told == ["root: WARN -> INFO", "z2: INFO -> ERROR", "z3: INFO -> none", "z4: none -> DEBUG"]
    changes.apply()
    assert root_logger.levels() == {"": INFO, "z1": ERROR, "z2": ERROR, "z4": DEBUG}
    assert root_logger.levels_in_force()["z3"] == INFO
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("log level: ")[2].partition(" (")[0] for line in lines] == told
    LevelChanges.between(after, settings(root=ERROR)).apply()
    assert "root: INFO -> ERROR" in capsys.readouterr().err, "it is said before it is quiet"
    LevelChanges.between(after, after).apply()
    assert capsys.readouterr().err == ""
