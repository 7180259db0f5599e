"""The flows of a driver's file or of a worker's connectors, each under the eyes of the supervisor, in one process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from legacy_mm.base.clock import Deadline
from legacy_mm.cli.mirror_start import admin_port
from legacy_mm.connect.driver_herder import DriverHerder
from legacy_mm.connect.mirror_herder import MirrorHerder
from legacy_mm.connect.start_words import StartWords
from legacy_mm.flow import group_members, key_stores, lifecycle
from legacy_mm.flow.host import Host
from legacy_mm.flow.supervisor import Supervisor
from legacy_mm.metrics.connect_mbeans import CONNECT_BEANS
from legacy_mm.metrics.mirror_maker_2_mbeans import MIRROR_MAKER_2_BEANS
from legacy_mm.words.legacy_tool import java_process
from legacy_mm.words.mirror_maker_2.driver import DriverRun

BEANS = (*MIRROR_MAKER_2_BEANS, *CONNECT_BEANS)
Again = Callable[[], StartWords[DriverRun]]
"""Returns how the file is read again for a reload."""
_CLOSE_TIMEOUT = 1.0


def supervise_flows(
    outcome: DriverRun,
    host: Host,
    signals: lifecycle.Signals,
    again: Again | None = None,
    own_words: Sequence[str] = (),
) -> int:
    """Run the flows on this host until a signal, or until none can run; return the exit code.

    `again`: for a reload; None: the file is not read again. `own_words` give our options.
    """
    group_members.load_native()  # each flow is built by a thread of its own
    rest = outcome.process.rest
    supervisor = Supervisor(host, signals, outlives_flows=outcome.may_grow)
    with (
        _herder(outcome, host, supervisor, again) as herder,
        admin_port(host, rest, lambda: herder, own_words, outcome.files),
    ):
        code = supervisor.run()
    logging.getLogger(java_process.MIRROR_MAKER_2).info("Kafka MirrorMaker stopped.")
    return code


@contextmanager
def _herder(outcome: DriverRun, host: Host, supervisor: Supervisor, again: Again | None) -> Iterator[MirrorHerder]:
    """Yield who runs the connectors.

    Raises LegacyMMError, with the host closed, where those of a distributed worker cannot be read.
    """
    rest = outcome.process.rest
    worker_id = f"{rest.address}:{rest.port}"
    if outcome.storage is None:
        own = (outcome, host, supervisor, worker_id)
        yield MirrorHerder(*own) if again is None or rest.port is None else DriverHerder(*own, again())
        return
    from legacy_mm.connect.config_topic import ConfigTopic
    from legacy_mm.connect.distributed_herder import DistributedHerder

    storage = outcome.storage
    try:
        cluster = key_stores.with_store(storage.cluster, lambda: host.spark.jvm)
        topic = ConfigTopic(cluster.connection, storage.topic, storage.replication_factor)
        topic.prepare()
        herder = DistributedHerder(outcome, host, supervisor, worker_id, topic)
        herder.begin()
    except BaseException:
        host.close(Deadline.after(_CLOSE_TIMEOUT))
        raise
    try:
        yield herder
    finally:
        herder.end()
