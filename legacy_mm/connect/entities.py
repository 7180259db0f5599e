"""The facts that a Connect worker tells of its connectors, and the bodies in which its REST API says them.

Source: contract `connect-rest.md`, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Any, Literal

RELEASE = "4.3.0"
"""The release of Kafka Connect whose API this is."""
JsonObject = dict[str, Any]
ConnectorType = Literal["source", "sink", "unknown"]
Config = Mapping[str, str]


class ConnectRestError(Exception):
    """A request that is refused, with the code and the sentence of the answer."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        """Take Connect's code and words for the situation."""
        super().__init__(message)
        self.status = status
        self.message = message


class TargetState(Enum):
    """The state that a user wants of a connector."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


class ReportedState(Enum):
    """The state of a connector or of a task; a task is never STOPPED."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The worker itself; `version` begins with the numbers of a release of Kafka."""

    version: str
    commit: str
    kafka_cluster_id: str

    def body(self) -> JsonObject:
        """Return the body of `GET /`."""
        return {"version": self.version, "commit": self.commit, "kafka_cluster_id": self.kafka_cluster_id}


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The health of the worker."""

    code: HTTPStatus
    status: Literal["starting", "healthy", "unhealthy"]
    message: str

    def body(self) -> JsonObject:
        """Return the body of `GET /health`."""
        return {"status": self.status, "message": self.message}


@dataclass(frozen=True, slots=True)
class ConnectorInfo:
    """A connector as it is configured, with the number of its tasks."""

    name: str
    config: Config
    tasks: int
    type: ConnectorType = "source"
    flow: str = ""
    """The flow that does its work, as metrics name it."""

    def body(self) -> JsonObject:
        """Return the body of `GET /connectors/X`."""
        tasks = [{"connector": self.name, "task": number} for number in range(self.tasks)]
        return {"name": self.name, "config": dict(self.config), "tasks": tasks, "type": self.type}


@dataclass(frozen=True, slots=True)
class Reported:
    """The state of a connector or of one task, and who runs it."""

    state: ReportedState
    worker_id: str
    trace: str = ""
    """Why it failed."""
    version: str = ""
    """The release of the connector's class."""

    def body(self) -> JsonObject:
        """Return the fields that stand beside a name or a number."""
        found = {"state": self.state.value, "worker_id": self.worker_id}
        if self.version:
            found["version"] = self.version
        if self.trace:
            found["trace"] = self.trace
        return found


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """The states of a connector and of its tasks, which are numbered by their place."""

    name: str
    connector: Reported
    tasks: Sequence[Reported]
    type: ConnectorType = "source"

    def body(self) -> JsonObject:
        """Return the body of `GET /connectors/X/status`."""
        tasks = [{"id": number, **task.body()} for number, task in enumerate(self.tasks)]
        return {"name": self.name, "connector": self.connector.body(), "tasks": tasks, "type": self.type}


@dataclass(frozen=True, slots=True)
class ConnectorOffset:
    """The offset of one partition of a source connector; None: none is kept."""

    partition: Mapping[str, Any]
    offset: Mapping[str, Any] | None

    def body(self) -> JsonObject:
        """Return an entry of the list of `GET /connectors/X/offsets`."""
        return {"partition": dict(self.partition), "offset": None if self.offset is None else dict(self.offset)}
