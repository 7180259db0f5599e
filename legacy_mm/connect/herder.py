"""The interface of whoever runs the connectors to the REST API: Connect's `Herder`, in its words.

Every method raises `ConnectRestError` with Connect's code and sentence, such as 404 `Connector X not found`, and
returns at once, or as soon as Connect would. Any thread may call it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from legacy_mm.base.option import OptionValue
from legacy_mm.clients.group.group_protocol import DescribedGroup
from legacy_mm.connect.entities import (
    Config,
    ConnectorInfo,
    ConnectorOffset,
    ConnectorStatus,
    ServerInfo,
    TargetState,
    WorkerStatus,
)
from legacy_mm.connect.reload_plan import ReloadPlan


class Herder(Protocol):
    """Runs connectors, and tells of them."""

    def server_info(self) -> ServerInfo:
        """Return what `GET /` says."""

    def worker_status(self) -> WorkerStatus:
        """Return the health of the worker, not of its connectors."""

    def connectors(self) -> Sequence[str]:
        """Return the names of all connectors."""

    def connector_info(self, name: str) -> ConnectorInfo:
        """Return a connector as it is configured."""

    def connector_status(self, name: str) -> ConnectorStatus:
        """Return the states of a connector and its tasks; 404 in the moment before it has one."""

    def task_configs(self, name: str) -> Sequence[Config]:
        """Return the configuration of each task."""

    def create_connector(self, name: str, config: Config, initial_state: TargetState) -> ConnectorInfo:
        """Make a connector; 409 where one of that name exists. The configuration is valid and has its name."""

    def put_connector_config(self, name: str, config: Config) -> tuple[bool, ConnectorInfo]:
        """Give a connector this configuration; the first value is True if it was made by that."""

    def delete_connector(self, name: str) -> None:
        """End a connector and forget it."""

    def set_target_state(self, name: str, state: TargetState) -> None:
        """Set what a connector is to do: run, pause or stop; STOPPED returns when its tasks are being shut down."""

    def restart_connector(self, name: str) -> None:
        """Restart the connector without its tasks."""

    def restart_connector_and_tasks(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        """Restart the connector, its tasks, or only those that failed.

        Returns the status in which those that are concerned are RESTARTING.
        """

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task."""

    def active_topics(self, name: str) -> Sequence[str]:
        """Return the topics that the connector has written to since it started or since the reset; none if unknown."""

    def reset_active_topics(self, name: str) -> None:
        """Forget the topics that were written to."""

    def connector_offsets(self, name: str) -> Sequence[ConnectorOffset]:
        """Return the offset of each partition, the last that was copied."""

    def alter_connector_offsets(self, name: str, offsets: Sequence[ConnectorOffset]) -> str:
        """Change the offsets of these partitions of a stopped connector; return the sentence of the answer."""

    def reset_connector_offsets(self, name: str) -> str:
        """Forget all offsets of a stopped connector; return the sentence of the answer."""

    # --- ours

    def flow_options(self, flow: str) -> Sequence[OptionValue]:
        """Return the options and flags that the files of a flow give, or requests since; may hold secrets."""

    def flow_group(self, flow: str) -> DescribedGroup:
        """Ask for the group whose members copy a flow, of all processes; 404 for a flow that does not run here."""

    def reload(self, *, dry_run: bool) -> ReloadPlan:
        """Read the files again that the process was started with, and do what they say now; return what that changes.

        `dry_run`: change nothing. 400 for what cannot run, and nothing changes; 403 where there is nothing to read; 409
        while an earlier change is under way.
        """
