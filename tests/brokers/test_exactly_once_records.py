"""Handlers, steps, names and the quarantine: all that a source record becomes is in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import create_topic, end_offsets, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.record_comparison import ObservedRecord
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.exactly_once import PATIENCE, read_committed
from tests.fixtures.mirrored import PARTITIONS, Mirrored, content

pytestmark = pytest.mark.brokers
RECORDS, SIZE = 15_000, 2_000
SAMPLES = Path(__file__).parents[2] / "samples" / "handlers" / "handlers.py"
PICKY = """
def handle(record):
    if record.key.endswith(b"77"):
        raise ValueError("is bad")
    return [record.to(record.topic)]
"""
Contents = Iterable[tuple[Any, ...]]
Expected = dict[str, Callable[[list[ObservedRecord]], Contents]]
"""Name of a target topic, with `{}` for the source's -> what it must hold of the source's records."""


def every(records: list[ObservedRecord]) -> Contents:
    """As they are."""
    return map(content, records)


def without_keys(records: list[ObservedRecord]) -> Contents:
    """As `FanOut` archives them."""
    return (content(replace(record, key=None)) for record in records)


def ending(*texts: bytes, wanted: bool = True) -> Callable[[list[ObservedRecord]], Contents]:
    """Those whose keys end so, or all others."""
    return lambda records: (content(each) for each in records if (each.key or b"").endswith(texts) is wanted)


def python_handler(_: pytest.FixtureRequest, __: Path) -> Iterator[str]:
    """Two records of each."""
    yield from ("--message.handler", f"{SAMPLES}:FanOut")


def java_handler(request: pytest.FixtureRequest, _: Path) -> Iterator[str]:
    """The same, in a jar."""
    jar = request.getfixturevalue("handler_jars")["FanOut"]
    yield from ("--message.handler", "handlers.FanOut", "--handler.classpath", str(jar))


def steps(_: pytest.FixtureRequest, __: Path) -> Iterator[str]:
    """Fewer records, elsewhere, with a header."""
    for step in ("filter.key=.*[05]$", "rename.suffix=.copy", "provenance=west"):
        yield from ("--handler.step", step)


def renaming(_: pytest.FixtureRequest, __: Path) -> Iterator[str]:
    """The flag of the ladder."""
    yield from ("--rename.topics", "true", "--source.cluster.alias", "west", "--target.cluster.alias", "east")


def quarantine_topic(_: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """One record in a hundred fails."""
    script = folder / "picky.py"
    script.write_text(PICKY)
    yield from ("--message.handler", str(script), "--handler.on.error", "quarantine", "--quarantine.topic", "{}.aside")


WAYS: dict[Callable[[pytest.FixtureRequest, Path], Iterator[str]], Expected] = {
    python_handler: {"{}": every, "{}.archive": without_keys},
    java_handler: {"{}": every, "{}.archive": without_keys},
    steps: {"{}.copy": ending(b"0", b"5")},
    renaming: {"west.{}": every},
    quarantine_topic: {"{}": ending(b"77", wanted=False), "{}.aside": ending(b"77")},
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_killed_halfway(
    way: Callable[[pytest.FixtureRequest, Path], Iterator[str]],
    mirrored: Mirrored,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    """All that a source record becomes is seen once, in order, in each topic; or not at all."""
    expected = {name.format(mirrored.topic): becomes for name, becomes in WAYS[way].items()}
    words = [word.replace("{}", mirrored.topic) for word in way(request, tmp_path)]
    bootstrap = mirrored.target.bootstrap
    for name in expected.keys() - {mirrored.topic}:
        create_topic(bootstrap, name, PARTITIONS)
    load(mirrored.source.bootstrap, mirrored.topic, RECORDS, SIZE)
    mirror = mirrored.start(*words, "--exactly.once.interval.ms", "10000")
    some = next(iter(expected))
    wait_until(lambda: sum(end_offsets(bootstrap, some).values()) > RECORDS // 20, PATIENCE, f"copies in {some}")
    mirror.kill_tree()
    mirrored.run_until(RECORDS, *words)
    written = read_all(mirrored.source.bootstrap, mirrored.topic)
    for name, becomes in expected.items():
        seen = read_committed(bootstrap, name)
        assert list(map(content, seen)) == list(becomes(written)), name
    again = {name: len(read_all(bootstrap, name)) - len(list(becomes(written))) for name, becomes in expected.items()}
    assert any(again.values()), "nothing was given up, so the test shows nothing"
