"""`/connectors` as clients meet it, over a socket: statuses, bodies and sentences of Kafka Connect."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest

from legacy_mm.connect.connector_plugins import MirrorPlugins
from legacy_mm.connect.entities import ConnectorOffset, ConnectRestError, TargetState
from tests.fakes.herder import SOURCE, WORKER
from tests.fixtures.rest_api import RestApi, serving

CONFIG = {"connector.class": SOURCE}


def error(status: int, message: str) -> dict[str, Any]:
    return {"error_code": status, "message": message}


def test_the_list_has_names_and_with_expand_what_was_asked_for(api: RestApi) -> None:
    api.herder.add("A->B.MirrorSourceConnector", TargetState.STOPPED)
    assert api.call("GET", "/connectors").body == ["x", "A->B.MirrorSourceConnector"]
    both = api.call("GET", "/connectors?expand=info&expand=status").body
    assert {name: sorted(of) for name, of in both.items()} == dict.fromkeys(api.herder.configs, ["info", "status"])
    assert both["x"]["info"] == api.call("GET", "/connectors/x").body
    assert both["x"]["status"] == api.call("GET", "/connectors/x/status").body
    assert [*api.call("GET", "/connectors?expand=status").body["x"]] == ["status"]
    assert api.call("GET", "/connectors?expand=nonsense").body == dict.fromkeys(api.herder.configs, {})


def test_a_connector_without_a_status_is_left_out_and_a_rebalance_is_not_hidden(api: RestApi) -> None:
    api.herder.add("new")
    api.herder.without_status.add("new")
    assert [*api.call("GET", "/connectors?expand=info&expand=status").body] == ["x"]
    api.herder.failure = ConnectRestError(HTTPStatus.INTERNAL_SERVER_ERROR, "a rebalance is expected")
    assert api.call("GET", "/connectors?expand=info").body == error(500, "a rebalance is expected")


def test_info_config_status_and_tasks(api: RestApi) -> None:
    config = {"name": "x", **CONFIG}
    task = {"state": "RUNNING", "worker_id": WORKER}
    assert api.call("GET", "/connectors/x").body == {
        "name": "x",
        "config": config,
        "tasks": [{"connector": "x", "task": 0}, {"connector": "x", "task": 1}],
        "type": "source",
    }
    assert api.call("GET", "/connectors/x/config").body == config
    assert api.call("GET", "/connectors/x/status").body == {
        "name": "x",
        "connector": task,
        "tasks": [{"id": 0, **task}, {"id": 1, **task}],
        "type": "source",
    }
    assert api.call("GET", "/connectors/x/tasks").body == [
        {"id": {"connector": "x", "task": number}, "config": config} for number in range(2)
    ]
    assert api.call("GET", "/connectors/x/tasks/1/status").body == {"id": 1, **task}
    assert api.call("GET", "/connectors/x/topics").body == {"x": {"topics": ["orders"]}}
    assert api.call("GET", "/connectors/nobody/topics").body == {"nobody": {"topics": []}}


def test_stopped_has_no_tasks_at_all(api: RestApi) -> None:
    assert api.call("PUT", "/connectors/x/stop").status == 204
    assert api.call("GET", "/connectors/x").body["tasks"] == []
    status = api.call("GET", "/connectors/x/status").body
    assert (status["connector"]["state"], status["tasks"]) == ("STOPPED", [])
    assert api.call("GET", "/connectors/x/tasks").body == []


NO_BODY = [
    ("PUT", "pause", 202),
    ("PUT", "resume", 202),
    ("PUT", "stop", 204),
    ("POST", "restart", 204),
    ("POST", "restart?includeTasks=false&onlyFailed=False", 204),
    ("POST", "tasks/1/restart", 204),
    ("PUT", "topics/reset", 202),
    ("DELETE", "", 204),
]


@pytest.mark.parametrize(("method", "path", "status"), NO_BODY)
@pytest.mark.parametrize("slash", ["", "/"])
def test_an_action_without_a_body_is_answered_without_one(
    api: RestApi, method: str, path: str, status: int, slash: str
) -> None:
    resource, mark, query = f"/connectors/x/{path}".rstrip("/").partition("?")
    found = api.call(method, f"{resource}{slash}{mark}{query}")
    assert (found.status, found.text, found.headers["content-type"]) == (status, "", None)


def test_pause_resume_and_stop_are_target_states(api: RestApi) -> None:
    for path, state in [("pause", TargetState.PAUSED), ("stop", TargetState.STOPPED), ("resume", TargetState.STARTED)]:
        api.call("PUT", f"/connectors/x/{path}")
        assert api.herder.states["x"] is state


@pytest.mark.parametrize(
    ("query", "include_tasks", "only_failed"),
    [
        ("includeTasks=true", True, False),
        ("includeTasks=True&onlyFailed=False", True, False),
        ("onlyFailed=TRUE", False, True),
        ("includeTasks=true&onlyFailed=true", True, True),
        ("includeTasks=yes&onlyFailed=true", False, True),
    ],
)
def test_a_restart_of_tasks_answers_with_the_status(
    api: RestApi, query: str, include_tasks: bool, only_failed: bool
) -> None:
    found = api.call("POST", f"/connectors/x/restart?{query}&forward=false")
    assert (found.status, found.body["connector"]["state"]) == (202, "RESTARTING")
    assert api.herder.calls == [("restart", "x", include_tasks, only_failed)]


def test_a_restart_of_neither_is_one_of_the_connector(api: RestApi) -> None:
    api.call("POST", "/connectors/x/restart?includeTasks=1")
    assert api.herder.calls == [("restart", "x")]


UNKNOWN = [
    ("GET", "/connectors/y", "Connector y not found"),
    ("GET", "/connectors/y/config", "Connector y not found"),
    ("GET", "/connectors/y/tasks", "Connector y not found"),
    ("GET", "/connectors/y/offsets", "Connector y not found"),
    ("DELETE", "/connectors/y/offsets", "Connector y not found"),
    ("DELETE", "/connectors/y", "Connector y not found"),
    ("PUT", "/connectors/y/pause", "Unknown connector y"),
    ("PUT", "/connectors/y/resume", "Unknown connector y"),
    ("PUT", "/connectors/y/stop", "Unknown connector y"),
    ("POST", "/connectors/y/restart", "Unknown connector: y"),
    ("POST", "/connectors/y/restart?includeTasks=true", "Unknown connector: y"),
    ("GET", "/connectors/y/status", "No status found for connector y"),
    ("GET", "/connectors/y/tasks/0/status", "No status found for task y-0"),
    ("GET", "/connectors/x/tasks/7/status", "No status found for task x-7"),
    ("GET", "/connectors/x/tasks/one/status", "HTTP 404 Not Found"),
    ("POST", "/connectors/x/tasks/1.0/restart", "HTTP 404 Not Found"),
    ("GET", "/connectors/x/tasks-config", "HTTP 404 Not Found"),
    ("GET", "/connectors/x/status/more", "HTTP 404 Not Found"),
]


@pytest.mark.parametrize(("method", "path", "message"), UNKNOWN)
def test_what_is_unknown_is_404_in_connect_s_words(api: RestApi, method: str, path: str, message: str) -> None:
    found = api.call(method, path)
    assert (found.status, found.body) == (404, error(404, message))


def test_a_patch_of_an_unknown_connector(api: RestApi) -> None:
    assert api.call("PATCH", "/connectors/y/config", {}).body == error(404, "Connector y not found")
    offset: dict[str, Any] = {"partition": {}, "offset": None}
    assert api.call("PATCH", "/connectors/y/offsets", {"offsets": [offset]}).body == error(404, "Connector y not found")


@pytest.mark.parametrize(
    "path", ["A->B.MirrorSourceConnector", "A-%3EB.MirrorSourceConnector", "A%2D%3EB%2EMirrorSourceConnector"]
)
def test_a_name_arrives_encoded_or_not(api: RestApi, path: str) -> None:
    api.herder.add("A->B.MirrorSourceConnector")
    assert api.call("GET", f"/connectors/{path}/").body["name"] == "A->B.MirrorSourceConnector"


def test_what_is_made_says_where_it_is(api: RestApi) -> None:
    host = f"localhost:{api.port}"
    body = {"name": "  A->B é ", "config": CONFIG}
    found = api.call("POST", "/connectors/", body, {"Host": host})
    assert (found.status, found.body["name"]) == (201, "A->B é")
    assert found.headers["location"] == f"http://{host}/connectors/A-%3EB%20%C3%A9"
    assert api.call("POST", "/connectors", body).body == error(409, "Connector A->B é already exists")
    found = api.call("PUT", "/connectors/new/config", CONFIG, {"Host": host})
    assert (found.status, found.headers["location"]) == (201, f"http://{host}/connectors/new")
    found = api.call("PUT", "/connectors/new/config", CONFIG)
    assert (found.status, found.headers["location"]) == (200, None)


@pytest.mark.parametrize(
    ("word", "state"),
    [("running", TargetState.STARTED), ("Paused", TargetState.PAUSED), ("STOPPED", TargetState.STOPPED)],
)
def test_a_connector_may_begin_in_any_state(api: RestApi, word: str, state: TargetState) -> None:
    assert api.call("POST", "/connectors", {"name": "y", "config": CONFIG, "initial_state": word}).status == 201
    assert api.herder.states["y"] is state


def test_a_configuration_is_given_back_as_it_came_with_scalars_as_texts(api: RestApi) -> None:
    numbers = b'"a": 60, "b": false, "c": 1.50, "d": 1E+3, "e": 12345678901234567890'
    raw = b'{"connector.class": "%s", ' + numbers + b', "f": "\\u00e9"}'
    assert api.call("PUT", "/connectors/y/config", raw % SOURCE.encode()).status == 201
    texts = {"a": "60", "b": "false", "c": "1.50", "d": "1E+3", "e": "12345678901234567890", "f": "é"}
    assert api.call("GET", "/connectors/y/config").body == {**CONFIG, **texts, "name": "y"}


def test_a_patch_changes_adds_and_with_null_removes(api: RestApi) -> None:
    api.call("PUT", "/connectors/x/config", {**CONFIG, "a": "1", "b": "2"})
    found = api.call("PATCH", "/connectors/x/config", {"a": 9, "b": None, "c": True, "unknown": None})
    assert (found.status, found.body["config"]) == (200, {**CONFIG, "name": "x", "a": "9", "c": "true"})


INVALID_TAIL = (
    "You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`"
)
INVALID = [
    (
        {**CONFIG, "bad": "1", "z": None},
        "Connector configuration is invalid and contains the following 2 error(s):\n"
        f"Invalid value for configuration bad\nNull value for z\n{INVALID_TAIL}",
    ),
    ({"topics": "a"}, "no connector type"),
    ({**CONFIG, "name": "z"}, "Connector name configuration (z) doesn't match connector name in the URL (y)"),
    ({**CONFIG, "a": {}}, "Cannot deserialize value of a: it is no string, number or boolean"),
    ({**CONFIG, "a": ["b"]}, "Cannot deserialize value of a: it is no string, number or boolean"),
    ([1], "Cannot deserialize value: a JSON object is wanted"),
]


@pytest.mark.parametrize(("config", "message"), INVALID)
def test_a_configuration_that_cannot_be_is_400_and_nothing_is_made(api: RestApi, config: object, message: str) -> None:
    for method, path, body in [
        ("PUT", "/connectors/y/config", config),
        ("POST", "/connectors", {"name": "y", "config": config}),
    ]:
        found = api.call(method, path, body)
        assert (found.status, found.body) == (400, error(400, message))
    assert [*api.herder.configs] == ["x"]


def test_a_patch_is_checked_as_a_whole(api: RestApi) -> None:
    found = api.call("PATCH", "/connectors/x/config", {"connector.class": None})
    assert found.body == error(400, "no connector type")
    assert api.call("PATCH", "/connectors/x/config", {"name": "z"}).status == 400
    assert api.herder.configs["x"] == {"name": "x", **CONFIG}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"config": {**CONFIG, "name": "z"}},
            "Connector name configuration (z) doesn't match connector name in the URL ()",
        ),
        ({"name": [], "config": CONFIG}, "Cannot deserialize value of name"),
        ({"name": "y"}, "a JSON object is wanted"),
        ({"name": "y", "config": None}, "a JSON object is wanted"),
        ({"name": "y", "config": CONFIG, "initial_state": "ASLEEP"}, "'ASLEEP' is none of RUNNING, PAUSED, STOPPED"),
        ({"name": "y", "config": CONFIG, "initial_state": 1}, "'1' is none of"),
        (
            {"name": "y", "config": CONFIG, "colour": 1},
            'Unrecognized field "colour", known are: name, config, initial_state',
        ),
        ({"name": "y", "config": {**CONFIG, "name": "z"}}, "Connector name configuration (z) doesn't match"),
        ([], "a JSON object is wanted"),
        (b"{", "The body is no JSON"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'"\xff"', "The body is no JSON"),
        (b"[" * 100_000, "The body is no JSON"),
        (b"", "The body is no JSON"),
    ],
)
def test_a_creation_that_cannot_be(api: RestApi, body: object, words: str) -> None:
    found = api.call("POST", "/connectors", body)
    assert (found.status, found.body["error_code"]) == (400, 400)
    assert words in found.body["message"]
    assert [*api.herder.configs] == ["x"]


def test_offsets_are_numbers_and_null_forgets(api: RestApi) -> None:
    partition = {"cluster": "A", "partition": 0, "topic": "t"}
    body = {"offsets": [{"partition": partition, "offset": {"offset": 41}}, {"partition": {"a": 1}, "offset": None}]}
    found = api.call("PATCH", "/connectors/x/offsets", body)
    assert (found.status, found.body) == (
        200,
        {"message": "The offsets for this connector have been altered successfully"},
    )
    assert api.herder.offsets == [ConnectorOffset(partition, {"offset": 41}), ConnectorOffset({"a": 1}, None)]
    assert api.call("GET", "/connectors/x/offsets").body == body
    found = api.call("DELETE", "/connectors/x/offsets")
    assert (found.status, found.body) == (
        200,
        {"message": "The offsets for this connector have been reset successfully"},
    )
    assert api.call("GET", "/connectors/x/offsets").body == {"offsets": []}


NO_OFFSETS = "Partitions / offsets need to be provided for an alter offsets request"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, NO_OFFSETS),
        ({"offsets": []}, NO_OFFSETS),
        ({"offsets": None}, NO_OFFSETS),
        ({"offsets": "all"}, "it is no array"),
        ({"offsets": [1]}, "Cannot construct instance of an offset"),
        ({"offsets": [{"partition": [], "offset": {}}]}, "Cannot construct instance of an offset"),
        ({"offsets": [{"partition": {}, "offset": 3}]}, "Cannot construct instance of an offset"),
        ({"offsets": [{"partition": {}, "offset": {}, "more": 1}]}, "Cannot construct instance of an offset"),
        ({"more": 1}, 'Unrecognized field "more"'),
    ],
)
def test_offsets_that_cannot_be(api: RestApi, body: object, words: str) -> None:
    found = api.call("PATCH", "/connectors/x/offsets", body)
    assert (found.status, found.body["error_code"]) == (400, 400)
    assert words in found.body["message"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        (None, "Invalid value  for configuration name: String may not be empty"),
        (" ", "Invalid value  for configuration name: String may not be empty"),
        (
            "a\x01b",
            "Invalid value a\x01b for configuration name: String may not contain control sequences but had the "
            "following ASCII chars: 1",
        ),
    ],
)
def test_a_name_that_cannot_be_is_an_error_of_its_configuration(name: str | None, error: str) -> None:
    """The real plug-ins say so, as Connect's do."""
    required = {"source.cluster.alias": "a", "source.cluster.bootstrap.servers": "a:1"}
    config = {**CONFIG, **required, "target.cluster.bootstrap.servers": "b:1"}
    with serving(plugins=MirrorPlugins(), insecure=True, actions=True) as api:
        found = api.call("POST", "/connectors", {"name": name, "config": config})
        assert (found.status, found.body["message"]) == (
            400,
            f"Connector configuration is invalid and contains the following 1 error(s):\n{error}\n{INVALID_TAIL}",
        )
        key = "replication.factor"
        found = api.call("POST", "/connectors", {"name": 1, "config": {**config, key: None}})
        said = f"Non-string value found in original settings for key {key}: null"
        assert (found.status, found.body["message"]) == (400, said)
        assert api.call("POST", "/connectors", {"name": 1, "config": config}).body["name"] == "1"
