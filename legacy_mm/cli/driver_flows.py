"""The flows of a driver's file, each under the eyes of the supervisor, in one process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from legacy_mm.assembly import wiring
from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.flow import client_checks, flow_registry, group_members, lifecycle
from legacy_mm.flow.host import Host
from legacy_mm.flow.mirror import Mirror
from legacy_mm.flow.supervisor import SupervisedFlow, supervise
from legacy_mm.metrics.connect_mbeans import CONNECT_BEANS
from legacy_mm.metrics.mirror_maker_2_mbeans import MIRROR_MAKER_2_BEANS
from legacy_mm.metrics.registry import Registry
from legacy_mm.words.legacy_tool import java_process
from legacy_mm.words.mirror_maker_2.circle_guard import Circles
from legacy_mm.words.mirror_maker_2.driver import DriverRun, RefusedFlow
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun

BEANS = (*MIRROR_MAKER_2_BEANS, *CONNECT_BEANS)


def supervise_flows(outcome: DriverRun, host: Host, signals: lifecycle.Signals) -> int:
    """Run the flows on this host until a signal, or until none can run; return the exit code."""
    circles = Circles(outcome.flows, lambda: host.spark.jvm.topic_matcher)
    flows = [_supervised(each, host, circles) for each in outcome.flows]
    flows += [_refused(each, host) for each in outcome.refused]
    group_members.load_native()  # each flow is built by a thread of its own
    code = supervise(flows, host, signals)
    logging.getLogger(java_process.MIRROR_MAKER_2).info("Kafka MirrorMaker stopped.")
    return code


def _supervised(flow: FlowRun, host: Host, circles: Circles) -> SupervisedFlow:
    name = str(flow.pair)
    connectors = ", ".join(flow.connectors) or "nothing"
    on_change = _reporter(host, name, flow.settings.flow, flow.connectors)
    return SupervisedFlow(name, connectors, partial(_build, flow, host, circles), on_change)


def _refused(flow: RefusedFlow, host: Host) -> SupervisedFlow:
    """Return a flow that is told of as one that cannot be built."""

    def build() -> Mirror:
        raise flow.error

    name = str(flow.pair)
    return SupervisedFlow(name, "nothing", build, _reporter(host, name, name, ()))


def _reporter(host: Host, name: str, flow: str, connectors: Sequence[str]) -> Callable[[str], None]:
    """Return what keeps the host's metrics and health in line with the flow's life."""
    life = Registry(flow, "", flow_registry.facts())
    host.registries.append(life)

    def on_change(failure: str) -> None:
        life.flow_runs(up=not failure, connectors=connectors)
        if failure:
            host.failed_flows[name] = failure
            for each in tuple(host.registries):  # other flows change the list meanwhile
                if each.flow == life.flow and each is not life:
                    host.registries.remove(each)
        else:
            host.failed_flows.pop(name, None)

    return on_change


def _build(flow: FlowRun, host: Host, circles: Circles) -> Mirror:
    try:
        client_checks.check_addresses(flow.settings)
    except ConfigurationError as error:  # a name that nobody knows today may be known tomorrow
        raise HostError(str(error)) from error
    with flow.lines.named():
        circles.check(flow.pair)
        return wiring.build_mirror(flow.settings, host, leaves_out=partial(circles.closed_by, flow.pair))
