"""The source loses records that are copied exactly once, while nobody reads it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic, leader, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from tests.faults.test_exactly_once import UNSAFE, led_and_followed
from tests.fixtures.exactly_once import PATIENCE, read_committed
from tests.fixtures.mirrored import Mirrored, content

pytestmark = pytest.mark.faults
KEPT, CUT, NEW = 900, 100, 300


def test_an_unclean_election_while_no_mirror_runs(
    own_clusters: Callable[..., Cluster],
    target: Any,
    topic: Callable[[], str],
    group: str,
    our_mirror: Callable[..., Any],
) -> None:
    """The new log is longer than the old one was when the mirror starts again, so offsets do not tell; the leader epoch
    of the position does. A person decides; with `go-on` the new log is copied from where it parts.
    """
    source, name = own_clusters(brokers=3), topic()
    create_topic(source.bootstrap, name, 1, 2, UNSAFE)
    create_topic(target.bootstrap, name, 1)
    mirrored = Mirrored(source, target, name, group, our_mirror)
    load(source.bootstrap, name, KEPT, 100)
    mirror = mirrored.start()
    mirrored.wait_committed(KEPT)
    leads, lags = led_and_followed(source, name, 0)
    lags.kill()
    load(source.bootstrap, name, CUT, 100)
    mirrored.wait_committed(KEPT + CUT)
    mirror.kill_tree()
    cut = read_all(source.bootstrap, name)[KEPT:]
    leads.kill()
    lags.restart()
    wait_until(lambda: leader(source.bootstrap, name, 0) == lags.node, PATIENCE, "an unclean election")
    load(source.bootstrap, name, NEW, 100)
    refused = mirrored.start()
    assert refused.wait(PATIENCE) == 255
    gap = f"Gap in {name}-0: from {KEPT + CUT} to {KEPT}, 0 offsets were not copied, reason: the log was truncated at"
    assert gap in refused.output()
    assert f"legacy-mm exactly-once move --to {name}:0:{KEPT} " in refused.output()
    again = mirrored.start("--exactly.once.on.gap", "go-on")
    wait_until(lambda: mirrored.committed() == KEPT + NEW, PATIENCE, "all of the new log")
    again.signal(signal.SIGTERM)
    assert again.wait(PATIENCE) == 143
    assert gap in again.output()
    load(source.bootstrap, name, NEW, 100)
    mirrored.run_until(KEPT + 2 * NEW)
    leads.restart()
    source.wait_ready()
    written = read_all(source.bootstrap, name)
    copied = read_committed(target.bootstrap, name)
    assert list(map(content, copied)) == list(map(content, [*written[:KEPT], *cut, *written[KEPT:]]))
