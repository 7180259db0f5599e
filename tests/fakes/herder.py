"""A `Herder` and its plug-ins in memory: what the REST API is asked comes here, and what it answers comes from here."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from typing_extensions import override

from legacy_mm.base.option import OptionValue
from legacy_mm.clients.group.group_protocol import DescribedGroup
from legacy_mm.connect.entities import (
    Config,
    ConnectorInfo,
    ConnectorOffset,
    ConnectorStatus,
    ConnectRestError,
    JsonObject,
    Reported,
    ReportedState,
    ServerInfo,
    TargetState,
    WorkerStatus,
)
from legacy_mm.connect.herder import Herder
from legacy_mm.connect.plugins import ConnectorPlugins, GivenConfig, PluginInfo
from legacy_mm.connect.reload_plan import ReloadPlan

SOURCE = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
WORKER = "host:8083"
_STATES = {
    TargetState.STARTED: ReportedState.RUNNING,
    TargetState.PAUSED: ReportedState.PAUSED,
    TargetState.STOPPED: ReportedState.STOPPED,
}


def not_found(message: str) -> ConnectRestError:
    return ConnectRestError(HTTPStatus.NOT_FOUND, message)


class FakeHerder(Herder):
    """Keeps configurations and target states; each connector that is not stopped has two tasks."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget everything."""
        self.configs: dict[str, Config] = {}
        self.states: dict[str, TargetState] = {}
        self.flows: dict[str, str] = {}
        self.without_status: set[str] = set()
        self.calls: list[tuple[object, ...]] = []
        self.health = WorkerStatus(HTTPStatus.OK, "healthy", "Worker has completed startup.")
        self.offsets: list[ConnectorOffset] = []
        self.failure: Exception | None = None
        self.plan = ReloadPlan([])
        self.group = DescribedGroup("mirror", "Stable")
        self.options: dict[str, Sequence[OptionValue]] = {}

    def add(self, name: str, state: TargetState = TargetState.STARTED) -> None:
        """Make a connector."""
        self.configs[name] = {"name": name, "connector.class": SOURCE}
        self.states[name] = state

    def _known(self, name: str, message: str = "Connector {} not found") -> str:
        if self.failure is not None:
            raise self.failure
        if name not in self.configs:
            raise not_found(message.format(name))
        return name

    @override
    def server_info(self) -> ServerInfo:
        return ServerInfo("4.3.0", "0123456789abcdef", "cluster")

    @override
    def worker_status(self) -> WorkerStatus:
        return self.health

    @override
    def connectors(self) -> Sequence[str]:
        return [*self.configs]

    @override
    def connector_info(self, name: str) -> ConnectorInfo:
        config = self.configs[self._known(name)]
        return ConnectorInfo(name, config, len(self.task_configs(name)), flow=self.flows.get(name, name))

    @override
    def connector_status(self, name: str) -> ConnectorStatus:
        self._known(name, "No status found for connector {}")
        if name in self.without_status:
            raise not_found(f"No status found for connector {name}")
        found = Reported(_STATES[self.states[name]], WORKER)
        return ConnectorStatus(name, found, [found] * len(self.task_configs(name)))

    @override
    def task_configs(self, name: str) -> Sequence[Config]:
        config = self.configs[self._known(name)]
        return [] if self.states[name] is TargetState.STOPPED else [config, config]

    @override
    def create_connector(self, name: str, config: Config, initial_state: TargetState) -> ConnectorInfo:
        if name in self.configs:
            raise ConnectRestError(HTTPStatus.CONFLICT, f"Connector {name} already exists")
        self.configs[name], self.states[name] = config, initial_state
        return self.connector_info(name)

    @override
    def put_connector_config(self, name: str, config: Config) -> tuple[bool, ConnectorInfo]:
        is_new = name not in self.configs
        self.configs[name] = config
        self.states.setdefault(name, TargetState.STARTED)
        return is_new, self.connector_info(name)

    @override
    def delete_connector(self, name: str) -> None:
        del self.configs[self._known(name)]

    @override
    def set_target_state(self, name: str, state: TargetState) -> None:
        self.states[self._known(name, "Unknown connector {}")] = state

    @override
    def restart_connector(self, name: str) -> None:
        self.calls.append(("restart", self._known(name, "Unknown connector: {}")))

    @override
    def restart_connector_and_tasks(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        self.calls.append(("restart", self._known(name, "Unknown connector: {}"), include_tasks, only_failed))
        found = Reported(ReportedState.RESTARTING, WORKER)
        return ConnectorStatus(name, found, [found, found])

    @override
    def restart_task(self, name: str, task: int) -> None:
        self.calls.append(("restart task", self._known(name, f"Unknown task: {{}}-{task}"), task))

    @override
    def active_topics(self, name: str) -> Sequence[str]:
        return ["orders"] if name in self.configs else []

    @override
    def reset_active_topics(self, name: str) -> None:
        self.calls.append(("reset topics", name))

    @override
    def connector_offsets(self, name: str) -> Sequence[ConnectorOffset]:
        self._known(name)
        return self.offsets

    @override
    def alter_connector_offsets(self, name: str, offsets: Sequence[ConnectorOffset]) -> str:
        self._known(name)
        self.offsets = [*offsets]
        return "The offsets for this connector have been altered successfully"

    @override
    def reset_connector_offsets(self, name: str) -> str:
        self._known(name)
        self.offsets = []
        return "The offsets for this connector have been reset successfully"

    @override
    def flow_options(self, flow: str) -> Sequence[OptionValue]:
        return self.options.get(flow, ())

    @override
    def flow_group(self, flow: str) -> DescribedGroup:
        if self.failure is not None:
            raise self.failure
        self.calls.append(("group", flow))
        return self.group

    @override
    def reload(self, *, dry_run: bool) -> ReloadPlan:
        if self.failure is not None:
            raise self.failure
        self.calls.append(("reload", dry_run))
        return self.plan


class FakePlugins(ConnectorPlugins):
    """One connector, in whose configuration `bad` is an error, and so is a null."""

    @override
    def plugins(self) -> Sequence[PluginInfo]:
        return [PluginInfo(SOURCE, "source", "4.3.0"), PluginInfo("org.apache.X", "transformation")]

    @override
    def definitions(self, plugin: str) -> Sequence[JsonObject]:
        if not SOURCE.endswith(plugin):
            raise not_found(f"Unknown plugin {plugin}.")
        return [{"name": "topics", "type": "LIST"}]

    @override
    def validate(self, plugin: str, config: GivenConfig) -> tuple[JsonObject, int]:
        if not plugin:
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, "no connector type")
        errors = {key: [f"Null value for {key}"] for key, value in config.items() if value is None}
        if "bad" in config:
            errors["bad"] = ["Invalid value for configuration bad"]
        configs = [
            {"definition": None, "value": {"name": key, "value": value, "errors": errors.get(key, [])}}
            for key, value in config.items()
        ]
        count = sum(map(len, errors.values()))
        return {"name": plugin, "error_count": count, "groups": [], "configs": configs}, count
