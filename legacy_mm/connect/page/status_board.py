"""Gathers what the status page shows: one view of the process for each request, of numbers that are a second old."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from legacy_mm import __version__
from legacy_mm.base.clock import monotonic, wall
from legacy_mm.connect.entities import ConnectRestError
from legacy_mm.connect.herder import Herder
from legacy_mm.connect.page.flow_history import INTERVAL, FlowHistory
from legacy_mm.connect.page.flow_views import ConnectorView, FlowNumbers, FlowView, Need, flow_view, needs, point_of
from legacy_mm.connect.page.partition_rows import PartitionRow, StreamRow, partition_rows, stream_rows
from legacy_mm.logs import events, root_logger
from legacy_mm.logs.recent_lines import RecentLine
from legacy_mm.metrics.health import State
from legacy_mm.metrics.registry import Snapshot


@dataclass(frozen=True, slots=True)
class ProcessView:
    """The whole process at one moment."""

    version: str
    started: float
    """Seconds since 1970, as `now`."""
    now: float
    actions: bool
    """True where it may be told to do something."""
    flows: Sequence[FlowView]
    rows: Sequence[PartitionRow]
    streams: Sequence[StreamRow]
    needs: Sequence[Need]
    lines: Sequence[RecentLine]

    def flow(self, name: str) -> FlowView:
        """Return a flow by its name; raise 404 for one that is not there."""
        for each in self.flows:
            if each.name == name:
                return each
        raise ConnectRestError(HTTPStatus.NOT_FOUND, f"There is no flow {name} here")


class StatusBoard:
    """Knows the flows, and remembers their last hour. Any thread."""

    def __init__(
        self,
        herder: Herder,
        snapshots: Callable[[], Sequence[Snapshot]],
        state: Callable[[], State],
        *,
        actions: bool = False,
    ) -> None:
        """Take who runs the connectors, and who counts; `snapshots` gives the same object while it has no newer."""
        self._herder = herder
        self._snapshots = snapshots
        self._state = state
        self._actions = actions
        self._begun = wall()
        self._lock = threading.Lock()
        self._seen: Sequence[Snapshot] | None = None
        self._numbers: dict[str, FlowNumbers] = {}
        self._histories: dict[str, FlowHistory] = {}

    def sample(self) -> None:
        """Note where each flow is, for its history; flows that are gone are forgotten."""
        with self._lock:
            numbers, now = self._current(self._state()), monotonic()
            self._histories = {flow: self._histories.get(flow) or FlowHistory() for flow in numbers}
            for flow, found in numbers.items():
                self._histories[flow].add(point_of(found, now))

    def view(self) -> ProcessView:
        """Return the process as it is now."""
        state, connectors = self._state(), self._connectors()
        with self._lock:
            numbers = self._current(state)
            histories = dict(self._histories)
        now = monotonic()
        flows = [
            flow_view(
                name,
                numbers.get(name) or FlowNumbers((), (), ()),
                [each for each in connectors if each.info.flow == name],
                histories.get(name) or FlowHistory(),
                state,
                now,
            )
            for name in dict.fromkeys([*(each.info.flow for each in connectors), *numbers])
        ]
        return ProcessView(
            version=__version__,
            started=self._begun,
            now=wall(),
            actions=self._actions,
            flows=flows,
            rows=[row for found in numbers.values() for row in found.rows],
            streams=[row for found in numbers.values() for row in found.streams],
            needs=needs(flows, state),
            lines=root_logger.recent_lines(),
        )

    def _current(self, state: State) -> dict[str, FlowNumbers]:
        """Return the numbers of each flow, worked out once for a snapshot; the lock is held."""
        snapshots = self._snapshots()
        if snapshots is not self._seen:
            of_flow: dict[str, list[Snapshot]] = {}
            for each in snapshots:
                of_flow.setdefault(each.flow, []).append(each)
            self._numbers = {
                flow: FlowNumbers(some, partition_rows(some), stream_rows(some, state.outside))
                for flow, some in of_flow.items()
            }
            self._seen = snapshots
        return self._numbers

    def _connectors(self) -> list[ConnectorView]:
        found = []
        for name in self._herder.connectors():
            try:
                found.append(ConnectorView(self._herder.connector_info(name), self._herder.connector_status(name)))
            except ConnectRestError as error:
                if error.status is not HTTPStatus.NOT_FOUND:  # it is just gone
                    raise
        return found


class Sampler:
    """Lets a board note its flows now and then, on a thread of its own."""

    def __init__(self, board: StatusBoard) -> None:
        """Begin to do so."""
        self._board = board
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="admin-history", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join(INTERVAL)

    def _run(self) -> None:
        while True:
            try:
                self._board.sample()
            except Exception as error:  # noqa: BLE001 - the next one may do better
                events.emit(
                    events.REST_FAILED,
                    request="the history of the flows",
                    reason=type(error).__name__,
                    error=error,
                )
            if self._over.wait(INTERVAL):
                return
