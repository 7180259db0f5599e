"""`/admin/loggers`: the levels of loggers, read and changed while the mirror runs."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response

from legacy_mm.base.clock import epoch_ms
from legacy_mm.connect.entities import ConnectRestError, JsonObject
from legacy_mm.connect.rest.operation import Operation, Operations
from legacy_mm.connect.rest.rest_request import RestRequest, empty_response, json_response
from legacy_mm.logs import root_logger
from legacy_mm.logs.log_settings import LEVELS, OFF

ROOT = "root"


class Loggers:
    """The loggers of this process with log4j's names for levels, and when this API changed them."""

    def __init__(self) -> None:
        self._last_modified: dict[str, int] = {}

    def levels(self) -> dict[str, JsonObject]:
        """Return all loggers that print."""
        found = root_logger.levels_in_force()
        return {_shown(name): self._body(name, found[name]) for name in sorted(found, key=_shown) if found[name] < OFF}

    def level(self, name: str) -> JsonObject | None:
        """Return the level that holds for a logger, or None for one that does not exist."""
        level = root_logger.levels_in_force().get(_known(name))
        return None if level is None else self._body(_known(name), level)

    def set_level(self, name: str, level: str) -> list[str]:
        """Give a logger and those whose names begin with its name a level; return those that had another, sorted."""
        before = root_logger.levels_in_force()
        concerned = root_logger.set_level(_known(name), LEVELS[level])
        now = epoch_ms()
        changed = [each for each, to in root_logger.levels_in_force().items() if before.get(each) != to]
        self._last_modified |= {each: now for each in changed if each in concerned}
        return sorted(_shown(each) for each in changed if each in concerned)

    def _body(self, name: str, level: int) -> JsonObject:
        return {"level": root_logger.level_name(level), "last_modified": self._last_modified.get(name)}


class LoggingResource:
    """The loggers, each by its name."""

    def __init__(self, loggers: Loggers) -> None:
        """Take the loggers."""
        self._loggers = loggers

    def operations(self) -> Operations:
        """Return what can be asked of them."""
        return {
            "/admin/loggers": {"GET": Operation(lambda _: json_response(self._loggers.levels()))},
            "/admin/loggers/{logger}": {"GET": Operation(self._level), "PUT": Operation(self._set_level)},
        }

    def _level(self, request: RestRequest) -> Response:
        name = request.path["logger"]
        found = self._loggers.level(name)
        if found is None:
            raise ConnectRestError(HTTPStatus.NOT_FOUND, f"Logger {name} not found.")
        return json_response(found)

    def _set_level(self, request: RestRequest) -> Response:
        level = request.config().get("level")
        if level is None:
            said = "Desired 'level' parameter was not specified in request."
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)
        if level.upper() not in LEVELS:
            raise ConnectRestError(HTTPStatus.NOT_FOUND, f"invalid log level '{level}'.")
        changed = self._loggers.set_level(request.path["logger"], level.upper())
        if request.query.get("scope", [""])[0].lower() == "cluster":  # one process is the cluster
            return empty_response(HTTPStatus.NO_CONTENT)
        return json_response(changed)


def _known(name: str) -> str:
    return "" if name.lower() == ROOT else name


def _shown(name: str) -> str:
    return name or ROOT
