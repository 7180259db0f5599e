"""The herder of a distributed worker: its connectors are those in Connect's topic of configurations.

Whoever writes there, another worker of ours or a worker of Connect before us, is followed. An order is planned, written
and then followed like those of others, so the topic is the only book of what is to run. Connectors that are not those
of MirrorMaker 2 are left alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus

from legacy_mm.base.errors import one_line
from legacy_mm.connect.config_topic import ConfigTopic, RestartWish, StoredConnectors
from legacy_mm.connect.entities import Config, ConnectorInfo, ConnectorStatus, ConnectRestError, TargetState
from legacy_mm.connect.herded_flow import HerdedConnector
from legacy_mm.connect.mirror_herder import MirrorHerder
from legacy_mm.connect.process_herder import failures, restarting
from legacy_mm.flow.host import Host
from legacy_mm.flow.supervisor import Supervisor
from legacy_mm.logs import events
from legacy_mm.policies.growing_pauses import Reminders
from legacy_mm.words.mirror_maker_2.connector_properties import kind_of
from legacy_mm.words.mirror_maker_2.driver import DriverRun

_CLASS = "connector.class"
_LOOK_INTERVAL = 1.0
_END_TIMEOUT = 5.0


class DistributedHerder(MirrorHerder):
    """Runs the connectors that the topic has."""

    def __init__(
        self, outcome: DriverRun, host: Host, supervisor: Supervisor, worker_id: str, topic: ConfigTopic
    ) -> None:
        """Take the topic, which must be there; `outcome` is a worker without connectors of its own."""
        super().__init__(outcome, host, supervisor, worker_id)
        self._topic = topic
        self._followed: dict[str, Config] = {}
        """The configurations in the topic that were acted on, also those of others and those that cannot run."""
        self._restarts: Mapping[str, RestartWish] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow_always, name="connect-configs", daemon=True)

    def begin(self) -> None:
        """Run what the topic has, and follow it from now on; raises HostError if it cannot be read."""
        self.follow()
        self._thread.start()

    def end(self) -> None:
        """Stop to follow the topic; the flows go on."""
        self._ended.set()
        self._thread.join(_END_TIMEOUT)
        self._topic.close()

    def follow(self) -> None:
        """Do what the topic says by now; raises HostError if it cannot be read."""
        with self._lock:
            stored = self._topic.read()
            for name in [name for name in self._followed if name not in stored.configs]:
                del self._followed[name]
                self._ended_here(name)
            for name, config in stored.configs.items():
                if self._followed.get(name) != config:
                    self._changed(name, config, stored)
                elif (found := self._find(name)) is not None:
                    self._aimed(name, found[1], stored)
            self._restart_wished(stored.restarts)

    # --- orders

    def create_connector(self, name: str, config: Config, initial_state: TargetState) -> ConnectorInfo:
        """Keep a new connector; the worker that reads it runs it."""
        with self._lock, failures():
            self.follow()
            return self._keep_new(name, config, initial_state)

    def put_connector_config(self, name: str, config: Config) -> tuple[bool, ConnectorInfo]:
        """Keep another configuration of a connector, or a new one."""
        with self._lock, failures():
            self.follow()
            if (found := self._find(name)) is None:
                return True, self._keep_new(name, config, TargetState.STARTED)
            _, before = found
            file = self._read(name, config, before)
            self._plan_with(HerdedConnector(name, file, before.target))
            if file.written != before.file.written:
                self._topic.put(name, file.written)
                self.follow()
            return False, self.connector_info(name)

    def delete_connector(self, name: str) -> None:
        """Forget a connector; the workers that run it end it."""
        with self._lock, failures():
            self.follow()
            self._known(name)
            self._topic.forget(name)
            self.follow()

    def set_target_state(self, name: str, state: TargetState) -> None:
        """Keep what a connector is to do, for all workers and for their next starts."""
        with self._lock, failures():
            self.follow()
            _, connector = self._known(name, f"Unknown connector {name}")
            if connector.target is not state:
                self._topic.put_target(name, state)
                self.follow()

    def restart_connector_and_tasks(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        """Let all workers restart a connector."""
        with self._lock, failures():
            self.follow()
            flow, connector = self._known(name, f"Unknown connector: {name}")
            status = self._status(flow, connector)
            self._topic.ask_for_restart(name, include_tasks=include_tasks, only_failed=only_failed)
            self.follow()
            return restarting(status, include_tasks=include_tasks, only_failed=only_failed)

    # --- inside

    def _keep_new(self, name: str, config: Config, state: TargetState) -> ConnectorInfo:
        if name in self._followed:
            raise ConnectRestError(HTTPStatus.CONFLICT, f"Connector {name} already exists")
        file = self._read(name, config, None)
        self._plan_with(HerdedConnector(name, file, state))
        self._topic.put(name, file.written, state)
        self.follow()
        return self.connector_info(name)

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Say why a connector cannot do what the topic says; the other connectors are followed all the same."""
        try:
            yield
        except ConnectRestError as error:
            events.emit(events.CONNECTOR_UNUSABLE, connector=name, topic=self._topic.name, reason=error.message)

    def _changed(self, name: str, config: Config, stored: StoredConnectors) -> None:
        """Run a connector that is new or another one; one that cannot run is told, and what runs goes on."""
        self._followed[name] = config
        class_name = config.get(_CLASS, "")
        if kind_of(class_name.strip()) is None:
            events.emit(events.CONNECTOR_LEFT_ALONE, connector=name, topic=self._topic.name, class_name=class_name)
            self._ended_here(name)
            return
        with self._told(name):
            if (found := self._find(name)) is None:
                super().create_connector(name, config, stored.target(name))
            else:
                super().put_connector_config(name, config)
                self._aimed(name, found[1], stored)

    def _aimed(self, name: str, connector: HerdedConnector, stored: StoredConnectors) -> None:
        if connector.target is not stored.target(name):
            with self._told(name):
                super().set_target_state(name, stored.target(name))

    def _ended_here(self, name: str) -> None:
        if self._find(name) is not None:
            with self._told(name):
                super().delete_connector(name)

    def _restart_wished(self, wishes: Mapping[str, RestartWish]) -> None:
        """Do the restarts that were asked for since the last look; at the start nothing runs that they would change."""
        before, self._restarts = self._restarts, wishes
        for name, wish in wishes.items():
            if wish != before.get(name) and self._find(name) is not None:
                words = {"include_tasks": wish.include_tasks, "only_failed": wish.only_failed}
                with self._told(name):
                    super().restart_connector_and_tasks(name, **words)

    def _follow_always(self) -> None:
        reminders = Reminders()
        while not self._ended.wait(_LOOK_INTERVAL):
            try:
                self.follow()
                reminders.over()
            except Exception as error:  # noqa: BLE001 - said; a worker that follows no longer would obey nobody
                if not self._ended.is_set() and reminders.is_due(one_line(error)):
                    text = f"topic {self._topic.name}: {one_line(error)}"
                    events.emit(events.CLIENT_ERROR, client="connect-configs", text=text)
