"""The answers that every herder gives in the same words: the worker's health, a restart, a connector that runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus

from legacy_mm import __version__
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import LegacyMMError, one_line
from legacy_mm.connect.config_definitions import RELEASE
from legacy_mm.connect.entities import (
    ConnectorStatus,
    ConnectRestError,
    Reported,
    ReportedState,
    ServerInfo,
    TargetState,
    WorkerStatus,
)
from legacy_mm.flow import key_stores
from legacy_mm.flow.admin_clients import AdminClients
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from legacy_mm.metrics.health import Phase

ALTERED = "The offsets for this connector have been altered successfully"
RESET = "The offsets for this connector have been reset successfully"
_ASK_TIMEOUT = 10.0
_STARTING = "Worker is still starting up."
_HEALTHY = "Worker has completed startup and is ready to handle requests."
_UNHEALTHY = "Worker was unable to handle this request and may be unable to handle other requests. It {phase}."
_NOT_STOPPED = (
    "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified "
    "connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
)


def server_info(cluster_id: str) -> ServerInfo:
    """Return Connect's release, and our version as its commit."""
    return ServerInfo(RELEASE, f"legacy_mm-{__version__}", cluster_id)


def with_stores(host: Host, settings: Settings) -> Settings:
    """Return the settings with the content of their key stores; raises LegacyMMError, and no flow ends by that."""
    return key_stores.with_stores(settings, lambda: host.spark.jvm)


def target_cluster_id(host: Host, flows: Iterable[Settings]) -> str:
    """Return the id of the first target that answers; empty if none does."""
    for settings in flows:
        with suppress(LegacyMMError):
            _, target = AdminClients(with_stores(host, settings)).ends()
            return target.cluster_id(Deadline.after(_ASK_TIMEOUT))
    return ""


def worker_status(phase: Phase) -> WorkerStatus:
    """Return the health of a process in this phase."""
    if phase is Phase.STARTING:
        return WorkerStatus(HTTPStatus.SERVICE_UNAVAILABLE, "starting", _STARTING)
    if phase is Phase.RUNNING:
        return WorkerStatus(HTTPStatus.OK, "healthy", _HEALTHY)
    said = _UNHEALTHY.format(phase=phase.value)
    return WorkerStatus(HTTPStatus.INTERNAL_SERVER_ERROR, "unhealthy", said)


def restarting(status: ConnectorStatus, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
    """Return the status that answers a restart: those that are concerned are RESTARTING."""

    def told(each: Reported, *, is_asked: bool) -> Reported:
        is_concerned = is_asked and (each.state is ReportedState.FAILED or not only_failed)
        return Reported(ReportedState.RESTARTING, each.worker_id, "", each.version) if is_concerned else each

    tasks = [told(each, is_asked=include_tasks) for each in status.tasks]
    return ConnectorStatus(status.name, told(status.connector, is_asked=True), tasks)


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
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, one_line(error)) from error


@contextmanager
def failures() -> Iterator[None]:
    """Answer 500, with the reason, where a cluster does not do what is asked."""
    try:
        yield
    except LegacyMMError as error:
        raise ConnectRestError(HTTPStatus.INTERNAL_SERVER_ERROR, one_line(error)) from error
