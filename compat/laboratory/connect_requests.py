"""The script that real Connect workers answered for `compat/recorded`: each subject of its REST API in a row.

The requests of `SCRIPT` are sent in this order, because later ones find what earlier ones left. Their names say what is
tried. Rule: nothing but rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from compat.laboratory.connect_request import Request, View, ask

SOURCE, CHECKPOINT, HEARTBEAT = (f"A->B.Mirror{kind}Connector" for kind in ("Source", "Checkpoint", "Heartbeat"))
"""The names that Strimzi gives to the three mirror connectors."""
OTHER = "other"
"""A connector for what the others are spared."""
_PACKAGE = "org.apache.kafka.connect.mirror."
_CLASSES = {name: _PACKAGE + name.rpartition(".")[2] for name in (SOURCE, CHECKPOINT, HEARTBEAT)}
_CLUSTERS = {
    "source.cluster.alias": "A",
    "target.cluster.alias": "B",
    "source.cluster.bootstrap.servers": "{source}",
    "target.cluster.bootstrap.servers": "{target}",
}
_SOURCE = {
    "connector.class": _CLASSES[SOURCE],
    "tasks.max": "2",
    **_CLUSTERS,
    "topics": "orders",
    "replication.factor": "1",
    "offset-syncs.topic.replication.factor": "1",
    "sync.topic.acls.enabled": "false",
    "sync.topic.configs.enabled": "false",
}
_CHECKPOINT = {
    "connector.class": _CLASSES[CHECKPOINT],
    "tasks.max": "1",
    **_CLUSTERS,
    "topics": "orders",
    "groups": "readers",
    "checkpoints.topic.replication.factor": "1",
    "offset-syncs.topic.replication.factor": "1",
    "emit.checkpoints.interval.seconds": "1",
    "refresh.groups.interval.seconds": "1",
}
_HEARTBEAT = {
    "connector.class": _CLASSES[HEARTBEAT],
    "tasks.max": "1",
    **_CLUSTERS,
    "heartbeats.topic.replication.factor": "1",
    "emit.heartbeats.interval.seconds": "1",
}
_OTHER = {**_HEARTBEAT, "source.cluster.alias": "C"}
_BROKEN = {**_HEARTBEAT, "target.cluster.bootstrap.servers": "nonsense"}
_FAILING_TASK = {**_SOURCE, "source.consumer.fetch.min.bytes": "nonsense"}
_TEXT, _HTML = "text/plain", "text/html"


_S, _C, _H, _O = (f"/connectors/{quote(each)}" for each in (SOURCE, CHECKPOINT, HEARTBEAT, OTHER))
_ERRORS: View = "errors"


def _states(connector: str, *tasks: str) -> Mapping[str, object]:
    return {"connector": {"state": connector}, "tasks": [{"id": at, "state": each} for at, each in enumerate(tasks)]}


def _running(name: str, tasks: int = 1) -> Request:
    return ask(f"{name} runs", f"GET /connectors/{quote(name)}/status", until=_states("RUNNING", *["RUNNING"] * tasks))


def _create(name: str, config: object) -> Mapping[str, object]:
    return {"name": name, "config": config}


def _other(changed: Mapping[str, object]) -> Mapping[str, object]:
    return _create(OTHER, {**_OTHER, **changed})


_MADE = _create(OTHER, _OTHER)
_ROOT = (
    ask("root", "GET /"),
    ask("root that may be any type", "GET /", accept="text/html,application/xhtml+xml,*/*;q=0.8"),
    ask("root as text alone", "GET /", accept=_TEXT),
    ask("root as HTML alone", "GET /", accept=_HTML),
    ask("root as JSON with a charset", "GET /", accept="application/json;charset=utf-8"),
    ask("root with an Accept that cannot be read", "GET /", accept="nonsense"),
    ask("root by POST", "POST /", {}),
    ask("root by HEAD", "HEAD /"),
    ask("root by OPTIONS", "OPTIONS /", view="kind"),
    ask("health", "GET /health", until={"status": "healthy"}),
    ask("health with a slash", "GET /health/"),
    ask("health by POST", "POST /health", {}),
    ask("unknown path", "GET /nothing"),
    ask("unknown path by PUT", "PUT /nothing", {}),
    ask("unknown path as text alone", "GET /nothing", accept=_TEXT),
    ask("unknown path of a connector", f"GET {_O}/nothing"),
    ask("two slashes", "GET //connectors"),
    ask("connectors by PUT", "PUT /connectors", {}),
    ask("connectors by DELETE", "DELETE /connectors"),
    ask("connectors by PATCH", "PATCH /connectors", {}),
    ask("connectors by a method that nobody knows", "BREW /connectors"),
    ask("connectors by HEAD", "HEAD /connectors"),
    ask("connectors by OPTIONS", "OPTIONS /connectors", view="kind"),
)
_NO_CONNECTOR = (
    ask("no connectors", "GET /connectors"),
    ask("no connectors with a slash", "GET /connectors/"),
    ask("no connectors expanded", "GET /connectors?expand=info&expand=status"),
)
_BAD_BODIES = (
    ask("POST without a body", "POST /connectors"),
    ask("POST with an empty JSON body", "POST /connectors", text=""),
    ask("POST without a type", "POST /connectors", _MADE, content=None),
    ask("POST of text", "POST /connectors", _MADE, content=_TEXT),
    ask("POST of a form", "POST /connectors", text="name=other", content="application/x-www-form-urlencoded"),
    ask("POST of a type that cannot be read", "POST /connectors", {}, content="nonsense"),
    ask("POST of broken JSON", "POST /connectors", text='{"name": "other", '),
    ask("POST of words", "POST /connectors", text="nonsense"),
    ask("POST of an array", "POST /connectors", []),
    ask("POST of a string", "POST /connectors", "other"),
    ask("POST of a number", "POST /connectors", 1),
    ask("POST of null", "POST /connectors", text="null"),
    ask("POST of an empty object", "POST /connectors", {}),
    ask("POST with an unknown field", "POST /connectors", {**_MADE, "unknown": 1}),
    ask("POST with something behind the JSON", "POST /connectors", text='{"name": "other", "config": {}} nonsense'),
)
_BAD_CONNECTORS = (
    ask("POST without a configuration", "POST /connectors", {"name": OTHER}),
    ask("POST with null as configuration", "POST /connectors", _create(OTHER, None)),
    ask("POST with an array as configuration", "POST /connectors", _create(OTHER, [])),
    ask("POST with a string as configuration", "POST /connectors", _create(OTHER, "x")),
    ask("POST without a name", "POST /connectors", {"config": _OTHER}),
    ask("POST with a name in the configuration alone", "POST /connectors", {"config": {**_OTHER, "name": OTHER}}),
    ask("POST with an empty name", "POST /connectors", _create("", _OTHER)),
    ask("POST with a blank name", "POST /connectors", _create("  ", _OTHER)),
    ask("POST with a number as name", "POST /connectors", {"name": 1, "config": {}}),
    ask("POST with a control character in the name", "POST /connectors", _create("a\u0001b", _OTHER)),
    ask("POST with two names", "POST /connectors", _other({"name": "another"})),
    ask("POST with a null value", "POST /connectors", _other({"heartbeats.topic.replication.factor": None})),
    ask("what that left", f"GET {_O}"),
    ask("DELETE of what that left", f"DELETE {_O}"),
    ask("nothing is left of that", f"GET {_O}/status", until=404),
    ask("POST with a null value of an unknown key", "POST /connectors", _other({"unknown": None})),
    ask("POST with a fraction as number of tasks", "POST /connectors", _other({"tasks.max": 1.0})),
    ask("POST with an array value", "POST /connectors", _other({"tasks.max": ["1"]})),
    ask("POST with an object value", "POST /connectors", _other({"tasks.max": {}})),
    ask("POST without a class", "POST /connectors", _create(OTHER, {"topic": "x"})),
    ask("POST with an empty configuration", "POST /connectors", _create(OTHER, {})),
    ask("POST with an empty class", "POST /connectors", _other({"connector.class": ""})),
    ask("POST with a null class", "POST /connectors", _other({"connector.class": None})),
    ask("POST with an unknown class", "POST /connectors", _other({"connector.class": "a.B"})),
    ask(
        "POST with a class that is no connector",
        "POST /connectors",
        _other({"connector.class": "java.lang.String"}),
    ),
    ask(
        "POST of a mirror without its keys", "POST /connectors", _create(SOURCE, {"connector.class": _CLASSES[SOURCE]})
    ),
    ask(
        "POST with two values that are wrong",
        "POST /connectors",
        _create(SOURCE, {**_SOURCE, "tasks.max": "0", "refresh.topics.enabled": "x"}),
    ),
    ask("POST with an unknown initial state", "POST /connectors", {**_MADE, "initial_state": "x"}),
    ask("POST with a number as initial state", "POST /connectors", {**_MADE, "initial_state": 1}),
    ask("POST with an empty initial state", "POST /connectors", {**_MADE, "initial_state": ""}),
    ask("nothing was made", "GET /connectors"),
)
_CREATE = (
    ask("POST of the source connector", "POST /connectors", _create(SOURCE, _SOURCE)),
    _running(SOURCE, 2),
    ask("POST of a name that exists", "POST /connectors", _create(SOURCE, _SOURCE)),
    ask("POST of a name that exists, with nothing right", "POST /connectors", _create(SOURCE, {})),
    ask("PUT of the checkpoint connector", f"PUT {_C}/config", _CHECKPOINT),
    _running(CHECKPOINT),
    ask(
        "POST of a name with blanks, an alias, numbers and booleans",
        "POST /connectors",
        _create(
            f" {HEARTBEAT} ",
            {
                **_HEARTBEAT,
                "connector.class": "MirrorHeartbeatConnector",
                "emit.heartbeats.interval.seconds": 1,
                "emit.heartbeats.enabled": True,
                "tasks.max": 1,
            },
        ),
    ),
    ask("numbers, booleans and the alias as they are kept", f"GET {_H}/config"),
    ask("PUT of the heartbeat connector", f"PUT {_H}/config", _HEARTBEAT),
    _running(HEARTBEAT),
    ask("POST of a connector that is paused", "POST /connectors", {**_MADE, "initial_state": "paused"}),
    ask("a connector that began paused", f"GET {_O}/status", until={"connector": {"state": "PAUSED"}}),
    ask("DELETE of it", f"DELETE {_O}"),
    ask("POST of a connector that is stopped", "POST /connectors", {**_MADE, "initial_state": "STOPPED"}),
    ask("a connector that began stopped", f"GET {_O}/status", until=_states("STOPPED")),
    ask("its info", f"GET {_O}"),
)
_LISTS = (
    ask("connectors", "GET /connectors", view="set"),
    ask("connectors with a slash", "GET /connectors/", view="set"),
    ask("connectors and forward", "GET /connectors?forward=true", view="set"),
    ask("connectors with info", "GET /connectors?expand=info"),
    ask("connectors with status", "GET /connectors?expand=status"),
    ask("connectors with both", "GET /connectors?expand=info&expand=status"),
    ask("connectors with info twice", "GET /connectors?expand=info&expand=info", view="names"),
    ask("connectors with an unknown word", "GET /connectors?expand=nothing"),
    ask("connectors with both in one word", "GET /connectors?expand=info,status"),
    ask("connectors with a word in capitals", "GET /connectors?expand=STATUS"),
    ask("connectors with no word", "GET /connectors?expand="),
    ask("connectors with an unknown parameter", "GET /connectors?unknown=1", view="set"),
)
_NAMES = (
    ask("a name as it stands", "GET /connectors/A->B.MirrorSourceConnector"),
    ask("a name with > encoded", "GET /connectors/A-%3EB.MirrorSourceConnector/config"),
    ask("a name with > in lower case", "GET /connectors/A-%3eB.MirrorSourceConnector/config"),
    ask("a name with - and > encoded", "GET /connectors/A%2D%3EB.MirrorSourceConnector/config"),
    ask("a name with a slash behind", f"GET {_S}/"),
    ask("config with a slash behind", f"GET {_S}/config/"),
    ask("status with a slash behind", f"GET {_S}/status/"),
    ask("two slashes behind", f"GET {_S}//"),
    ask("a name with an encoded slash", "GET /connectors/a%2Fb"),
    ask("a name with an encoded backslash", "GET /connectors/a%5Cb"),
    ask("a name with an encoded percent sign", "GET /connectors/a%25b"),
    ask("a name with a blank", "GET /connectors/a%20b"),
    ask("a name with a plus", "GET /connectors/a+b"),
    ask("a name with a semicolon", "GET /connectors/a;b"),
    ask("a name with an encoded semicolon", "GET /connectors/a%3Bb"),
    ask("a name with an encoded question mark", "GET /connectors/a%3Fb"),
    ask("a name with letters of elsewhere", "GET /connectors/%C3%BC"),
    ask("a name that is no UTF-8", "GET /connectors/%FF"),
    ask("a percent sign that encodes nothing", "GET /connectors/a%zz"),
    ask("an encoded control character", "GET /connectors/a%01b"),
    ask("two dots", "GET /connectors/../connectors"),
    ask("two encoded dots", "GET /connectors/%2e%2e/connectors"),
)
_LOOK = (
    ask("info", f"GET {_S}"),
    ask("info and forward", f"GET {_S}?forward=false"),
    ask("info as text alone", f"GET {_S}", accept=_TEXT),
    ask("info by PUT", f"PUT {_S}", {}),
    ask("info by POST", f"POST {_S}", {}),
    ask("config", f"GET {_S}/config"),
    ask("config by POST", f"POST {_S}/config", {}),
    ask("config by DELETE", f"DELETE {_S}/config"),
    ask("status", f"GET {_S}/status"),
    ask("status by PUT", f"PUT {_S}/status", {}),
    ask("tasks", f"GET {_S}/tasks"),
    ask("tasks by DELETE", f"DELETE {_S}/tasks"),
    ask("tasks by POST, as workers do", f"POST {_S}/tasks", []),
    ask("tasks-config", f"GET {_S}/tasks-config"),
    ask("fence by PUT, as workers do", f"PUT {_S}/fence"),
    ask("task status", f"GET {_S}/tasks/0/status"),
    ask("task status of the second", f"GET {_S}/tasks/1/status"),
    ask("task status with zeros", f"GET {_S}/tasks/00/status"),
    ask("task status of none", f"GET {_S}/tasks/2/status"),
    ask("task status below zero", f"GET {_S}/tasks/-1/status"),
    ask("task status of no number", f"GET {_S}/tasks/x/status"),
    ask("task status of a great number", f"GET {_S}/tasks/99999999999/status"),
    ask("a task without more", f"GET {_S}/tasks/0"),
    ask("info of unknown", "GET /connectors/unknown"),
    ask("config of unknown", "GET /connectors/unknown/config"),
    ask("status of unknown", "GET /connectors/unknown/status"),
    ask("tasks of unknown", "GET /connectors/unknown/tasks"),
    ask("tasks-config of unknown", "GET /connectors/unknown/tasks-config"),
    ask("task status of unknown", "GET /connectors/unknown/tasks/0/status"),
)
_CONFIG = (
    ask("PUT of the same", f"PUT {_C}/config", _CHECKPOINT),
    ask("PUT of the same with its name", f"PUT {_C}/config", {**_CHECKPOINT, "name": CHECKPOINT}),
    _running(CHECKPOINT),
    ask("PUT with another name inside", f"PUT {_C}/config", {**_CHECKPOINT, "name": "another"}),
    ask("PUT with an empty name inside", f"PUT {_C}/config", {**_CHECKPOINT, "name": ""}),
    ask("PUT with null as name inside", f"PUT {_C}/config", {**_CHECKPOINT, "name": None}),
    ask("PUT without a body", f"PUT {_C}/config"),
    ask("PUT of null", f"PUT {_C}/config", text="null"),
    ask("PUT of an empty object", f"PUT {_C}/config", {}),
    ask("PUT of an array", f"PUT {_C}/config", []),
    ask("PUT of broken JSON", f"PUT {_C}/config", text="{"),
    ask("PUT of text", f"PUT {_C}/config", _CHECKPOINT, content=_TEXT),
    ask("PUT with a null value", "PUT /connectors/nulls/config", {**_CHECKPOINT, "groups": None}),
    ask("config that a null value left", "GET /connectors/nulls/config"),
    ask("DELETE of what a null value left", "DELETE /connectors/nulls"),
    ask("nothing is left of a null value", "GET /connectors/nulls/status", until=404),
    ask("PUT with an object value", f"PUT {_C}/config", {**_CHECKPOINT, "groups": {}}),
    ask("PUT with a wrong value", f"PUT {_C}/config", {**_CHECKPOINT, "tasks.max": "x"}),
    ask("PUT with an unknown class", f"PUT {_C}/config", {**_CHECKPOINT, "connector.class": "a.B"}),
    ask("PUT of another source's class", f"PUT {_O}/config", {**_OTHER, "connector.class": "MirrorSource"}),
    ask("what OTHER is then", f"GET {_O}"),
    ask("PUT of OTHER as it was", f"PUT {_O}/config", _OTHER),
    ask("PUT of a new name", "PUT /connectors/new%20one/config", {**_OTHER, "tasks.max": 1}),
    ask("DELETE of the new name", "DELETE /connectors/new%20one"),
    ask("PATCH of one value", f"PATCH {_C}/config", {"emit.checkpoints.interval.seconds": 2, "unknown.key": "kept"}),
    ask("PATCH that removes a key", f"PATCH {_C}/config", {"unknown.key": None, "absent.key": None}),
    ask("PATCH of nothing", f"PATCH {_C}/config", {}),
    ask("PATCH with a wrong value", f"PATCH {_C}/config", {"tasks.max": "x"}),
    ask("PATCH with another name", f"PATCH {_C}/config", {"name": "another"}),
    ask("PATCH that removes the name", f"PATCH {_C}/config", {"name": None}),
    ask("PATCH that removes the class", f"PATCH {_C}/config", {"connector.class": None}),
    ask("PATCH with an array value", f"PATCH {_C}/config", {"groups": []}),
    ask("PATCH of an array", f"PATCH {_C}/config", []),
    ask("PATCH of null", f"PATCH {_C}/config", text="null"),
    ask("PATCH without a body", f"PATCH {_C}/config"),
    ask("PATCH of merge-patch+json", f"PATCH {_C}/config", {}, content="application/merge-patch+json"),
    ask("PATCH of unknown", "PATCH /connectors/unknown/config", {}),
    ask("config in the end", f"GET {_C}/config"),
    _running(CHECKPOINT),
)
_STATES = (
    ask("pause", f"PUT {_S}/pause"),
    ask("paused", f"GET {_S}/status", until=_states("PAUSED", "PAUSED", "PAUSED")),
    ask("pause again", f"PUT {_S}/pause"),
    ask("paused task", f"GET {_S}/tasks/0/status"),
    ask("info while paused", f"GET {_S}"),
    ask("config change while paused", f"PUT {_S}/config", {**_SOURCE, "refresh.topics.interval.seconds": "60"}),
    ask("paused after the change", f"GET {_S}/status", until=_states("PAUSED", "PAUSED", "PAUSED")),
    ask("restart with tasks while paused", f"POST {_S}/restart?includeTasks=true"),
    ask("paused after the restart", f"GET {_S}/status", until=_states("PAUSED", "PAUSED", "PAUSED")),
    ask("resume", f"PUT {_S}/resume"),
    ask("resumed", f"GET {_S}/status", until=_states("RUNNING", "RUNNING", "RUNNING")),
    ask("resume again", f"PUT {_S}/resume"),
    ask("stop", f"PUT {_S}/stop"),
    ask("stopped", f"GET {_S}/status", until=_states("STOPPED")),
    ask("stop again", f"PUT {_S}/stop"),
    ask("info while stopped", f"GET {_S}"),
    ask("tasks while stopped", f"GET {_S}/tasks"),
    ask("task status while stopped", f"GET {_S}/tasks/0/status"),
    ask("restart while stopped", f"POST {_S}/restart"),
    ask("restart with tasks while stopped", f"POST {_S}/restart?includeTasks=true"),
    ask("stopped after the restarts", f"GET {_S}/status", until=_states("STOPPED")),
    ask("pause of what is stopped", f"PUT {_S}/pause"),
    ask("paused from stopped", f"GET {_S}/status", until={"connector": {"state": "PAUSED"}}),
    ask("resume of what is paused", f"PUT {_S}/resume"),
    _running(SOURCE, 2),
    ask("resume with an empty object", f"PUT {_S}/resume", {}),
    ask("resume with text", f"PUT {_S}/resume", text="x", content=_TEXT),
    ask("resume with a type and no body", f"PUT {_S}/resume", text="", content=_TEXT),
    ask("resume as text alone", f"PUT {_S}/resume", accept=_TEXT),
    ask("resume with a slash", f"PUT {_S}/resume/"),
    ask("pause by GET", f"GET {_S}/pause"),
    ask("stop by POST", f"POST {_S}/stop"),
    ask("pause of unknown", "PUT /connectors/unknown/pause"),
    ask("resume of unknown", "PUT /connectors/unknown/resume"),
    ask("stop of unknown", "PUT /connectors/unknown/stop"),
)
_RESTARTS = (
    ask("restart", f"POST {_S}/restart"),
    _running(SOURCE, 2),
    ask("restart with both false", f"POST {_S}/restart?includeTasks=false&onlyFailed=false"),
    _running(SOURCE, 2),
    ask("restart with a False of Python", f"POST {_S}/restart?includeTasks=False&onlyFailed=False"),
    _running(SOURCE, 2),
    ask("restart with a word that is no boolean", f"POST {_S}/restart?includeTasks=1"),
    _running(SOURCE, 2),
    ask("restart with no word", f"POST {_S}/restart?includeTasks="),
    _running(SOURCE, 2),
    ask("restart with tasks", f"POST {_S}/restart?includeTasks=true"),
    _running(SOURCE, 2),
    ask("restart with a True of Python", f"POST {_S}/restart?includeTasks=True"),
    _running(SOURCE, 2),
    ask("restart of what failed, where nothing did", f"POST {_S}/restart?onlyFailed=true"),
    ask("restart of all that failed, where nothing did", f"POST {_S}/restart?includeTasks=true&onlyFailed=true"),
    ask("restart with an empty object", f"POST {_S}/restart", {}),
    _running(SOURCE, 2),
    ask("restart with text", f"POST {_S}/restart", text="x", content=_TEXT),
    ask("restart by GET", f"GET {_S}/restart"),
    ask("restart by PUT", f"PUT {_S}/restart"),
    ask("restart of unknown", "POST /connectors/unknown/restart"),
    ask("restart of unknown with tasks", "POST /connectors/unknown/restart?includeTasks=true"),
    ask("restart of a task", f"POST {_S}/tasks/0/restart"),
    _running(SOURCE, 2),
    ask("restart of a task that is no number", f"POST {_S}/tasks/x/restart"),
    ask("restart of a task by GET", f"GET {_S}/tasks/0/restart"),
    ask("restart of a task of unknown", "POST /connectors/unknown/tasks/0/restart"),
    ask("restart of no task of a stopped connector", f"POST {_O}/tasks/0/restart"),
    ask("what that left in its status", f"GET {_O}/status"),
    ask("DELETE of the stopped connector", f"DELETE {_O}"),
    ask("status of the stopped connector that is gone", f"GET {_O}/status", until=404),
    ask("POST of the stopped connector again", "POST /connectors", {**_MADE, "initial_state": "STOPPED"}),
)
_FAILURES = (
    ask("PUT of a connector that fails", "PUT /connectors/broken/config", _BROKEN),
    ask("failed connector", "GET /connectors/broken/status", until=_states("FAILED")),
    ask("info of a failed connector", "GET /connectors/broken"),
    ask("tasks of a failed connector", "GET /connectors/broken/tasks"),
    ask("pause of a failed connector", "PUT /connectors/broken/pause"),
    ask("failed and paused", "GET /connectors/broken/status"),
    ask("resume of a failed connector", "PUT /connectors/broken/resume"),
    ask("failed and resumed", "GET /connectors/broken/status", until=_states("FAILED")),
    ask("restart of a failed connector", "POST /connectors/broken/restart"),
    ask("failed and restarted", "GET /connectors/broken/status", until=_states("FAILED")),
    ask("restart of the failed", "POST /connectors/broken/restart?onlyFailed=true"),
    ask("failed and restarted again", "GET /connectors/broken/status", until=_states("FAILED")),
    ask("DELETE of a failed connector", "DELETE /connectors/broken"),
    ask("PUT of a connector whose tasks fail", "PUT /connectors/failing/config", _FAILING_TASK),
    ask("failed tasks", "GET /connectors/failing/status", until=_states("RUNNING", "FAILED", "FAILED")),
    ask("status of a failed task", "GET /connectors/failing/tasks/1/status"),
    ask("restart of the failed connector, not of its tasks", "POST /connectors/failing/restart?onlyFailed=true"),
    ask("restart of all that failed", "POST /connectors/failing/restart?includeTasks=true&onlyFailed=true"),
    ask("failed tasks after that", "GET /connectors/failing/status", until=_states("RUNNING", "FAILED", "FAILED")),
    ask("restart of a failed task", "POST /connectors/failing/tasks/0/restart"),
    ask("failed tasks again", "GET /connectors/failing/status", until=_states("RUNNING", "FAILED", "FAILED")),
    ask("pause with failed tasks", "PUT /connectors/failing/pause"),
    ask("paused with failed tasks", "GET /connectors/failing/status", until=_states("PAUSED", "FAILED", "FAILED")),
    ask("DELETE with failed tasks", "DELETE /connectors/failing"),
)
_TOPICS = (
    ask("topics", f"GET {_S}/topics", until={SOURCE: {"topics": ["A.orders"]}}),
    ask("topics with a slash", f"GET {_S}/topics/"),
    ask("topics of the heartbeats", f"GET {_H}/topics", until={HEARTBEAT: {"topics": ["heartbeats"]}}),
    ask("topics of unknown", "GET /connectors/unknown/topics"),
    ask("topics by PUT", f"PUT {_S}/topics", {}),
    ask("reset of topics", f"PUT {_S}/topics/reset"),
    ask("topics after the reset", f"GET {_S}/topics", until={SOURCE: {"topics": []}}),
    ask("reset of topics by POST", f"POST {_S}/topics/reset"),
    ask("reset of topics of unknown", "PUT /connectors/unknown/topics/reset"),
)
_NOWHERE = {"offsets": [{"partition": {"cluster": "A", "topic": "orders", "partition": 0}, "offset": {"offset": 1}}]}


def _alter(what: str, partition: object, offset: object, name: str = SOURCE) -> Request:
    return ask(
        f"PATCH of offsets {what}",
        f"PATCH /connectors/{quote(name)}/offsets",
        {"offsets": [{"partition": partition, "offset": offset}]},
    )


_PARTITION = {"cluster": "A", "topic": "orders", "partition": 0}
_OFFSETS = (
    ask("offsets", f"GET {_S}/offsets", until={"offsets": [{}, {}]}),
    ask("offsets with a slash", f"GET {_S}/offsets/"),
    ask("offsets of the checkpoints", f"GET {_C}/offsets", until={"offsets": [{}, {}]}),
    ask("offsets of the heartbeats", f"GET {_H}/offsets", until={"offsets": [{}]}),
    ask("offsets of unknown", "GET /connectors/unknown/offsets"),
    ask("offsets by PUT", f"PUT {_S}/offsets", _NOWHERE),
    ask("offsets by POST", f"POST {_S}/offsets", _NOWHERE),
    ask("PATCH of offsets while running", f"PATCH {_S}/offsets", _NOWHERE),
    ask("DELETE of offsets while running", f"DELETE {_S}/offsets"),
    ask("pause before offsets", f"PUT {_S}/pause"),
    ask("PATCH of offsets while paused", f"PATCH {_S}/offsets", _NOWHERE),
    ask("PATCH of no offsets while paused", f"PATCH {_S}/offsets", {"offsets": []}),
    ask("stop before offsets", f"PUT {_S}/stop"),
    ask("stopped before offsets", f"GET {_S}/status", until=_states("STOPPED")),
    ask("offsets while stopped", f"GET {_S}/offsets"),
    ask("PATCH of offsets without a body", f"PATCH {_S}/offsets"),
    ask("PATCH of offsets, null", f"PATCH {_S}/offsets", text="null"),
    ask("PATCH of offsets, an array", f"PATCH {_S}/offsets", []),
    ask("PATCH of offsets, an empty object", f"PATCH {_S}/offsets", {}),
    ask("PATCH of offsets, an empty list", f"PATCH {_S}/offsets", {"offsets": []}),
    ask("PATCH of offsets, null as list", f"PATCH {_S}/offsets", {"offsets": None}),
    ask("PATCH of offsets, an object as list", f"PATCH {_S}/offsets", {"offsets": {}}),
    ask("PATCH of offsets, an unknown field", f"PATCH {_S}/offsets", {**_NOWHERE, "unknown": 1}),
    ask("PATCH of offsets, broken JSON", f"PATCH {_S}/offsets", text='{"offsets": ['),
    ask(
        "PATCH of offsets, an entry with an unknown field",
        f"PATCH {_S}/offsets",
        {"offsets": [{"partition": _PARTITION, "offset": None, "unknown": 1}]},
    ),
    ask("PATCH of offsets, a null entry", f"PATCH {_S}/offsets", {"offsets": [None]}),
    ask("PATCH of offsets, an empty entry", f"PATCH {_S}/offsets", {"offsets": [{}]}),
    ask(
        "PATCH of offsets, an entry without an offset", f"PATCH {_S}/offsets", {"offsets": [{"partition": _PARTITION}]}
    ),
    _alter("with null as partition", None, {"offset": 1}),
    _alter("with a string as partition", "orders-0", {"offset": 1}),
    _alter("with an empty partition", {}, {"offset": 1}),
    _alter("without a topic", {"cluster": "A", "partition": 0}, {"offset": 1}),
    _alter("without a cluster", {"topic": "orders", "partition": 0}, {"offset": 1}),
    _alter("without a partition", {"cluster": "A", "topic": "orders"}, {"offset": 1}),
    _alter("of another cluster", {**_PARTITION, "cluster": "C"}, {"offset": 1}),
    _alter("with a number as topic", {**_PARTITION, "topic": 1}, {"offset": 1}),
    _alter("with a string as number of a partition", {**_PARTITION, "partition": "0"}, {"offset": 1}),
    _alter("with a fraction as number of a partition", {**_PARTITION, "partition": 0.5}, {"offset": 1}),
    _alter("with a partition below zero", {**_PARTITION, "partition": -1}, {"offset": 1}),
    _alter("with one more key in the partition", {**_PARTITION, "unknown": 1}, {"offset": 1}),
    _alter("with an empty offset", _PARTITION, {}),
    _alter("with a string as offset", _PARTITION, {"offset": "1"}),
    _alter("with a fraction as offset", _PARTITION, {"offset": 1.5}),
    _alter("with an offset below zero", _PARTITION, {"offset": -1}),
    _alter("with null inside the offset", _PARTITION, {"offset": None}),
    _alter("with one more key in the offset", _PARTITION, {"offset": 1, "unknown": 1}),
    _alter("with a number in place of the offset", _PARTITION, 1),
    _alter("with null for a partition without a topic", {"partition": 7}, None),
    ask(
        "PATCH of offsets that names a partition twice",
        f"PATCH {_S}/offsets",
        {"offsets": [*_NOWHERE["offsets"], {"partition": _PARTITION, "offset": {"offset": 3}}]},
    ),
    ask("offsets after the refusals", f"GET {_S}/offsets"),
    _alter("as it should be", _PARTITION, {"offset": 1}),
    ask("offsets after one change", f"GET {_S}/offsets"),
    _alter("of a partition that is not there", {**_PARTITION, "topic": "absent", "partition": 5}, {"offset": 7}),
    _alter("with null", _PARTITION, None),
    ask("offsets after one is forgotten", f"GET {_S}/offsets"),
    ask("DELETE of offsets", f"DELETE {_S}/offsets"),
    ask("no offsets", f"GET {_S}/offsets"),
    ask("DELETE of no offsets", f"DELETE {_S}/offsets"),
    ask("PATCH of offsets of unknown", "PATCH /connectors/unknown/offsets", _NOWHERE),
    ask("PATCH of no offsets of unknown", "PATCH /connectors/unknown/offsets", {"offsets": []}),
    ask("DELETE of offsets of unknown", "DELETE /connectors/unknown/offsets"),
    ask("stop of the heartbeats", f"PUT {_H}/stop"),
    ask("stopped heartbeats", f"GET {_H}/status", until=_states("STOPPED")),
    _alter(
        "of the heartbeats to zero", {"sourceClusterAlias": "A", "targetClusterAlias": "B"}, {"offset": 0}, HEARTBEAT
    ),
    _alter(
        "of the heartbeats to one", {"sourceClusterAlias": "A", "targetClusterAlias": "B"}, {"offset": 1}, HEARTBEAT
    ),
    _alter("of the heartbeats without an alias", {"sourceClusterAlias": "A"}, {"offset": 0}, HEARTBEAT),
    _alter(
        "of the heartbeats of another cluster",
        {"sourceClusterAlias": "C", "targetClusterAlias": "B"},
        {"offset": 0},
        HEARTBEAT,
    ),
    ask("DELETE of offsets of the heartbeats", f"DELETE {_H}/offsets"),
    ask("stop of the checkpoints", f"PUT {_C}/stop"),
    ask("stopped checkpoints", f"GET {_C}/status", until=_states("STOPPED")),
    _alter(
        "of the checkpoints to zero", {"group": "readers", "topic": "orders", "partition": 0}, {"offset": 0}, CHECKPOINT
    ),
    _alter(
        "of the checkpoints to one", {"group": "readers", "topic": "orders", "partition": 0}, {"offset": 1}, CHECKPOINT
    ),
    _alter("of the checkpoints without a group", {"topic": "orders", "partition": 0}, {"offset": 0}, CHECKPOINT),
    ask("DELETE of offsets of the checkpoints", f"DELETE {_C}/offsets"),
    ask("resume after offsets", f"PUT {_S}/resume"),
    _running(SOURCE, 2),
    ask("offsets are there again", f"GET {_S}/offsets", until={"offsets": [{}, {}]}),
)
_P = "/connector-plugins"
_V = f"PUT {_P}/MirrorSourceConnector/config/validate"
_PLUGINS = (
    ask("plugins", f"GET {_P}"),
    ask("plugins with a slash", f"GET {_P}/"),
    ask("plugins that are connectors", f"GET {_P}?connectorsOnly=true", view="names"),
    ask("plugins of all kinds", f"GET {_P}?connectorsOnly=false"),
    ask("plugins with a False of Python", f"GET {_P}?connectorsOnly=False", view="names"),
    ask("plugins with a word that is no boolean", f"GET {_P}?connectorsOnly=x", view="names"),
    ask("plugins by POST", f"POST {_P}", {}),
    ask("definitions of the source connector", f"GET {_P}/{_CLASSES[SOURCE]}/config"),
    ask("definitions of the checkpoint connector", f"GET {_P}/MirrorCheckpointConnector/config"),
    ask("definitions of the heartbeat connector", f"GET {_P}/MirrorHeartbeat/config"),
    ask("definitions with a slash", f"GET {_P}/MirrorHeartbeat/config/", view="names"),
    ask("definitions of the latest version", f"GET {_P}/MirrorHeartbeat/config?version=latest", view="names"),
    ask("definitions of a version that is not there", f"GET {_P}/MirrorHeartbeat/config?version=0.1", view="names"),
    ask("definitions of a version that is no version", f"GET {_P}/MirrorHeartbeat/config?version=[", view="names"),
    ask(
        "definitions of a converter", f"GET {_P}/org.apache.kafka.connect.storage.StringConverter/config", view="names"
    ),
    ask("definitions of unknown", f"GET {_P}/Unknown/config"),
    ask("definitions in lower case", f"GET {_P}/mirrorsourceconnector/config"),
    ask("definitions by PUT", f"PUT {_P}/MirrorSource/config", {}),
    ask("a plugin without more", f"GET {_P}/MirrorSource"),
)
_VALIDATE = (
    ask("validate what is right", f"PUT {_P}/{_CLASSES[SOURCE]}/config/validate", {**_SOURCE, "name": SOURCE}),
    ask("validate with a slash", f"{_V}/", {**_SOURCE, "name": SOURCE}, view=_ERRORS),
    ask("validate without a name", _V, _SOURCE, view=_ERRORS),
    ask("validate a class alone", _V, {"connector.class": _CLASSES[SOURCE]}, view=_ERRORS),
    ask("validate as AKHQ does", _V, {"connector.class": _CLASSES[SOURCE], "topics": "orders"}, view=_ERRORS),
    ask("validate by the short path", f"PUT {_P}/MirrorSource/config/validate", _SOURCE, view=_ERRORS),
    ask(
        "validate the short class by the full path",
        f"PUT {_P}/{_CLASSES[SOURCE]}/config/validate",
        {**_SOURCE, "connector.class": "MirrorSource"},
        view=_ERRORS,
    ),
    ask(
        "validate the short class by the short path",
        f"PUT {_P}/MirrorSource/config/validate",
        {**_SOURCE, "connector.class": "MirrorSourceConnector"},
        view=_ERRORS,
    ),
    ask("validate by the path of another", f"PUT {_P}/MirrorHeartbeatConnector/config/validate", _SOURCE),
    ask("validate by an end of the name", f"PUT {_P}/SourceConnector/config/validate", _SOURCE, view=_ERRORS),
    ask("validate an unknown class", f"PUT {_P}/Unknown/config/validate", {"connector.class": "Unknown"}, view=_ERRORS),
    ask("validate an unknown class by another path", _V, {"connector.class": "Unknown"}),
    ask("validate without a class", _V, {"topics": "orders"}, view=_ERRORS),
    ask("validate an empty class", _V, {"connector.class": ""}, view=_ERRORS),
    ask("validate a null class", _V, {"connector.class": None}, view=_ERRORS),
    ask("validate an empty object", _V, {}, view=_ERRORS),
    ask("validate null", _V, text="null"),
    ask("validate an array", _V, []),
    ask("validate without a body", _V),
    ask("validate text", _V, _SOURCE, content=_TEXT),
    ask("validate broken JSON", _V, text="{"),
    ask("validate an object value", _V, {**_SOURCE, "topics": {}}),
    ask("validate null values", _V, {**_SOURCE, "topics": None, "unknown.key": None, "tasks.max": None}, view=_ERRORS),
    ask(
        "validate numbers and booleans", _V, {**_SOURCE, "tasks.max": 2, "refresh.topics.enabled": False}, view=_ERRORS
    ),
    ask(
        "validate wrong values",
        _V,
        {
            **_SOURCE,
            "tasks.max": "0",
            "refresh.topics.interval.seconds": "x",
            "refresh.topics.enabled": "yes",
            "replication.policy.class": "a.B",
            "offset.lag.max": "",
        },
        view=_ERRORS,
    ),
    ask(
        "validate wrong values of the framework",
        _V,
        {
            **_SOURCE,
            "transforms": "t",
            "errors.tolerance": "some",
            "key.converter": "a.B",
            "config.action.reload": "x",
            "exactly.once.support": "maybe",
        },
        view=_ERRORS,
    ),
    ask(
        "validate exactly once where it can be",
        _V,
        {**_SOURCE, "exactly.once.support": "required", "transaction.boundary": "connector"},
        view=_ERRORS,
    ),
    ask("validate a blank and a control character in the name", _V, {**_SOURCE, "name": " \u0001"}, view=_ERRORS),
    ask("validate an empty name", _V, {**_SOURCE, "name": ""}, view=_ERRORS),
    ask(
        "validate unknown keys",
        _V,
        {
            **_SOURCE,
            "header.converter": "org.apache.kafka.connect.storage.SimpleHeaderConverter",
            "source.cluster.ssl.key.type": "x",
            "what.is.this": "y",
        },
        view=_ERRORS,
    ),
    ask("validate a password", _V, {**_SOURCE, "sasl.jaas.config": "secret", "ssl.key.password": "secret"}),
    ask("validate a placeholder", _V, {**_SOURCE, "topics": "${file:/tmp/x:y}"}, view=_ERRORS),
    ask("validate by POST", f"POST {_P}/MirrorSource/config/validate", _SOURCE),
    ask("validate by GET", f"GET {_P}/MirrorSource/config/validate"),
)
_L = "/admin/loggers"
_MIRROR = "org.apache.kafka.connect.mirror"
_LOGGERS = (
    ask("loggers", f"GET {_L}", view="mirror loggers"),
    ask("loggers with a slash", f"GET {_L}/", view="mirror loggers"),
    ask("root logger", f"GET {_L}/root"),
    ask("root logger in capitals", f"GET {_L}/ROOT"),
    ask("a logger", f"GET {_L}/{_MIRROR}.MirrorSourceTask"),
    ask("a logger with a slash", f"GET {_L}/{_MIRROR}.MirrorSourceTask/"),
    ask("the logger of a package", f"GET {_L}/{_MIRROR}"),
    ask("a logger that is not there", f"GET {_L}/not.there"),
    ask("level of a package", f"PUT {_L}/{_MIRROR}", {"level": "ERROR"}),
    ask("the package after that", f"GET {_L}/{_MIRROR}"),
    ask("a logger after that", f"GET {_L}/{_MIRROR}.MirrorSourceTask"),
    ask("loggers after that", f"GET {_L}", view="mirror loggers"),
    ask("level in lower case", f"PUT {_L}/{_MIRROR}.MirrorSourceTask", {"level": "error"}),
    ask("level OFF", f"PUT {_L}/{_MIRROR}.MirrorSourceTask", {"level": "OFF"}),
    ask("level FATAL", f"PUT {_L}/{_MIRROR}.MirrorSourceTask", {"level": "FATAL"}),
    ask("level of a logger that is not there", f"PUT {_L}/not.there", {"level": "ERROR"}),
    ask("the logger that was not there", f"GET {_L}/not.there"),
    ask("level of root", f"PUT {_L}/root", {"level": "ERROR"}, view="mirror loggers"),
    ask("level for this worker", f"PUT {_L}/{_MIRROR}?scope=worker", {"level": "ERROR"}),
    ask("level for the cluster", f"PUT {_L}/{_MIRROR}?scope=cluster", {"level": "ERROR"}),
    ask("level for an unknown scope", f"PUT {_L}/{_MIRROR}?scope=all", {"level": "ERROR"}),
    ask("level for the cluster in capitals", f"PUT {_L}/{_MIRROR}?scope=CLUSTER", {"level": "ERROR"}),
    ask("unknown level", f"PUT {_L}/{_MIRROR}", {"level": "HIGH"}),
    ask("unknown level for the cluster", f"PUT {_L}/{_MIRROR}?scope=cluster", {"level": "HIGH"}),
    ask("no level", f"PUT {_L}/{_MIRROR}", {}),
    ask("null as level", f"PUT {_L}/{_MIRROR}", {"level": None}),
    ask("empty level", f"PUT {_L}/{_MIRROR}", {"level": ""}),
    ask("number as level", f"PUT {_L}/{_MIRROR}", {"level": 1}),
    ask("level with another field", f"PUT {_L}/{_MIRROR}", {"level": "ERROR", "unknown": "x"}),
    ask("level without a body", f"PUT {_L}/{_MIRROR}"),
    ask("level of null", f"PUT {_L}/{_MIRROR}", text="null"),
    ask("level by POST", f"POST {_L}/{_MIRROR}", {"level": "ERROR"}),
    ask("logger by DELETE", f"DELETE {_L}/{_MIRROR}"),
)
_DELETE = (
    ask("DELETE with another name of it", "DELETE /connectors/A-%3EB.MirrorHeartbeatConnector?forward=true"),
    ask("status of what is gone", f"GET {_H}/status", until=404),
    ask("info of what is gone", f"GET {_H}"),
    ask("offsets of what is gone", f"GET {_H}/offsets"),
    ask("topics of what is gone", f"GET {_H}/topics"),
    ask("DELETE again", f"DELETE {_H}"),
    ask("DELETE of a running connector with a slash", f"DELETE {_S}/"),
    ask("status of a running connector that is gone", f"GET {_S}/status", until=404),
    ask("DELETE with a body", f"DELETE {_C}", {}),
    ask("DELETE of OTHER", f"DELETE {_O}"),
    ask("DELETE of unknown", "DELETE /connectors/unknown"),
    ask("no connector is left", "GET /connectors", until=[]),
)


def _numbered(script: Mapping[str, Sequence[Request]]) -> Mapping[str, Sequence[Request]]:
    """Give a request that comes again a number behind its name."""
    seen: Counter[str] = Counter()

    def named(request: Request) -> Request:
        seen[request.name] += 1
        number = seen[request.name]
        return request if number == 1 else replace(request, name=f"{request.name} ({number})")

    return {subject: tuple(map(named, requests)) for subject, requests in script.items()}


SCRIPT = _numbered(
    {
        "root": _ROOT,
        "no connector": _NO_CONNECTOR,
        "bad bodies": _BAD_BODIES,
        "bad connectors": _BAD_CONNECTORS,
        "create": _CREATE,
        "lists": _LISTS,
        "names": _NAMES,
        "look": _LOOK,
        "topics": _TOPICS,
        "config": _CONFIG,
        "states": _STATES,
        "restarts": _RESTARTS,
        "failures": _FAILURES,
        "offsets": _OFFSETS,
        "plugins": _PLUGINS,
        "validate": _VALIDATE,
        "loggers": _LOGGERS,
        "delete": _DELETE,
    }
)
"""Subject -> its requests."""
SWITCHED_OFF = (
    ask("topics where tracking is off", f"GET {_O}/topics"),
    ask("reset of topics where tracking is off", f"PUT {_O}/topics/reset"),
    ask("loggers where they are off", f"GET {_L}"),
    ask("a logger where they are off", f"GET {_L}/root"),
)
"""The requests for a worker with `SWITCHES`."""
SWITCHES = {"topic.tracking.enable": "false", "topic.tracking.allow.reset": "false", "admin.listeners": ""}
