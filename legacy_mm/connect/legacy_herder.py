"""The herder of the legacy command: each of its flows is shown as one source connector of MirrorMaker 2.

Its streams can be paused, resumed, stopped and restarted. Its configuration is that of the command line, which changes
with the next start only.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from legacy_mm.connect import mirror_offsets
from legacy_mm.connect.entities import (
    Config,
    ConnectorInfo,
    ConnectorOffset,
    ConnectorStatus,
    ConnectRestError,
    Reported,
    ReportedState,
    TargetState,
)
from legacy_mm.connect.process_herder import (
    ALTERED,
    RESET,
    ProcessHerder,
    failures,
    news,
    not_found,
    require_stopped,
    restarting,
)
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from legacy_mm.flow.mirror import Failures, Mirror
from legacy_mm.metrics.health import Phase
from legacy_mm.metrics.registry import Registry, sent_records

_CLASS = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
_OF_A_LINE = (
    "{what} is not possible here: the mirror is that of a command line of kafka-mirror-maker.sh. Change its words and "
    "files, and start again"
)


@dataclass(slots=True)
class LegacyFlow:
    """A flow of the command line."""

    settings: Settings
    build: Callable[[], Mirror]
    """Makes its mirror anew."""
    target: TargetState = TargetState.STARTED
    topics_before: dict[str, float] = field(default_factory=dict)
    sent_before: dict[str, float] = field(default_factory=dict)
    """The records of mirrors that are gone, by their topics at the target."""

    @property
    def name(self) -> str:
        """The name of the connector that stands for it."""
        return f"{self.settings.flow}.MirrorSourceConnector"

    def config(self) -> Config:
        """Return what MirrorMaker 2 would call its configuration, without a login."""
        settings = self.settings
        return {
            "name": self.name,
            "connector.class": _CLASS,
            "source.cluster.alias": settings.source.name,
            "target.cluster.alias": settings.target.name,
            "source.cluster.bootstrap.servers": ",".join(settings.source.connection.bootstrap_servers),
            "target.cluster.bootstrap.servers": ",".join(settings.target.connection.bootstrap_servers),
            "topics": settings.topics.pattern_text,
            "tasks.max": str(settings.streams),
        }


class LegacyHerder(ProcessHerder):
    """Tells of the mirrors of one command line, and pauses, stops and restarts them."""

    def __init__(self, flows: Sequence[LegacyFlow], mirrors: Sequence[Mirror], host: Host, worker_id: str) -> None:
        """Take the flows, and the list of the mirrors that run for them, which others keep up to date."""
        super().__init__(host, worker_id)
        self._flows = flows
        self._mirrors = mirrors
        self._lock = threading.RLock()

    # --- questions

    def connectors(self) -> Sequence[str]:
        """Return the names of the connectors that stand for the flows."""
        return [each.name for each in self._flows]

    def connector_info(self, name: str) -> ConnectorInfo:
        """Return what the command line says of a flow."""
        flow = self._flows[self._place(name)]
        tasks = len(self.connector_status(name).tasks)
        return ConnectorInfo(name, flow.config(), tasks, flow=flow.settings.flow)

    def connector_status(self, name: str) -> ConnectorStatus:
        """Return what a flow and its streams do."""
        flow = self._flows[self._place(name, f"No status found for connector {name}")]
        state = self._state(flow)
        trace = "the process is ending" if state is ReportedState.FAILED else ""
        outside = frozenset().union(*(each.without_assignment() for each in self._registries(flow)))
        settings, tasks = flow.settings, list[Reported]()
        for stream in range(settings.first_stream, settings.first_stream + settings.streams):
            is_outside = state is ReportedState.RUNNING and settings.client_id(stream) in outside
            tasks.append(self._reported(ReportedState.UNASSIGNED if is_outside else state, trace))
        return ConnectorStatus(name, self._reported(state, trace), [] if state is ReportedState.STOPPED else tasks)

    def active_topics(self, name: str) -> Sequence[str]:
        """Return the topics at the target that records went to."""
        if name not in self.connectors():
            return []
        flow = self._flows[self._place(name)]
        return news(self._sent(flow), flow.topics_before)

    def reset_active_topics(self, name: str) -> None:
        """Tell of none of today's topics again, until records go there."""
        if name in self.connectors():
            flow = self._flows[self._place(name)]
            flow.topics_before = self._sent(flow)

    def connector_offsets(self, name: str) -> Sequence[ConnectorOffset]:
        """Return the last record of each partition that was copied, by what the group has committed."""
        flow = self._flows[self._place(name)]
        with failures():
            return mirror_offsets.offsets(self._with_stores(flow.settings), "source")

    # --- orders

    def create_connector(self, name: str, config: Config, initial_state: TargetState) -> ConnectorInfo:
        """Raise 409 for a flow that is there, else 403."""
        if name in self.connectors():
            raise ConnectRestError(HTTPStatus.CONFLICT, f"Connector {name} already exists")
        raise _forbidden(f"To make connector {name}")

    def put_connector_config(self, name: str, config: Config) -> tuple[bool, ConnectorInfo]:
        """Take the configuration that is there; raise 400 for another one, with a line for each key."""
        if name not in self.connectors():
            raise _forbidden(f"To make connector {name}")
        info = self.connector_info(name)
        keys = sorted(key for key in {*config, *info.config} if config.get(key) != info.config.get(key))
        if keys:
            lines = "\n".join(f"{key} needs a restart" for key in keys)
            raise ConnectRestError(HTTPStatus.BAD_REQUEST, f"{_OF_A_LINE.format(what='A change')}:\n{lines}")
        return False, info

    def delete_connector(self, name: str) -> None:
        """Raise 403, or 404."""
        self._place(name)
        raise _forbidden(f"To delete connector {name}")

    def set_target_state(self, name: str, state: TargetState) -> None:
        """Set what a flow is to do: run, pause or stop.

        One that is paused stays in its group and keeps its partitions; one that is stopped leaves. Both are of this
        process: other members of the group go on.
        """
        with self._lock:
            place = self._place(name, f"Unknown connector {name}")
            flow, mirror = self._flows[place], self._mirrors[place]
            before, flow.target = flow.target, state
            if before is state:
                return
            if state is TargetState.STOPPED:
                mirror.replace(lambda: Mirror((), None, Failures()), paused=False)
            elif before is TargetState.STOPPED:
                mirror.replace(lambda: self._built_again(flow), paused=state is TargetState.PAUSED)
            elif state is TargetState.PAUSED:
                mirror.pause()
            else:
                mirror.resume()

    def restart_connector(self, name: str) -> None:
        """Do nothing: a flow that failed has ended the process, and one that runs goes on."""
        self._place(name, f"Unknown connector: {name}")

    def restart_connector_and_tasks(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        """Let the streams begin again at what is safe."""
        place = self._place(name, f"Unknown connector: {name}")
        status = self.connector_status(name)
        if include_tasks and not only_failed and status.connector.state is ReportedState.RUNNING:
            self._mirrors[place].restart()
        return restarting(status, include_tasks=include_tasks, only_failed=only_failed)

    def restart_task(self, name: str, task: int) -> None:
        """Let one stream begin again at what is safe."""
        unknown = f"Unknown task: {name}-{task}"
        place = self._place(name, unknown)
        status = self.connector_status(name)
        if not 0 <= task < len(status.tasks):
            raise not_found(unknown)
        if status.connector.state is ReportedState.RUNNING:
            self._mirrors[place].restart(task)

    def alter_connector_offsets(self, name: str, offsets: Sequence[ConnectorOffset]) -> str:
        """Commit where copying goes on."""
        flow = self._stopped(name)
        with failures():
            mirror_offsets.alter(self._with_stores(flow.settings), "source", offsets)
        return ALTERED

    def reset_connector_offsets(self, name: str) -> str:
        """Delete the offsets of the group."""
        flow = self._stopped(name)
        with failures():
            mirror_offsets.reset(self._with_stores(flow.settings), "source")
        return RESET

    # --- inside

    def _place(self, name: str, unknown: str = "") -> int:
        names = self.connectors()
        if name not in names:
            raise not_found(unknown or f"Connector {name} not found")
        return names.index(name)

    def _stopped(self, name: str) -> LegacyFlow:
        flow = self._flows[self._place(name)]
        require_stopped(name, flow.target)
        return flow

    def _state(self, flow: LegacyFlow) -> ReportedState:
        if flow.target is TargetState.STOPPED:
            return ReportedState.STOPPED
        if self._host.phase is not Phase.RUNNING:
            return ReportedState.FAILED if self._host.phase is Phase.FAILED else ReportedState.UNASSIGNED
        return ReportedState.PAUSED if flow.target is TargetState.PAUSED else ReportedState.RUNNING

    def _settings(self) -> Iterable[Settings]:
        return (each.settings for each in self._flows)

    def _built_again(self, flow: LegacyFlow) -> Mirror:
        flow.sent_before = self._sent(flow)
        for each in self._registries(flow):
            self._host.registries.remove(each)
        return flow.build()

    def _registries(self, flow: LegacyFlow) -> list[Registry]:
        return [each for each in tuple(self._host.registries) if each.flow == flow.settings.flow]

    def _sent(self, flow: LegacyFlow) -> dict[str, float]:
        now = sent_records(each.snapshot() for each in self._registries(flow))
        return dict(Counter(flow.sent_before) + Counter(now))


def _forbidden(what: str) -> ConnectRestError:
    return ConnectRestError(HTTPStatus.FORBIDDEN, _OF_A_LINE.format(what=what))
