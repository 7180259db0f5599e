"""The herder of MirrorMaker 2's file, which can be read again: flows come, go and change while the others run.

All of it is planned first: a file that cannot be read, or a flow that cannot run, is refused, and everything goes on as
it was. A flow that would do the same as before is not touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.option import OptionValue
from legacy_mm.connect.flow_options import of_driver
from legacy_mm.connect.herded_flow import HerdedFlow, connectors_of_driver, reading_of_driver
from legacy_mm.connect.mirror_flows import FlowLife
from legacy_mm.connect.mirror_herder import MirrorHerder
from legacy_mm.connect.process_herder import refusals
from legacy_mm.connect.reload_plan import (
    KEEPS_POSITIONS,
    FlowAction,
    FlowPlan,
    KeyChange,
    ReloadPlan,
    differences,
    without,
)
from legacy_mm.connect.start_words import LevelChanges, StartWords, of_flows, of_process
from legacy_mm.flow.host import Host
from legacy_mm.flow.supervisor import Supervisor
from legacy_mm.words.java_clients.client_properties.rule import Note
from legacy_mm.words.legacy_tool import java_process
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.console import say_notes
from legacy_mm.words.mirror_maker_2.connector_properties import CONNECTORS, ConnectorKind
from legacy_mm.words.mirror_maker_2.driver import DriverRun, RefusedFlow
from legacy_mm.words.mirror_maker_2.driver_file import CLUSTERS, Pair
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun

_OF_WORKER = ("group.id", "offset.storage.topic")
_OF_CONNECTORS = ("name", "source.cluster.alias", "target.cluster.alias", "exactly.once")


@dataclass(frozen=True, slots=True)
class _Step:
    """The plan for one flow, and the flow before and after it."""

    plan: FlowPlan
    now: HerdedFlow | None
    """None: it begins."""
    then: HerdedFlow | None
    """None: it ends, or stays as it is."""
    reading: FlowReading | None = None


@dataclass(frozen=True, slots=True)
class _Reading:
    """The files as they are now, and what follows."""

    plan: ReloadPlan
    steps: Sequence[_Step]
    clients: ClientTranslation
    refused: Mapping[Pair, str]
    notes: Sequence[Note]
    levels: LevelChanges


class DriverHerder(MirrorHerder):
    """Runs the connectors of MirrorMaker 2's file, and reads that file again."""

    def __init__(
        self, outcome: DriverRun, host: Host, supervisor: Supervisor, worker_id: str, words: StartWords[DriverRun]
    ) -> None:
        """Take the flows as they were read, and how their file is read again."""
        self._planned: list[HerdedFlow] = []
        super().__init__(outcome, host, supervisor, worker_id)
        self._words = words
        self._logs = words.logs(outcome.clients.options)
        self._readings = {each.pair: each for each in outcome.readings}
        self._refused: Mapping[Pair, str] = _refused(outcome.refused)
        self._notes = frozenset(outcome.notes)

    def reload(self, *, dry_run: bool) -> ReloadPlan:
        """Read the file and the options again, and let the flows do what they say now."""
        with self._lock:
            reading = self._read_again()
            if not dry_run:
                self._apply(reading)
            return reading.plan

    def flow_options(self, flow: str) -> Sequence[OptionValue]:
        """Return what the file gives to a flow."""
        with self._lock:
            return [
                option
                for each in self._flows
                if str(each.pair) == flow
                for option in of_driver(self._readings[each.pair], [connector.file for connector in each.connectors])
            ]

    # --- the plan

    def _read_again(self) -> _Reading:
        with refusals():
            outcome = self._words.outcome(self._words.options())
            options, of_all = of_process(self._clients.options, outcome.clients.options)
            clients, logs = replace(outcome.clients, options=options), self._words.logs(options)
        levels = LevelChanges.between(self._logs, logs)
        with self._planning(clients):
            steps = [*self._steps(outcome)]
        plan = ReloadPlan([each.plan for each in steps], of_all, levels.plan())
        notes = [each for each in outcome.notes if each not in self._notes]
        return _Reading(plan, steps, clients, _refused(outcome.refused), notes, levels)

    @contextmanager
    def _planning(self, clients: ClientTranslation) -> Iterator[None]:
        before, self._clients = self._clients, clients
        self._options = differences(of_flows(before.options), of_flows(clients.options))
        try:
            yield
        finally:
            self._clients, self._planned = before, []

    def _steps(self, outcome: DriverRun) -> Iterator[_Step]:
        runs = {each.pair: each for each in outcome.flows}
        refused = {each.pair: each for each in outcome.refused}
        now = {each.pair: each for each in self._flows}
        for pair, flow in now.items():
            if pair not in {each.pair for each in outcome.readings}:
                yield _Step(FlowPlan(str(pair), FlowAction.REMOVE), flow, None)
        for reading in outcome.readings:
            pair = reading.pair
            if pair in refused and self._refused.get(pair) == str(refused[pair].error):
                yield _Step(FlowPlan(str(pair), FlowAction.NONE), now[pair], None)
                continue
            if pair in refused:
                with refusals():
                    raise refused[pair].error
            yield self._changed(now[pair], reading, runs[pair]) if pair in now else self._added(reading, runs[pair])

    def _added(self, reading: FlowReading, run: FlowRun) -> _Step:
        then = HerdedFlow(partial(reading_of_driver, reading), connectors_of_driver(reading, run), reading.pair)
        self._plan(then)
        return _Step(FlowPlan(str(reading.pair), FlowAction.ADD), None, then, reading)

    def _changed(self, now: HerdedFlow, reading: FlowReading, run: FlowRun) -> _Step:
        before = self._readings[now.pair]
        stays, left = _keeping(before, reading)
        connectors = connectors_of_driver(stays, run)
        for each in connectors:
            if (same := now.of_kind(each.kind)) is not None:
                each.target, each.topics_before = same.target, same.topics_before
        for each in now.connectors:
            if why := stays.refusals.get(each.kind):
                with refusals():
                    raise ConfigurationError(f"{each.name}: {why}")
        then = HerdedFlow(partial(reading_of_driver, stays), connectors, now.pair, now.first_stream, now.streams)
        self._plan(then)
        there = {**_lines(before), **_of_requests(now, before)}
        beginnings = (now.pair.prefix, f"{now.pair.source}.", f"{now.pair.target}.")
        changes = without(differences(there, _lines(reading)), [each.key for each in left], beginnings)
        is_same = _does_the_same(now, then)
        plan = FlowPlan.of(str(now.pair), None if is_same else [*changes, *self._options], left)
        return _Step(plan, now, then, stays)

    def _plan(self, then: HerdedFlow) -> None:
        """Translate a flow; raise 400 for one that cannot run."""
        run = self._translated(then, then.working())
        then.takes(run)
        if run is not None:
            with refusals():
                self._with_stores(run.settings)
        self._planned.append(then)

    def _free_stream(self) -> int:
        planned = (each.first_stream + each.streams for each in self._planned)
        return max(super()._free_stream(), *planned, 0)

    # --- the change

    def _apply(self, reading: _Reading) -> None:
        say_notes(reading.notes, java_process.MIRROR_MAKER_2)
        reading.levels.apply()
        self._logs = self._words.logs(reading.clients.options)
        self._clients, self._refused = reading.clients, reading.refused
        self._notes |= frozenset(reading.notes)
        for each in reading.steps:
            self._note(each)
        self._makes.know([each.run for each in self._flows if each.run is not None])
        for each in reading.steps:
            self._carry_out(each)

    def _note(self, step: _Step) -> None:
        """Let a flow know what it is from now on."""
        now, then = step.now, step.then
        if step.reading is not None:
            self._readings[step.reading.pair] = step.reading
        if now is None and then is not None:
            then.life = FlowLife(self._host, str(then.pair))
            self._flows.append(then)
        elif now is not None and then is not None:
            now.read, now.connectors = then.read, then.connectors
            if step.plan.action is FlowAction.CHANGE:
                now.takes(then.run)
        elif now is not None and step.plan.action is FlowAction.REMOVE:
            self._flows.remove(now)

    def _carry_out(self, step: _Step) -> None:
        now, then, action = step.now, step.then, step.plan.action
        if action is FlowAction.CHANGE and now is not None:
            now.keeper.change(self._supervised(now))
        elif action is FlowAction.ADD and then is not None:
            then.keeper = self._supervisor.add(self._supervised(then))
        elif action is FlowAction.REMOVE and now is not None:
            self._supervisor.remove(now.keeper)
            now.life.forget()
            del self._readings[now.pair]
        step.plan.tell()


