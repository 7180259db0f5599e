"""`/connectors`: what is asked of a `Herder`, and the rules about names and configurations that come before it.

Source: contract `connect-rest.md`, sections 0, 2, 5, 6, 7 and 9.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus

from starlette.responses import Response

from legacy_mm.connect.entities import (
    Config,
    ConnectorInfo,
    ConnectorOffset,
    ConnectRestError,
    JsonObject,
    TargetState,
)
from legacy_mm.connect.herder import Herder
from legacy_mm.connect.plugins import ConnectorPlugins, GivenConfig
from legacy_mm.connect.rest.operation import Operation, Operations
from legacy_mm.connect.rest.rest_request import RestRequest, empty_response, json_object, json_response, texts

NAME, CLASS = "name", "connector.class"
_INITIAL_STATES = {
    "RUNNING": TargetState.STARTED,
    "PAUSED": TargetState.PAUSED,
    "STOPPED": TargetState.STOPPED,
}
_NO_OFFSETS = "Partitions / offsets need to be provided for an alter offsets request"
_TASK = re.compile(r"-?[0-9]{1,9}")


class ConnectorsResource:
    """The connectors, each by its name."""

    def __init__(self, herder: Herder, plugins: ConnectorPlugins) -> None:
        """Take who runs them, and who knows what their configurations may be."""
        self._herder = herder
        self._plugins = plugins

    def operations(self) -> Operations:
        """Return what can be asked of them."""
        one = "/connectors/{connector}"
        return {
            "/connectors": {"GET": Operation(self._list), "POST": Operation(self._create)},
            one: {"GET": Operation(self._info), "DELETE": Operation(self._delete)},
            f"{one}/config": {
                "GET": Operation(self._config),
                "PUT": Operation(self._put_config),
                "PATCH": Operation(self._patch_config),
            },
            f"{one}/status": {"GET": Operation(self._status)},
            f"{one}/restart": {"POST": Operation(self._restart)},
            f"{one}/pause": {"PUT": Operation(self._to(TargetState.PAUSED, HTTPStatus.ACCEPTED))},
            f"{one}/resume": {"PUT": Operation(self._to(TargetState.STARTED, HTTPStatus.ACCEPTED))},
            f"{one}/stop": {"PUT": Operation(self._to(TargetState.STOPPED, HTTPStatus.NO_CONTENT))},
            f"{one}/tasks": {"GET": Operation(self._tasks)},
            f"{one}/tasks/{{task}}/status": {"GET": Operation(self._task_status)},
            f"{one}/tasks/{{task}}/restart": {"POST": Operation(self._restart_task)},
            f"{one}/topics": {"GET": Operation(self._topics)},
            f"{one}/topics/reset": {"PUT": Operation(self._reset_topics)},
            f"{one}/offsets": {
                "GET": Operation(self._offsets),
                "PATCH": Operation(self._alter_offsets),
                "DELETE": Operation(self._reset_offsets),
            },
        }

    def _list(self, request: RestRequest) -> Response:
        names = self._herder.connectors()
        if "expand" not in request.query:
            return json_response(list(names))
        known: dict[str, Callable[[str], JsonObject]] = {
            "info": lambda name: self._herder.connector_info(name).body(),
            "status": lambda name: self._herder.connector_status(name).body(),
        }
        wanted = [word for word in request.query["expand"] if word in known]
        found = {}
        for name in names:
            try:
                found[name] = {word: known[word](name) for word in wanted}
            except ConnectRestError as error:
                if error.status is not HTTPStatus.NOT_FOUND:  # one that is just gone, or has no status yet, is left out
                    raise
        return json_response(found)

    def _create(self, request: RestRequest) -> Response:
        given = request.json_object(NAME, "config", "initial_state")
        state = _initial_state(given.pop("initial_state", None))
        name = (texts({NAME: given.get(NAME)})[NAME] or "").strip()
        config = self._checked(name, texts(json_object(given.get("config"))))
        return _created(request, self._herder.create_connector(name, config, state))

    def _info(self, request: RestRequest) -> Response:
        return json_response(self._herder.connector_info(_name(request)).body())

    def _delete(self, request: RestRequest) -> Response:
        self._herder.delete_connector(_name(request))
        return empty_response(HTTPStatus.NO_CONTENT)

    def _config(self, request: RestRequest) -> Response:
        return json_response(dict(self._herder.connector_info(_name(request)).config))

    def _put_config(self, request: RestRequest) -> Response:
        return self._put(request, request.config())

    def _patch_config(self, request: RestRequest) -> Response:
        patched = {**self._herder.connector_info(_name(request)).config, **request.config()}
        return self._put(request, {key: value for key, value in patched.items() if value is not None})

    def _put(self, request: RestRequest, given: GivenConfig) -> Response:
        name = _name(request)
        is_new, info = self._herder.put_connector_config(name, self._checked(name, given))
        return _created(request, info) if is_new else json_response(info.body())

    def _checked(self, name: str, given: GivenConfig) -> Config:
        """Return a configuration with its name; raise 400 for one that is not valid."""
        if (within := given.get(NAME)) not in (None, name):
            said = f"Connector name configuration ({within}) doesn't match connector name in the URL ({name})"
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)
        config = {**given, NAME: name}
        body, count = self._plugins.validate(config.get(CLASS) or "", config)
        if count:
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, invalid(body, count))
        return {key: _not_null(key, value) for key, value in config.items()}

    def _status(self, request: RestRequest) -> Response:
        return json_response(self._herder.connector_status(_name(request)).body())

    def _restart(self, request: RestRequest) -> Response:
        include_tasks, only_failed = request.flag("includeTasks"), request.flag("onlyFailed")
        if not include_tasks and not only_failed:
            self._herder.restart_connector(_name(request))
            return empty_response(HTTPStatus.NO_CONTENT)
        found = self._herder.restart_connector_and_tasks(
            _name(request), include_tasks=include_tasks, only_failed=only_failed
        )
        return json_response(found.body(), HTTPStatus.ACCEPTED)

    def _to(self, state: TargetState, answer: HTTPStatus) -> Callable[[RestRequest], Response]:
        def change(request: RestRequest) -> Response:
            self._herder.set_target_state(_name(request), state)
            return empty_response(answer)

        return change

    def _tasks(self, request: RestRequest) -> Response:
        name = _name(request)
        tasks = enumerate(self._herder.task_configs(name))
        return json_response([{"id": {"connector": name, "task": task}, "config": dict(of)} for task, of in tasks])

    def _task_status(self, request: RestRequest) -> Response:
        name, task = _name(request), _task(request)
        try:
            found = self._herder.connector_status(name).body()["tasks"]
            return json_response(next(each for each in found if each["id"] == task))
        except (ConnectRestError, StopIteration) as error:
            if isinstance(error, ConnectRestError) and error.status is not HTTPStatus.NOT_FOUND:
                raise
            raise ConnectRestError(HTTPStatus.NOT_FOUND, f"No status found for task {name}-{task}") from None

    def _restart_task(self, request: RestRequest) -> Response:
        self._herder.restart_task(_name(request), _task(request))
        return empty_response(HTTPStatus.NO_CONTENT)

    def _topics(self, request: RestRequest) -> Response:
        name = _name(request)
        return json_response({name: {"topics": list(self._herder.active_topics(name))}})

    def _reset_topics(self, request: RestRequest) -> Response:
        self._herder.reset_active_topics(_name(request))
        return empty_response(HTTPStatus.ACCEPTED)

    def _offsets(self, request: RestRequest) -> Response:
        return json_response({"offsets": [each.body() for each in self._herder.connector_offsets(_name(request))]})

    def _alter_offsets(self, request: RestRequest) -> Response:
        entries = request.json_object("offsets", numbers_are_texts=False).get("offsets")
        if not entries:
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, _NO_OFFSETS)
        if not isinstance(entries, list):
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, "Cannot deserialize value of offsets: it is no array")
        offsets = [_offset(entry) for entry in entries]
        return json_response({"message": self._herder.alter_connector_offsets(_name(request), offsets)})

    def _reset_offsets(self, request: RestRequest) -> Response:
        return json_response({"message": self._herder.reset_connector_offsets(_name(request))})


def invalid(validation: Mapping[str, object], count: int) -> str:
    """Return the sentence for a configuration with errors; clients show it as it is."""
    configs = validation["configs"]
    assert isinstance(configs, list)
    lines = [error for each in configs for error in each["value"]["errors"]]
    return "\n".join(
        [
            f"Connector configuration is invalid and contains the following {count} error(s):",
            *lines,
            "You can also find the above list of errors at the endpoint "
            "`/connector-plugins/{connectorType}/config/validate`",
        ]
    )


def _not_null(key: str, value: str | None) -> str:
    if value is None:
        said = f"Non-string value found in original settings for key {key}: null"
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)
    return value


def _created(request: RestRequest, info: ConnectorInfo) -> Response:
    return json_response(info.body(), HTTPStatus.CREATED, request.location(info.name))


def _name(request: RestRequest) -> str:
    return request.path["connector"]


def _task(request: RestRequest) -> int:
    text = request.path["task"]
    if not _TASK.fullmatch(text):
        raise ConnectRestError(HTTPStatus.NOT_FOUND, "HTTP 404 Not Found")
    return int(text)


def _initial_state(word: object) -> TargetState:
    if word is None:
        return TargetState.STARTED
    state = _INITIAL_STATES.get(word.upper()) if isinstance(word, str) else None
    if state is None:
        said = f"initial_state {word!r} is none of {', '.join(_INITIAL_STATES)}"
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)
    return state


def _offset(entry: object) -> ConnectorOffset:
    match entry:
        case {"partition": dict() as partition, "offset": dict() | None as offset, **others} if not others:
            return ConnectorOffset(partition, offset)
        case {"partition": dict() as partition, **others} if not others:
            return ConnectorOffset(partition, None)
    said = "Cannot construct instance of an offset: it is {partition: {...}, offset: {...} or null}"
    raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)
