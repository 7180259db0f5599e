"""A target behind a line of 40 ms: order is kept, nothing is lost or comes twice."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.handlers import SAMPLES
from compat.laboratory.proxy import Proxy
from legacy_mm.audit.cluster_access import create_topic, end_offsets, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.settings import HandlerSettings
from tests.fixtures.copying import PATIENCE, Copying, Start

pytestmark = pytest.mark.brokers
PARTITIONS, COUNT, CUTS = 24, 200_000, 8
HANDLER = {"handler": HandlerSettings(f"{SAMPLES / 'handlers.py'}:Rename", argument="copy.")}


class Far:
    """A cluster of one broker, and the line to it."""

    def __init__(self, cluster: Cluster, proxy: Proxy) -> None:
        self.near, self.bootstrap, self.proxy = cluster.bootstrap, cluster.bootstrap_of(PROXIED), proxy


@pytest.fixture(scope="module")
def far(module_clusters: Callable[..., Cluster]) -> Iterator[Far]:
    proxies: list[Proxy] = []

    def advertise(port: int) -> tuple[str, int]:
        proxies.append(Proxy(port, delay_ms=20))
        return proxies[0].address

    cluster = module_clusters(advertise=advertise)
    with closing(proxies[0]) as proxy:
        yield Far(cluster, proxy)


Begin = Callable[..., tuple[str, Copying]]


@pytest.fixture
def begin(source: Any, far: Far, topic: Callable[[], str], start_copying: Start) -> Begin:
    """Start copying a full topic: `begin(prefix="")`; its name and what copies it. Keywords are those of `Copying`."""

    def made(prefix: str = "", **config: Any) -> tuple[str, Copying]:
        name = topic()
        create_topic(source.bootstrap, name, PARTITIONS)
        create_topic(far.near, prefix + name, PARTITIONS)
        load(source.bootstrap, name, COUNT, 100, partitions=PARTITIONS)
        return name, start_copying(source.bootstrap, far.bootstrap, name, PARTITIONS, **config)

    return made


def differences(source: Any, far: Far, name: str, prefix: str = "") -> list[str]:
    found = [replace(record, topic=name) for record in read_all(far.near, prefix + name)]
    return same_records(read_all(source.bootstrap, name), found, target_partitions=PARTITIONS)


def arrived(far: Far, name: str) -> int:
    return sum(end_offsets(far.near, name).values())


@pytest.mark.parametrize("config", [{}, pytest.param(HANDLER, marks=pytest.mark.slow)], ids=["plain", "handler"])
def test_order_is_kept_and_nothing_comes_twice(source: Any, far: Far, begin: Begin, config: dict[str, Any]) -> None:
    prefix = "copy." if config else ""
    name, copying = begin(prefix, **config)
    copying.wait_safe(COUNT)
    assert copying.stop() == {}
    assert differences(source, far, name, prefix) == []


def test_a_long_line_that_is_cut_again_and_again(source: Any, far: Far, begin: Begin) -> None:
    """Invariants A and C."""
    name, copying = begin()
    chance, total = random.Random(5), COUNT
    for seed in range(CUTS):
        wanted = min(total, arrived(far, name) + chance.randrange(COUNT // 20))
        wait_until(lambda: copying.over() or arrived(far, name) >= wanted, PATIENCE, "records")  # noqa: B023
        assert copying.error is None
        wait_until(lambda: far.proxy.cut() > 0, PATIENCE, "a connection to cut")
        load(source.bootstrap, name, COUNT // 20, 100, partitions=PARTITIONS, seed=seed)
        total += COUNT // 20
    copying.wait_safe(total)
    assert copying.stop() == {}
    assert differences(source, far, name) == []


@pytest.mark.slow
def test_a_stop_over_a_long_line_says_what_did_not_arrive(
    source: Any, far: Far, begin: Begin, start_copying: Start
) -> None:
    name, copying = begin()
    wait_until(lambda: arrived(far, name) >= COUNT // 10, PATIENCE, "some records")
    far.proxy.stall()
    try:
        left = copying.stop(2.0)
    finally:
        far.proxy.resume()
    assert left
    assert sum(copying.safe.values()) <= arrived(far, name) < COUNT
    assert all(offset > copying.safe.get(partition, 0) for partition, offset in left.items())
    places = dict.fromkeys(copying.config.offsets, 0) | copying.safe
    again = start_copying(source.bootstrap, far.bootstrap, name, PARTITIONS, begin=places)
    wait_until(lambda: sum((copying.safe | again.safe).values()) == COUNT, PATIENCE, "the rest")
    assert again.stop() == {}
    found = read_all(far.near, name)
    assert (
        same_records(read_all(source.bootstrap, name), found, target_partitions=PARTITIONS, allow_duplicates=True) == []
    )
