"""A value that one flow of MirrorMaker 2's file cannot use: that flow does not run, and says why; the others copy."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import end_offsets, list_topics
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.driver_files import driver_file
from tests.fixtures.tools import Run
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
STOPPED = 128 + signal.SIGTERM
RECORDS = 60
COMMENT = "in such a file a comment needs a line of its own"
NO_PATTERN = "topics: [ is no list of Java regular expressions"
CASES = [
    ("bad.consumer.max.poll.records", "5 # x", "Not a number of type INT", True),
    ("bad->t.producer.override.linger.ms", "5 # x", "Not a number of type LONG", True),
    ("bad->t.exactly.once", "yes # x", "exactly.once: 'yes # x' is neither true nor false", True),
    ("bad->t.topics", "[", NO_PATTERN, True),
    ("bad->t.refresh.topics.interval.seconds", "60  # x", "Not a number of type LONG", False),
    ("bad->t.topics.exclude", "[", "topics.exclude: [ is no list of Java regular expressions", True),
]
"""Key, value, what is said, and if the flow as a whole is refused, not only its connector of records."""


@pytest.fixture
def file(source: Any, target: Any, topic: Callable[..., str]) -> Iterator[dict[str, str]]:
    """Two flows of one topic: `good` and `bad` are the same cluster."""
    name = topic("t")
    load(source.bootstrap, name, RECORDS, 50, partitions=2)
    yield driver_file(
        {"good": source, "bad": source, "t": target},
        **{
            "good->t.enabled": "true",
            "bad->t.enabled": "true",
            "topics": name,
            "groups": name,
            "emit.heartbeats.enabled": "false",
        },
    )


def test_flows_that_would_copy_for_ever_run_nowhere(
    source: Any, target: Any, warm_driver: Callable[..., WarmMirror], run: Run, tmp_path: Path
) -> None:
    """Where the aliases hold the separator, MirrorMaker 2 makes a topic more at each look."""
    clusters = {"dc1.prod": source, "dc2.prod": target}
    both = {f"{one}->{other}.enabled": "true" for one, other in (tuple(clusters), tuple(clusters)[::-1])}
    file = driver_file(clusters, **both)
    before = list_topics(source.bootstrap), list_topics(target.bootstrap)
    node = warm_driver(file)
    assert node.wait(SECONDS) == 2
    why = "would come back as dc2.prod.dc1.prod.heartbeats, and again under a longer name each time,"
    assert (
        "Flow dc1.prod->dc2.prod does not run until its configuration is changed: heartbeats of dc1.prod"
        in node.output()
    )
    assert (list_topics(source.bootstrap), list_topics(target.bootstrap)) == before
    words = ("--", "connect-mirror-maker.sh", str(write_properties(tmp_path / "mm2.properties", file)))
    for command, code in (("plan", 1), ("explain", 2)):
        found, said, _ = run(command, *words)
        assert found == code
        assert why in " ".join(said.split())
    assert why in node.output()


def test_a_flow_stops_when_its_copies_come_back_under_longer_names(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    warm_driver: Callable[..., WarmMirror],
    run: Run,
    tmp_path: Path,
) -> None:
    """By a mirror that calls the clusters otherwise: no name holds the alias of our target."""
    name = topic("t")
    rounds = [name, f"x.a.{name}", f"x.a.x.a.{name}"]
    for each in rounds[:2]:
        load(source.bootstrap, each, RECORDS, 50, partitions=1)
    file = driver_file(
        {"a": source, "b": target},
        **{
            "a->b.enabled": "true",
            "topics": f".*{name}",
            "groups": name,
            "emit.heartbeats.enabled": "false",
            "refresh.topics.interval.seconds": "1",
        },
    )
    node = warm_driver(file)
    for each in rounds[:2]:
        wait_until(lambda: _arrived(target, f"a.{each}") == RECORDS, SECONDS, "one round")  # noqa: B023
    load(source.bootstrap, rounds[2], RECORDS, 50, partitions=1)
    assert node.wait(SECONDS) == 2
    why = (
        f"topics come back to the source and would be copied again, under a longer name each time: {', '.join(rounds)};"
    )
    assert f"Flow a->b does not run until its configuration is changed: {why}" in node.output()
    assert _arrived(target, f"a.{rounds[2]}") == 0
    code, planned, _ = run("plan", "--", "connect-mirror-maker.sh", str(write_properties(tmp_path / "f", file)))
    assert (code, f"trouble: {why}" in planned) == (1, True)


@pytest.mark.parametrize(("key", "value", "why", "whole"), CASES, ids=[key for key, *_ in CASES])
def test_the_other_flow_copies(
    file: dict[str, str],
    key: str,
    value: str,
    why: str,
    whole: bool,
    target: Any,
    warm_driver: Callable[..., WarmMirror],
    run: Run,
    tmp_path: Path,
) -> None:
    """The start, `explain` and `plan` say the same; the flow is told of once."""
    wrong = {**file, key: value}
    refused = f"{key} = {value}: "
    node = warm_driver(wrong)
    wait_until(lambda: _arrived(target, f"good.{file['topics']}") == RECORDS, SECONDS, "the other flow")
    said = "Flow bad->t does not run until its configuration is changed: " if whole else " connector for bad->t: "
    node.wait_for_output(f"{said}{refused}", SECONDS)
    node.signal(signal.SIGTERM)
    assert node.wait(SECONDS) == STOPPED
    (line,) = (each for each in node.output().splitlines() if refused in each)
    assert why in line
    assert (COMMENT in line) == ("#" in value)
    assert _arrived(target, f"bad.{file['topics']}") == 0

    words = ("--", "connect-mirror-maker.sh", str(write_properties(tmp_path / "mm2.properties", wrong)))
    code, explained, _ = run("explain", *words)
    assert (code, refused in explained, why in explained) == (0, True, True)
    code, planned, errors = run("plan", *words)
    assert "good->t:" in planned, errors
    if whole:
        assert code == 1
        assert f"trouble: {refused}" in planned


def _arrived(target: Any, copy: str) -> int:
    return sum(end_offsets(target.bootstrap, copy).values()) if copy in list_topics(target.bootstrap) else 0
