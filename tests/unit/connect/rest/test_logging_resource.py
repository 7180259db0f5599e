"""`/admin/loggers` as clients meet it, over a socket, and what then is printed."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from legacy_mm.logs import events, root_logger
from legacy_mm.logs.log_settings import DEFAULT_CONSOLE, INFO, OFF, WARN, LoggerSettings, LogSettings
from tests.fixtures.rest_api import RestApi

TOOL = "kafka.tools.MirrorMaker$"


def configure() -> None:
    """Root at WARN, and kafka.tools and another one at INFO."""
    own = {"": LoggerSettings(WARN, (DEFAULT_CONSOLE.name,))} | dict.fromkeys(
        ("kafka.tools", "z"), LoggerSettings(INFO)
    )
    wording = {events.STARTING: root_logger.Wording(INFO, TOOL, "Starting")}
    root_logger.configure(LogSettings(own), wording)


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    configure()
    yield
    root.handlers = handlers
    root.setLevel(level)


def level(api: RestApi, name: str) -> object:
    return api.call("GET", f"/admin/loggers/{name}").body["level"]


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_list_has_all_loggers_that_print(api: RestApi, slash: str) -> None:
    root_logger.set_level("legacy_mm", OFF)
    found = api.call("GET", f"/admin/loggers{slash}").body
    here = {"root": "WARN", "kafka.tools": "INFO", TOOL: "INFO", "z": "INFO"}
    assert {name: found[name] for name in here} == {
        name: {"level": level, "last_modified": None} for name, level in here.items()
    }
    assert [*found] == sorted(found)
    assert "legacy_mm" not in found


def test_one_has_the_level_that_holds_for_it(api: RestApi) -> None:
    assert [level(api, name) for name in ("root", "ROOT", TOOL, "legacy_mm")] == ["WARN", "WARN", "INFO", "WARN"]
    found = api.call("GET", "/admin/loggers/no.such")
    assert (found.status, found.body["message"]) == (404, "Logger no.such not found.")


def test_a_level_is_for_all_whose_names_begin_so_and_is_printed_at_once(
    api: RestApi, capsys: pytest.CaptureFixture[str]
) -> None:
    configure()  # what prints takes stderr as it is then
    events.emit(events.STARTING)
    found = api.call("PUT", "/admin/loggers/kafka.t", {"level": "error"})
    assert found.status == 200
    assert {"kafka.t", "kafka.tools", TOOL} <= set(found.body)  # others are those that tests before have made
    assert not [name for name in found.body if not name.startswith("kafka.t")]
    events.emit(events.STARTING)
    assert capsys.readouterr().err.count("Starting") == 1
    assert level(api, TOOL) == "ERROR"
    assert api.call("PUT", "/admin/loggers/kafka.t", {"level": "ERROR"}).body == []
    assert api.call("GET", "/admin/loggers/kafka.t").body["last_modified"] > 0
    assert api.call("GET", "/admin/loggers/root").body == {"level": "WARN", "last_modified": None}


def test_the_root_is_all_of_them(api: RestApi) -> None:
    changed = api.call("PUT", "/admin/loggers/root?scope=worker", {"level": "DEBUG"}).body
    assert {"root", "kafka.tools", TOOL, "legacy_mm"} <= set(changed)
    assert changed == sorted(changed)
    assert not [name for name in changed if name.startswith("py4j")]
    assert (level(api, "legacy_mm"), logging.getLogger("legacy_mm").isEnabledFor(logging.DEBUG)) == ("DEBUG", True)


def test_a_package_that_is_kept_quiet_speaks_if_it_is_named(api: RestApi) -> None:
    assert level(api, "py4j") == "WARN"
    assert "py4j" in api.call("PUT", "/admin/loggers/py4j", {"level": "DEBUG"}).body
    assert logging.getLogger("py4j").isEnabledFor(logging.DEBUG)
    logging.getLogger("py4j").setLevel(logging.WARNING)


def test_the_whole_cluster_is_answered_without_a_body(api: RestApi) -> None:
    found = api.call("PUT", "/admin/loggers/kafka.tools?scope=cluster", {"level": "FATAL"})
    assert (found.status, found.text) == (204, "")
    assert level(api, "kafka.tools") == "FATAL"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "Desired 'level' parameter was not specified in request."),
        ({"level": None}, 400, "Desired 'level' parameter was not specified in request."),
        ({"level": "HIGH"}, 404, "invalid log level 'HIGH'."),
        ({"level": 3}, 404, "invalid log level '3'."),
    ],
)
def test_a_level_that_is_none(api: RestApi, body: object, status: int, message: str) -> None:
    found = api.call("PUT", "/admin/loggers/kafka", body)
    assert (found.status, found.body) == (status, {"error_code": status, "message": message})