def _refused(flows: Sequence[RefusedFlow]) -> dict[Pair, str]:
    return {each.pair: str(each.error) for each in flows}


def _keeping(before: FlowReading, after: FlowReading) -> tuple[FlowReading, list[KeyChange]]:
    """Return the later reading with what must stay of the earlier one, and what that is."""
    worker, left = _restored(before.worker, after.worker, _OF_WORKER)
    properties: dict[ConnectorKind, Mapping[str, str]] = {}
    for kind in CONNECTORS:
        properties[kind], of_kind = _restored(before.properties[kind], after.properties[kind], _OF_CONNECTORS)
        left += [each for each in of_kind if each.key not in {other.key for other in left}]
    return replace(after, worker=worker, properties=properties), left


def _restored(
    before: Mapping[str, str], after: Mapping[str, str], names: Sequence[str]
) -> tuple[Mapping[str, str], list[KeyChange]]:
    changed = [name for name in names if before.get(name) != after.get(name)]
    there = {name: before[name] for name in changed if name in before}
    left = [KeyChange.of(name, before.get(name), after.get(name), KEEPS_POSITIONS) for name in changed]
    return {**{name: text for name, text in after.items() if name not in changed}, **there}, left


def _lines(reading: FlowReading) -> dict[str, str]:
    """Return the lines that a flow reads, by their whole keys; all flows read the list of clusters."""
    lines = reading.lines
    places = (*lines.general, *lines.target, *lines.source, *lines.own)
    found = {f"{place.label}{name}": text for place in places for name, text in place.lines.items()}
    return {key: text for key, text in found.items() if key != CLUSTERS}


def _of_requests(flow: HerdedFlow, reading: FlowReading) -> dict[str, str]:
    """Return what requests have changed since the file was read, as lines of the flow."""
    return {
        f"{flow.pair.prefix}{name}": text
        for connector in flow.connectors
        for name, text in connector.file.properties.items()
        if reading.properties[connector.kind].get(name) != text
    }


def _does_the_same(now: HerdedFlow, then: HerdedFlow) -> bool:
    if now.run is None or then.run is None:
        whole = [flow.read([each.file for each in flow.connectors]) for flow in (now, then)]
        return now.run is then.run and whole[0] == whole[1]
    return (now.run.settings, now.run.connectors, now.run.filters) == (
        then.run.settings,
        then.run.connectors,
        then.run.filters,
    )
