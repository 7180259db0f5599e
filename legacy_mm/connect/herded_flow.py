"""One flow of a herder: its connectors, what each is to do, and what that makes of the flow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from legacy_mm.connect.entities import ConnectorStatus, Reported, ReportedState, TargetState
from legacy_mm.connect.mirror_flows import FlowLife
from legacy_mm.flow.mirror import Mirror
from legacy_mm.flow.supervisor import FlowKeeper, FlowPhase
from legacy_mm.words.mirror_maker_2.connect_files import ConnectorFile, flows_of
from legacy_mm.words.mirror_maker_2.connector_properties import CONNECTORS, ConnectorKind
from legacy_mm.words.mirror_maker_2.driver_file import Pair
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun

ReadFlow = Callable[[Sequence[ConnectorFile]], FlowReading]


@dataclass(slots=True)
class HerdedConnector:
    """A connector: its configuration, and what its user wants of it."""

    name: str
    file: ConnectorFile
    target: TargetState = TargetState.STARTED
    topics_before: Mapping[str, float] = field(default_factory=dict)
    """The topics that had records at the last reset, and how many."""

    @property
    def kind(self) -> ConnectorKind:
        """The kind of connector, in our words."""
        return self.file.kind


@dataclass(slots=True)
class HerdedFlow:
    """A flow, and the connectors whose work it does."""

    read: ReadFlow
    """Makes the flow of these connectors; raises ConfigurationError."""
    connectors: list[HerdedConnector]
    pair: Pair
    first_stream: int = 0
    streams: int = 0
    """The number of streams for which it has numbers."""
    run: FlowRun | None = None
    """None: it cannot run, or all of it is stopped."""
    life: FlowLife = field(init=False)
    keeper: FlowKeeper = field(init=False)

    @property
    def key(self) -> tuple[str, ...]:
        """The aliases and the source that its connectors have in common."""
        return self.connectors[0].file.key

    def takes(self, run: FlowRun | None) -> None:
        """Note what it does from now on."""
        self.run = run
        if run is not None and run.settings.streams:
            self.first_stream, self.streams = run.settings.first_stream, max(self.streams, run.settings.streams)

    def started(self, mirror: Mirror) -> None:
        """Note the mirror that runs, which copies nothing while the source connector is paused."""
        self.life.started(mirror)
        if self._is_paused():
            mirror.pause()

    def pause_or_resume(self) -> None:
        """Let the streams do what the user wants of the source connector."""
        if (mirror := self.life.mirror) is not None:
            (mirror.pause if self._is_paused() else mirror.resume)()

    def _is_paused(self) -> bool:
        source = self.of_kind("source")
        return source is not None and source.target is TargetState.PAUSED

    def topics(self, connector: HerdedConnector) -> dict[str, float]:
        """Return the topics at the target that records of a connector went to, and how many of those are known."""
        if self.run is None or not self._is_done(connector):
            return {}
        if connector.kind != "source":
            alias = self.run.settings.features.naming.source_alias
            return {"heartbeats" if connector.kind == "heartbeat" else f"{alias}.checkpoints.internal": math.inf}
        return self.life.sent()

    def of_kind(self, kind: ConnectorKind) -> HerdedConnector | None:
        """Return its connector of that kind."""
        return next((each for each in self.connectors if each.kind == kind), None)

    def working(self) -> list[ConnectorFile]:
        """Return the connectors that the flow is built of.

        A source connector that is paused keeps its group and partitions; others that are paused do nothing. Checkpoints
        wait for a source connector, because who copies knows which offset became which.
        """
        found = [each.file for each in self.connectors if self._works(each)]
        copies = any(each.kind == "source" for each in found)
        return [each for each in found if copies or each.kind != "checkpoint"]

    @staticmethod
    def _works(connector: HerdedConnector) -> bool:
        if connector.kind == "source":
            return connector.target is not TargetState.STOPPED
        return connector.target is TargetState.STARTED

    def status_of(
        self, connector: HerdedConnector, reported: Callable[[ReportedState, str], Reported]
    ) -> ConnectorStatus:
        """Return the state of a connector of this flow, and of its tasks; `reported` says who runs them."""
        state = self._state(connector)
        trace = self.life.reason if state is ReportedState.FAILED else ""
        tasks = [] if state is ReportedState.STOPPED else list(self._tasks(connector, state))
        own = ReportedState.UNASSIGNED if state is ReportedState.RUNNING and not tasks else state
        return ConnectorStatus(connector.name, reported(own, trace), [reported(each, trace) for each in tasks])

    def _state(self, connector: HerdedConnector) -> ReportedState:
        if connector.target is TargetState.STOPPED:
            return ReportedState.STOPPED
        if connector.target is TargetState.PAUSED:
            return ReportedState.PAUSED
        if self.life.phase is FlowPhase.FAILED:
            return ReportedState.FAILED
        if self.life.phase is not FlowPhase.RUNNING:
            return ReportedState.UNASSIGNED
        return ReportedState.RUNNING if self._is_done(connector) else ReportedState.UNASSIGNED

    def _is_done(self, connector: HerdedConnector) -> bool:
        return self.run is not None and CONNECTORS[connector.kind] in self.run.connectors

    def _tasks(self, connector: HerdedConnector, state: ReportedState) -> Iterator[ReportedState]:
        if connector.kind != "source":
            yield state
            return
        outside = self.life.outside() if state is ReportedState.RUNNING else frozenset()
        for stream in self.stream_names():
            yield ReportedState.UNASSIGNED if stream in outside else state

    def stream_names(self) -> list[str]:
        """Return the client ids of the flow's streams."""
        if self.run is None:
            return []
        settings = self.run.settings
        return [settings.client_id(settings.first_stream + number) for number in range(settings.streams)]


def connectors_of_driver(reading: FlowReading, run: FlowRun | None) -> list[HerdedConnector]:
    """Return the connectors of a flow of a driver's file that do something."""
    works = CONNECTORS.values() if run is None else run.connectors
    found = []
    for kind, class_name in CONNECTORS.items():
        if class_name in works:
            given = reading.properties[kind]
            name = f"{reading.pair}.{class_name}"
            found.append(HerdedConnector(name, ConnectorFile(name, kind, given, written=given)))
    return found


def reading_of_driver(reading: FlowReading, working: Sequence[ConnectorFile]) -> FlowReading:
    """Return the flow of a driver's file in which these connectors work."""
    found = reading
    there = {each.kind: each.properties for each in working}
    for kind in CONNECTORS:
        found = found.having(kind, there[kind]) if kind in there else found.without(kind)
    return found


def reading_of_worker(worker: Mapping[str, str], working: Sequence[ConnectorFile]) -> FlowReading:
    """Return the flow of these connectors of a worker; raises ConfigurationError."""
    (flow,) = flows_of(worker, working)
    return flow
