"""The herder of MirrorMaker 2's connectors: those of a driver's file, or those of one standalone worker of Connect.

A change is planned before anything happens: what cannot run is refused, and the flow goes on as it was. What can run
takes the flow's place, with all that was copied committed. Nothing outlives the process, as with Connect's standalone
worker.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.connect import mirror_offsets
from legacy_mm.connect.config_secrets import completed, shown
from legacy_mm.connect.entities import (
    Config,
    ConnectorInfo,
    ConnectorOffset,
    ConnectorStatus,
    ConnectRestError,
    ReportedState,
    TargetState,
)
from legacy_mm.connect.herded_flow import (
    HerdedConnector,
    HerdedFlow,
    connectors_of_driver,
    reading_of_driver,
    reading_of_worker,
)
from legacy_mm.connect.mirror_flows import FlowLife, MirrorFlows
from legacy_mm.connect.process_herder import (
    ALTERED,
    RESET,
    ProcessHerder,
    failures,
    news,
    not_found,
    refusals,
    require_stopped,
    restarting,
)
from legacy_mm.connect.workers import Workers
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow import client_checks
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from legacy_mm.flow.supervisor import SupervisedFlow, Supervisor
from legacy_mm.logs import root_logger
from legacy_mm.words.legacy_tool import java_process
from legacy_mm.words.legacy_tool.console import say_notes
from legacy_mm.words.mirror_maker_2.connect_files import ConnectorFile, connector_of
from legacy_mm.words.mirror_maker_2.driver import DriverRun, RefusedFlow
from legacy_mm.words.mirror_maker_2.driver_file import Pair
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun, translate_flow
from legacy_mm.words.mirror_maker_2.strimzi_files import ConnectorState

_NAME = "name"
_STATES: Mapping[ConnectorState, TargetState] = {
    "running": TargetState.STARTED,
    "paused": TargetState.PAUSED,
    "stopped": TargetState.STOPPED,
}
_OF_A_FILE = (
    "{what} is not possible here: the connectors are those of MirrorMaker 2's file. Change the file and start again, "
    "or run the connectors with legacy-mm connect"
)

_GUARANTEE = (
    "exactly.once says where the flow keeps how far it has copied: stop its source connector, change it, and resume"
)


class MirrorHerder(ProcessHerder):
    """Runs the connectors of a process by the flows that do their work."""

    def __init__(self, outcome: DriverRun, host: Host, supervisor: Supervisor, worker_id: str) -> None:
        """Take the flows as they were read, and run them under this supervisor; `worker_id` is `host:port`."""
        super().__init__(host, worker_id)
        self._supervisor = supervisor
        self._clients = outcome.clients
        self._makes = MirrorFlows(host)
        self._workers = Workers(outcome.files)
        self._flows: list[HerdedFlow] = []
        self._lock = threading.RLock()
        self._makes.know(outcome.flows)
        runs = {each.pair: each for each in outcome.flows}
        refused = {each.pair: each for each in outcome.refused}
        for flow in _read_flows(outcome, runs):
            self._begin(flow, runs.get(flow.pair), refused.get(flow.pair))

    def _begin(self, flow: HerdedFlow, run: FlowRun | None, refused: RefusedFlow | None) -> None:
        """Run a flow as it was translated at the start; one of which a part is paused or stopped is translated anew."""
        flow.life = FlowLife(self._host, str(flow.pair))
        if any(each.target is not TargetState.STARTED for each in flow.connectors):
            try:
                run, refused = self._make(flow, flow.working()), None
            except ConnectRestError as error:
                refused = RefusedFlow(flow.pair, copies=False, error=ConfigurationError(error.message))
        flow.takes(run)
        supervised = self._supervised(flow) if refused is None else self._makes.refused(refused, flow.life)
        flow.keeper = self._supervisor.add(supervised)
        self._flows.append(flow)

    # --- questions

    def connectors(self) -> Sequence[str]:
        """Return the names of the connectors of all flows."""
        with self._lock:
            return [connector.name for flow in self._flows for connector in flow.connectors]

    def connector_info(self, name: str) -> ConnectorInfo:
        """Return a connector as it is configured, its secrets hidden."""
        with self._lock:
            flow, connector = self._known(name)
            tasks = len(self._status(flow, connector).tasks)
            return ConnectorInfo(name, self._shown(connector), tasks, flow=str(flow.pair))

    def connector_status(self, name: str) -> ConnectorStatus:
        """Return what the connector and its tasks do."""
        with self._lock:
            flow, connector = self._known(name, f"No status found for connector {name}")
            return self._status(flow, connector)

    def active_topics(self, name: str) -> Sequence[str]:
        """Return the topics at the target that the connector's records went to."""
        with self._lock:
            found = self._find(name)
            if found is None:
                return []
            flow, connector = found
            return news(flow.topics(connector), connector.topics_before)

    def reset_active_topics(self, name: str) -> None:
        """Tell of none of today's topics again."""
        with self._lock:
            if (found := self._find(name)) is not None:
                flow, connector = found
                connector.topics_before = {topic: n for topic, n in flow.topics(connector).items() if n != math.inf}

    def connector_offsets(self, name: str) -> Sequence[ConnectorOffset]:
        """Return the last record of each partition that was copied, as MirrorMaker 2's connectors say it."""
        flow, connector = self._known(name)
        with failures():
            return mirror_offsets.offsets(self._settings_of(flow), connector.kind)

    # --- orders

    def create_connector(self, name: str, config: Config, initial_state: TargetState) -> ConnectorInfo:
        """Add a connector to its flow, or a flow for it."""
        with self._lock:
            if self._find(name) is not None:
                raise ConnectRestError(HTTPStatus.CONFLICT, f"Connector {name} already exists")
            self._require_workers(f"To make connector {name}")
            self._add(HerdedConnector(name, self._read(name, config, None), initial_state))
            return self.connector_info(name)

    def put_connector_config(self, name: str, config: Config) -> tuple[bool, ConnectorInfo]:
        """Change a connector, or make it; the same configuration restarts nothing."""
        with self._lock:
            found = self._find(name)
            if found is None:
                return True, self.create_connector(name, config, TargetState.STARTED)
            flow, connector = found
            before, after = connector.file, self._read(name, config, connector)
            if not self._is_of(flow, after):
                self._move(flow, connector, after)
            elif after.written != before.written:
                self._change(flow, connector, after)
            return False, self.connector_info(name)

    def delete_connector(self, name: str) -> None:
        """Take a connector out of its flow; a flow without any ends."""
        with self._lock:
            flow, connector = self._known(name)
            self._require_workers(f"To delete connector {name}")
            self._take_out(flow, connector)

    def set_target_state(self, name: str, state: TargetState) -> None:
        """Set what a connector is to do: run, pause or stop.

        A source connector that is paused stays in its group and keeps its partitions; one that is stopped leaves.
        """
        with self._lock:
            flow, connector = self._known(name, f"Unknown connector {name}")
            before, connector.target = connector.target, state
            if before is state:
                return
            if connector.kind == "source" and TargetState.STOPPED not in (before, state):
                flow.pause_or_resume()
                return
            try:
                self._build_again(flow)
            except ConnectRestError:
                connector.target = before
                raise

    def restart_connector(self, name: str) -> None:
        """Start a flow that failed again at once; one that runs goes on, as the tasks of Connect's do."""
        with self._lock:
            flow, connector = self._known(name, f"Unknown connector: {name}")
            if self._status(flow, connector).connector.state is ReportedState.FAILED:
                self._build_again(flow)

    def restart_connector_and_tasks(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        """Start a flow that failed again, or let the streams begin again at what is safe."""
        with self._lock:
            flow, connector = self._known(name, f"Unknown connector: {name}")
            status = self._status(flow, connector)
            if status.connector.state is ReportedState.FAILED:
                self._build_again(flow)
            elif include_tasks and not only_failed and status.connector.state is ReportedState.RUNNING:
                self._restart_streams(flow, connector)
            return restarting(status, include_tasks=include_tasks, only_failed=only_failed)

    def restart_task(self, name: str, task: int) -> None:
        """Let one stream begin again at what is safe."""
        with self._lock:
            unknown = f"Unknown task: {name}-{task}"
            flow, connector = self._known(name, unknown)
            status = self._status(flow, connector)
            if not 0 <= task < len(status.tasks):
                raise not_found(unknown)
            if status.tasks[task].state is ReportedState.FAILED:
                self._build_again(flow)
            elif status.connector.state is ReportedState.RUNNING:
                self._restart_streams(flow, connector, task)

    def alter_connector_offsets(self, name: str, offsets: Sequence[ConnectorOffset]) -> str:
        """Write where copying goes on."""
        flow, connector = self._stopped(name)
        with failures():
            mirror_offsets.alter(self._settings_of(flow), connector.kind, offsets)
        return ALTERED

    def reset_connector_offsets(self, name: str) -> str:
        """Forget where copying was."""
        flow, connector = self._stopped(name)
        with failures():
            mirror_offsets.reset(self._settings_of(flow), connector.kind)
        return RESET

    # --- inside

    def _find(self, name: str) -> tuple[HerdedFlow, HerdedConnector] | None:
        for flow in self._flows:
            for connector in flow.connectors:
                if connector.name == name:
                    return flow, connector
        return None

    def _known(self, name: str, unknown: str = "") -> tuple[HerdedFlow, HerdedConnector]:
        with self._lock:
            if (found := self._find(name)) is None:
                raise not_found(unknown or f"Connector {name} not found")
            return found

    def _stopped(self, name: str) -> tuple[HerdedFlow, HerdedConnector]:
        flow, connector = self._known(name)
        require_stopped(name, connector.target)
        return flow, connector

    def _status(self, flow: HerdedFlow, connector: HerdedConnector) -> ConnectorStatus:
        return flow.status_of(connector, self._reported)

    def _require_workers(self, what: str) -> None:
        if not self._workers:
            raise ConnectRestError(HTTPStatus.FORBIDDEN, _OF_A_FILE.format(what=what))

    def _shown(self, connector: HerdedConnector) -> Config:
        return shown({**connector.file.written, _NAME: connector.name})

    def _read(self, name: str, config: Config, before: HerdedConnector | None) -> ConnectorFile:
        """Read a configuration; raise 400 for one that cannot be used."""
        written = completed(config, {} if before is None else before.file.written)
        if not self._workers and before is not None:
            written = {**written, _NAME: before.file.written[_NAME]}  # the name by which its offsets are kept
        worker = self._workers.of(written, None if before is None else before.file) if self._workers else {}
        with refusals():
            found = connector_of(name, written, worker, root_logger.hide, self._workers.secrets_dir)
        if not self._workers and before is not None and found.key != before.file.key:
            raise ConnectRestError(HTTPStatus.FORBIDDEN, _OF_A_FILE.format(what="Another flow"))
        return found

    def _make(self, flow: HerdedFlow, working: Sequence[ConnectorFile]) -> FlowRun | None:
        """Translate what a flow is to do, and say its notes; raise 400 where that cannot run, and nothing changes."""
        if (run := self._translated(flow, working)) is not None:
            _require_same_guarantee(flow, run)
            say_notes(run.notes, java_process.MIRROR_MAKER_2)
        return run

    def _translated(self, flow: HerdedFlow, working: Sequence[ConnectorFile]) -> FlowRun | None:
        if not working:
            return None
        with refusals():
            reading = flow.read(working)
            for each in working:
                if why := reading.refusals.get(each.kind):
                    raise ConfigurationError(why)
            run = translate_flow(reading, self._clients, flow.first_stream)
            if run.settings.streams > flow.streams:
                run = translate_flow(reading, self._clients, self._free_stream())
            root_logger.hide(run.secrets)
            client_checks.check_logins(run.settings)
        return run

    def _plan_with(self, connector: HerdedConnector) -> None:
        """Raise 400 where no flow can run with this connector; nothing changes."""
        flow = next((each for each in self._flows if self._is_of(each, connector.file)), None)
        others = () if flow is None else (each for each in flow.connectors if each.name != connector.name)
        read = partial(reading_of_worker, self._workers.of(connector.file.properties)) if flow is None else flow.read
        numbers = (self._free_stream(), 0) if flow is None else (flow.first_stream, flow.streams)
        trial = HerdedFlow(read, [*others, connector], connector.file.pair, *numbers)
        self._translated(trial, trial.working())

    def _free_stream(self) -> int:
        return max((flow.first_stream + flow.streams for flow in self._flows), default=0)

    def _build_again(self, flow: HerdedFlow) -> None:
        """Let the flow do what its connectors say."""
        self._takes(flow, self._make(flow, flow.working()))
        flow.keeper.change(self._supervised(flow))

    def _takes(self, flow: HerdedFlow, run: FlowRun | None) -> None:
        flow.takes(run)
        self._makes.know([each.run for each in self._flows if each.run is not None])

    def _supervised(self, flow: HerdedFlow) -> SupervisedFlow:
        if flow.run is None:
            return self._makes.idle(flow.life)
        return replace(self._makes.supervised(flow.run, flow.life), on_start=flow.started)

    def _change(self, flow: HerdedFlow, connector: HerdedConnector, after: ConnectorFile) -> None:
        """Give a connector another configuration, if the flow can run with it."""
        before, connector.file = connector.file, after
        try:
            self._build_again(flow)
        except ConnectRestError:
            connector.file = before
            raise

    def _add(self, connector: HerdedConnector) -> None:
        """Add a connector to the flow of its clusters, or begin that flow."""
        worker = self._workers.of(connector.file.properties)
        flow = next((each for each in self._flows if self._is_of(each, connector.file)), None)
        if flow is not None:
            flow.connectors.append(connector)
            try:
                self._build_again(flow)
            except ConnectRestError:
                flow.connectors.remove(connector)
                raise
            return
        flow = HerdedFlow(partial(reading_of_worker, worker), [connector], connector.file.pair, self._free_stream())
        run = self._make(flow, flow.working())
        self._flows.append(flow)
        flow.life = FlowLife(self._host, str(flow.pair))
        self._takes(flow, run)
        flow.keeper = self._supervisor.add(self._supervised(flow))

    def _is_of(self, flow: HerdedFlow, file: ConnectorFile) -> bool:
        """Return True for a flow of the same clusters, by the same worker."""
        of_flow = flow.connectors[0].file
        return file.key == of_flow.key and self._workers.find(file.properties) is self._workers.find(of_flow.properties)

    def _take_out(self, flow: HerdedFlow, connector: HerdedConnector) -> None:
        """Remove a connector from its flow, and the flow with its last one."""
        flow.connectors.remove(connector)
        if flow.connectors:
            try:
                self._build_again(flow)
            except ConnectRestError:
                flow.connectors.append(connector)
                raise
        else:
            self._flows.remove(flow)
            self._supervisor.remove(flow.keeper)
            flow.life.forget()

    def _move(self, flow: HerdedFlow, connector: HerdedConnector, after: ConnectorFile) -> None:
        """Take a connector from its flow to that of other clusters."""
        self._add(HerdedConnector(connector.name, after, connector.target))
        self._take_out(flow, connector)

    def _restart_streams(self, flow: HerdedFlow, connector: HerdedConnector, task: int | None = None) -> None:
        if connector.kind == "source" and flow.life.mirror is not None:
            flow.life.mirror.restart(task)

    def _settings(self) -> Iterable[Settings]:
        return [flow.run.settings for flow in self._flows if flow.run is not None]

    def _settings_of(self, flow: HerdedFlow) -> Settings:
        """Return the settings of the whole flow, also of what is stopped."""
        with refusals():
            run = translate_flow(flow.read([each.file for each in flow.connectors]), self._clients, flow.first_stream)
            return self._with_stores(run.settings)


def _require_same_guarantee(flow: HerdedFlow, run: FlowRun) -> None:
    """Raise 400 where a flow that copies would keep its positions in another way."""
    copying = [each.settings for each in (flow.run, run) if each is not None and each.settings.streams]
    if len({each.features[EXACTLY_ONCE] is None for each in copying}) > 1:
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, _GUARANTEE)


def _read_flows(outcome: DriverRun, runs: Mapping[Pair, FlowRun]) -> Iterator[HerdedFlow]:
    """Yield the flows as their files say."""
    if outcome.files is None:
        for reading in outcome.readings:
            connectors = connectors_of_driver(reading, runs.get(reading.pair))
            yield HerdedFlow(partial(reading_of_driver, reading), connectors, reading.pair)
        return
    for files in (outcome.files, *outcome.files.beside):
        of_flow: dict[tuple[str, ...], list[HerdedConnector]] = {}
        for each in files.connectors:
            of_flow.setdefault(each.key, []).append(HerdedConnector(each.name, each, _STATES[each.state]))
        for connectors in of_flow.values():
            yield HerdedFlow(partial(reading_of_worker, files.worker), connectors, connectors[0].file.pair)
