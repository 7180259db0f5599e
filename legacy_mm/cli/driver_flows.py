"""The flows of a driver's file or of a worker's connectors, each under the eyes of the supervisor, in one process."""

from __future__ import annotations

import logging

from legacy_mm.cli.mirror_start import admin_port
from legacy_mm.connect.mirror_herder import MirrorHerder
from legacy_mm.flow import group_members, lifecycle
from legacy_mm.flow.host import Host
from legacy_mm.flow.supervisor import Supervisor
from legacy_mm.metrics.connect_mbeans import CONNECT_BEANS
from legacy_mm.metrics.mirror_maker_2_mbeans import MIRROR_MAKER_2_BEANS
from legacy_mm.words.legacy_tool import java_process
from legacy_mm.words.mirror_maker_2.driver import DriverRun

BEANS = (*MIRROR_MAKER_2_BEANS, *CONNECT_BEANS)


def supervise_flows(outcome: DriverRun, host: Host, signals: lifecycle.Signals) -> int:
    """Run the flows on this host until a signal, or until none can run; return the exit code."""
    group_members.load_native()  # each flow is built by a thread of its own
    rest = outcome.flows[0].settings.process.rest
    supervisor = Supervisor(host, signals, outlives_flows=rest.port is not None and rest.actions)
    herder = MirrorHerder(outcome, host, supervisor, f"{rest.address}:{rest.port}")
    with admin_port(host, rest, lambda: herder, outcome.files):
        code = supervisor.run()
    logging.getLogger(java_process.MIRROR_MAKER_2).info("Kafka MirrorMaker stopped.")
    return code
