"""The flows of a process as the supervisor runs them: how each is built, and what is known of its life."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

from legacy_mm.assembly import wiring
from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.flow import client_checks, flow_registry
from legacy_mm.flow.host import Host
from legacy_mm.flow.mirror import Failures, Mirror
from legacy_mm.flow.supervisor import FlowPhase, SupervisedFlow
from legacy_mm.metrics.registry import Registry, Snapshot, sent_records
from legacy_mm.words.mirror_maker_2.circle_guard import Circles
from legacy_mm.words.mirror_maker_2.driver import RefusedFlow
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun


class FlowLife:
    """One flow's life: its phase, its mirror, and what metrics and probes of the process know of it. Any thread."""

    def __init__(self, host: Host, name: str) -> None:
        """Take the name of the flow, from where to where."""
        self.name = name
        self.phase = FlowPhase.STARTING
        self.reason = ""
        """Why it failed."""
        self.mirror: Mirror | None = None
        """The mirror that runs."""
        self.connectors: Sequence[str] = ()
        self._sent: Counter[str] = Counter()
        """The records of mirrors that are gone, by their topics at the target."""
        self._host = host
        self._registry = Registry(name, "", flow_registry.facts())
        host.registries.append(self._registry)

    def changed(self, phase: FlowPhase, reason: str) -> None:
        """Note that the flow is in another phase."""
        self.phase, self.reason = phase, reason
        if phase in (FlowPhase.FAILED, FlowPhase.STOPPED):
            self.mirror = None
            self._sent = Counter(self.sent())
            self._drop(self._of_mirrors())
        if phase is FlowPhase.FAILED:
            self._host.failed_flows[self.name] = reason
        else:
            self._host.failed_flows.pop(self.name, None)
        if phase in (FlowPhase.RUNNING, FlowPhase.FAILED):
            self._registry.flow_runs(up=phase is FlowPhase.RUNNING, connectors=self.connectors)

    def started(self, mirror: Mirror) -> None:
        """Note the mirror that runs from now on."""
        self.mirror = mirror

    def outside(self) -> frozenset[str]:
        """Return the client ids of its streams that are no members of their group."""
        return frozenset().union(*(each.without_assignment() for each in self._of_mirrors()))

    def snapshots(self) -> list[Snapshot]:
        """Return the counts of its mirrors."""
        return [each.snapshot() for each in self._of_mirrors()]

    def sent(self) -> dict[str, float]:
        """Return the topics at the target that its mirrors have sent records to, and how many; also those before."""
        return dict(self._sent + Counter(sent_records(self.snapshots())))

    def forget(self) -> None:
        """Leave the metrics, because the flow is gone for good."""
        self._drop((*self._of_mirrors(), self._registry))
        self._host.failed_flows.pop(self.name, None)

    def _drop(self, registries: Iterable[Registry]) -> None:
        for each in registries:
            with suppress(ValueError):  # another thread may have been faster
                self._host.registries.remove(each)

    def _of_mirrors(self) -> list[Registry]:
        """Return the registries of its mirrors; other flows change the host's list meanwhile."""
        registries = tuple(self._host.registries)
        return [each for each in registries if each.flow == self.name and each is not self._registry]


class MirrorFlows:
    """Makes flows for the supervisor; the flows of a process know of each other, or they would copy in a circle."""

    def __init__(self, host: Host) -> None:
        """Take what all flows share."""
        self._host = host
        self.know(())

    def know(self, runs: Sequence[FlowRun]) -> None:
        """Take the flows that run beside each other from now on; those that are built already keep what they knew."""
        self._circles = Circles(runs, lambda: self._host.spark.jvm.topic_matcher)

    def supervised(self, flow: FlowRun, life: FlowLife) -> SupervisedFlow:
        """Return the flow, whose life is told."""
        life.connectors = flow.connectors
        connectors = ", ".join(flow.connectors) or "nothing"
        return SupervisedFlow(str(flow.pair), connectors, partial(self._build, flow), life.changed, life.started)

    def refused(self, flow: RefusedFlow, life: FlowLife) -> SupervisedFlow:
        """Return a flow that is told of as one that cannot be built."""

        def build() -> Mirror:
            raise flow.error

        return SupervisedFlow(str(flow.pair), "nothing", build, life.changed)

    def idle(self, life: FlowLife) -> SupervisedFlow:
        """Return a flow that does nothing, because all of it is stopped."""
        life.connectors = ()
        return SupervisedFlow(life.name, "nothing", lambda: Mirror((), None, Failures()), life.changed, life.started)

    def _build(self, flow: FlowRun) -> Mirror:
        circles = self._circles
        try:
            client_checks.check_addresses(flow.settings)
        except ConfigurationError as error:  # a name that nobody knows today may be known tomorrow
            raise HostError(str(error)) from error
        with flow.lines.named():
            circles.check(flow.pair)
            return wiring.build_mirror(flow.settings, self._host, leaves_out=partial(circles.closed_by, flow.pair))
