"""The herder of one process: what those of both commands have in common, and the answers in Connect's words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus

from legacy_mm import __version__
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import LegacyMMError, one_line
from legacy_mm.base.option import OptionValue
from legacy_mm.clients.group.group_protocol import DescribedGroup
from legacy_mm.connect.entities import (
    RELEASE,
    Config,
    ConnectorInfo,
    ConnectorStatus,
    ConnectRestError,
    Reported,
    ReportedState,
    ServerInfo,
    TargetState,
    WorkerStatus,
)
from legacy_mm.connect.reload_plan import ReloadPlan
from legacy_mm.flow import key_stores
from legacy_mm.flow.admin_clients import AdminClients
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from legacy_mm.flow.position_book import position_book
from legacy_mm.logs import root_logger
from legacy_mm.metrics.health import Phase

ALTERED = "The offsets for this connector have been altered successfully"
RESET = "The offsets for this connector have been reset successfully"
_ASK_TIMEOUT, _DESCRIBE_TIMEOUT = 10.0, 5.0
_STARTING = "Worker is still starting up."
_HEALTHY = "Worker has completed startup and is ready to handle requests."
_UNHEALTHY = "Worker was unable to handle this request and may be unable to handle other requests. It {phase}."
_NOT_STOPPED = (
    "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified "
    "connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
)
_NO_RELOAD = (
    "A reload reads MirrorMaker 2's file again, or the files of a command line of kafka-mirror-maker.sh. Change the "
    "connectors of this process by their configurations: PUT /connectors/NAME/config, or legacy-mm ctl set"
)


class ProcessHerder(ABC):
    """A herder of flows of this process, which is a worker of its own."""

    def __init__(self, host: Host, worker_id: str) -> None:
        """Take what the flows share; `worker_id` is `host:port`."""
        self._host = host
        self._worker_id = worker_id
        self._cluster_id = ""

    @abstractmethod
    def connector_info(self, name: str) -> ConnectorInfo:
        """Return a connector as it is configured."""

    @abstractmethod
    def _settings(self) -> Iterable[Settings]:
        """Return the settings of the flows, without what key stores hold."""

    def server_info(self) -> ServerInfo:
        """Return Connect's release, our version as its commit, and the id of the first target that answers."""
        for settings in () if self._cluster_id else self._settings():
            with suppress(LegacyMMError):
                _, target = AdminClients(self._with_stores(settings)).ends()
                self._cluster_id = target.cluster_id(Deadline.after(_ASK_TIMEOUT))
                break
        return ServerInfo(RELEASE, f"legacy_mm-{__version__}", self._cluster_id)

    def worker_status(self) -> WorkerStatus:
        """Return the health of this process."""
        phase = self._host.phase
        if phase is Phase.STARTING:
            return WorkerStatus(HTTPStatus.SERVICE_UNAVAILABLE, "starting", _STARTING)
        if phase is Phase.RUNNING:
            return WorkerStatus(HTTPStatus.OK, "healthy", _HEALTHY)
        said = _UNHEALTHY.format(phase=phase.value)
        return WorkerStatus(HTTPStatus.INTERNAL_SERVER_ERROR, "unhealthy", said)

    def task_configs(self, name: str) -> Sequence[Config]:
        """Return the configuration of a connector for each of its tasks."""
        info = self.connector_info(name)
        return [info.config] * info.tasks

    def flow_options(self, flow: str) -> Sequence[OptionValue]:
        """Return none: the configurations of the connectors are all that there is."""
        return ()

    def flow_group(self, flow: str) -> DescribedGroup:
        """Ask the coordinator of the group."""
        for settings in self._settings():
            if settings.flow == flow:
                with failures():
                    return position_book(self._with_stores(settings)).described(Deadline.after(_DESCRIBE_TIMEOUT))
        raise not_found(f"Flow {flow} does not run here")

    def reload(self, *, dry_run: bool) -> ReloadPlan:
        """Raise 403: there is nothing here that could be read again."""
        raise ConnectRestError(HTTPStatus.FORBIDDEN, _NO_RELOAD)

    def _reported(self, state: ReportedState, trace: str = "") -> Reported:
        return Reported(state, self._worker_id, trace, RELEASE)

    def _with_stores(self, settings: Settings) -> Settings:
        """Return the settings with the content of their key stores; raises LegacyMMError, and no flow ends by that."""
        return key_stores.with_stores(settings, lambda: self._host.spark.jvm)


def restarting(status: ConnectorStatus, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
    """Return the status that answers a restart: those that are concerned are RESTARTING."""

    def told(each: Reported, *, is_asked: bool) -> Reported:
        is_concerned = is_asked and (each.state is ReportedState.FAILED or not only_failed)
        return Reported(ReportedState.RESTARTING, each.worker_id, "", each.version) if is_concerned else each

    tasks = [told(each, is_asked=include_tasks) for each in status.tasks]
    return ConnectorStatus(status.name, told(status.connector, is_asked=True), tasks)


def news(sent: Mapping[str, float], before: Mapping[str, float]) -> list[str]:
    """Return the topics that have had records since a reset, of topics with the numbers of their records."""
    return sorted(topic for topic, number in sent.items() if number != before.get(topic))


def require_stopped(name: str, state: TargetState) -> None:
    """Raise 400 for a connector whose offsets cannot be changed because it is not stopped."""
    if state is not TargetState.STOPPED:
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, _NOT_STOPPED.format(name=name))


def not_found(message: str) -> ConnectRestError:
    """Return the error for what is not there."""
    return ConnectRestError(HTTPStatus.NOT_FOUND, message)


@contextmanager
def refusals() -> Iterator[None]:
    """Answer 400, with the reason, where something cannot be used as it is configured."""
    try:
        yield
    except LegacyMMError as error:
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, root_logger.hidden(one_line(error))) from error


@contextmanager
def failures() -> Iterator[None]:
    """Answer 500, with the reason, where a cluster does not do what is asked."""
    try:
        yield
    except LegacyMMError as error:
        raise ConnectRestError(HTTPStatus.INTERNAL_SERVER_ERROR, one_line(error)) from error
