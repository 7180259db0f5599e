"""Gathers what the status page shows: one view of the process for each request, of numbers that are a second old."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

from legacy_mm import __version__
from legacy_mm.base.clock import Deadline, monotonic, wall
from legacy_mm.base.option import OptionValue
from legacy_mm.connect.entities import ConnectRestError
from legacy_mm.connect.flow_options import ProcessOptions, shown
from legacy_mm.connect.herder import Herder
from legacy_mm.connect.page.flow_history import INTERVAL, FlowHistory
from legacy_mm.connect.page.flow_numbers import FlowNumbers, PartitionRow, StreamRow, numbers_of
from legacy_mm.connect.page.flow_views import ConnectorView, FlowView, Need, flow_view, needs, point_of
from legacy_mm.logs import events, root_logger
from legacy_mm.logs.recent_lines import RecentLine
from legacy_mm.metrics.health import State
from legacy_mm.metrics.registry import Snapshot

CHEAP = 0.05
"""Seconds of gathering that a request may wait for."""
SHARE = 0.1
"""The part of the time that may go into gathering where it is not cheap."""


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


class _Numbers(NamedTuple):
    """The numbers of all flows, and how they came."""

    flows: Mapping[str, FlowNumbers]
    at: float
    """Monotonic seconds."""
    wall: float
    """Seconds since 1970."""
    cost: float
    """Seconds that it took to gather them."""


class StatusBoard:
    """Knows the flows, and remembers their last hour. Any thread.

    Numbers are a second old at most where that is cheap. Where there are many partitions, no request waits for them:
    it shows those that are there, and asks the `Sampler` for new ones, which take a small share of the time.
    """

    def __init__(
        self,
        herder: Herder,
        snapshots: Callable[[], Iterable[Snapshot]],
        state: Callable[[], State],
        *,
        actions: bool = False,
        options: Callable[[], Sequence[OptionValue]] = tuple,
        clock: Callable[[], float] = monotonic,
        fresh: float = 1.0,
    ) -> None:
        """Take who runs the connectors, who counts, and who knows what probes are told.

        `options` reads those of the whole process. Numbers are new for `fresh` seconds.
        """
        self._herder = herder
        self._snapshots = snapshots
        self._state = state
        self._actions = actions
        self._clock = clock
        self._fresh = fresh
        self._begun = wall()
        self._lock = threading.Lock()
        self._known: _Numbers | None = None
        self._histories: dict[str, FlowHistory] = {}
        self.options = ProcessOptions(options)
        self.wanted = threading.Event()
        """Set while somebody waits for newer numbers."""

    def refresh(self) -> None:
        """Count the numbers, unless they are new."""
        with self._lock:
            self._gather(self._state())

    def sample(self) -> None:
        """Note where each flow is, for its history; flows that are gone are forgotten."""
        with self._lock:
            numbers = self._gather(self._state())
            self._histories = {flow: self._histories.get(flow) or FlowHistory() for flow in numbers.flows}
            for flow, found in numbers.flows.items():
                self._histories[flow].add(point_of(found, numbers.at))

    def view(self) -> ProcessView:
        """Return the process as it is now."""
        state, connectors = self._state(), self._connectors()
        numbers, histories = self._current(state), self._histories
        flows = [
            flow_view(
                name,
                numbers.flows.get(name) or FlowNumbers((), (), ()),
                [each for each in connectors if each.info.flow == name],
                histories.get(name) or FlowHistory(),
                state,
                numbers.at,
            )
            for name in dict.fromkeys([*(each.info.flow for each in connectors), *numbers.flows])
        ]
        return ProcessView(
            version=__version__,
            started=self._begun,
            now=numbers.wall,
            actions=self._actions,
            flows=flows,
            rows=[row for found in numbers.flows.values() for row in found.rows],
            streams=[row for found in numbers.flows.values() for row in found.streams],
            needs=needs(flows, state),
            lines=root_logger.recent_lines(),
        )

    def flow_options(self, flow: str) -> list[OptionValue]:
        """Return the options and flags that are given for a flow, or for all of them."""
        return [*shown([*self.options.given(), *self._herder.flow_options(flow)])]

    def _current(self, state: State) -> _Numbers:
        known = self._known
        if known is not None and known.cost > CHEAP:
            if self._clock() - known.at >= max(self._fresh, known.cost / SHARE):
                self.wanted.set()
            return known
        with self._lock:
            return self._gather(state)

    def _gather(self, state: State) -> _Numbers:
        """Return new numbers, or those that are there if they are new; the lock is held."""
        begin = self._clock()
        if self._known is None or begin - self._known.at >= self._fresh:
            of_flow: dict[str, list[Snapshot]] = {}
            for each in self._snapshots():
                of_flow.setdefault(each.flow, []).append(each)
            flows = {flow: numbers_of(some, state.outside) for flow, some in of_flow.items()}
            self._known = _Numbers(flows, begin, wall(), self._clock() - begin)
        return self._known

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
    """Lets a board note its flows now and then, and gather what is wanted, on a thread of its own."""

    def __init__(self, board: StatusBoard) -> None:
        """Begin to do so."""
        self._board = board
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="admin-history", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._is_over = True
        self._board.wanted.set()
        self._thread.join(INTERVAL)

    def _run(self) -> None:
        while not self._is_over:
            self._do(self._board.sample)
            deadline = Deadline.after(INTERVAL)
            while not self._is_over and self._board.wanted.wait(deadline.remaining()):
                self._board.wanted.clear()
                self._do(self._board.refresh)

    def _do(self, what: Callable[[], None]) -> None:
        try:
            what()
        except Exception as error:  # noqa: BLE001 - the next time may do better
            reason = type(error).__name__
            events.emit(events.REST_FAILED, request="the history of the flows", reason=reason, error=error)
