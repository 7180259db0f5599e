"""What the target refuses for its own sake is set aside by a flag, and the others go on. Scenarios 27 and 32."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from legacy_mm.audit.cluster_access import change_topic, create_topic, end_offsets, read_all
from legacy_mm.audit.ledger_check import Verdict
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BY_HANDLER, PATIENCE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop
from tests.fixtures.tools import Run

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
FLAG = ("--send.on.error", "quarantine")
LARGE = {"max.request.size": "5000000", "buffer.memory": "67108864"}


class Refusal(NamedTuple):
    """Records that the target refuses: how they are made, what makes it refuse them, and what lets them in."""

    work: dict[str, Any]
    barrier: dict[str, str]
    opened: dict[str, str]


REFUSALS = [
    pytest.param(
        Refusal({"size": 2_000_000}, {"max.message.bytes": "1000000"}, {"max.message.bytes": "3000000"}),
        marks=pytest.mark.scenario(27),
        id="too large",
    ),
    pytest.param(
        Refusal(
            {"age_ms": 7_200_000},
            {"message.timestamp.before.max.ms": "3600000"},
            {"message.timestamp.before.max.ms": "9000000000"},
        ),
        marks=pytest.mark.scenario(32),
        id="too old",
    ),
]


def load_with(scene: Scene, refusal: Refusal) -> None:
    """1,000 records, then 5 that are refused and 1,000 more, twice."""
    change_topic(scene.target.bootstrap, scene.topic, refusal.barrier)
    for seed in (9, 11):
        scene.load(5, seed=seed, **refusal.work)
        scene.load(1_000, seed=seed + 1)


def mirror(scene: Scene, *options: str, **settings: Any) -> ToolProcess:
    """Our tool with the flag, and a topic for what is refused."""
    where = ("--quarantine.topic", f"{scene.topic}-aside")
    return scene.mirror(*COMMIT_OFTEN, *FLAG, *where, *options, producer=LARGE, **settings)


def set_aside(scene: Scene) -> int:
    """Records in the topic for what is refused."""
    return sum(end_offsets(scene.target.bootstrap, f"{scene.topic}-aside").values())


def is_set_aside(scene: Scene) -> set[tuple[int, int]]:
    """Partition and offset at the source of what is in that topic."""
    texts = [dict(record.headers) for record in read_all(scene.target.bootstrap, f"{scene.topic}-aside")]
    where = ("legacy_mm.quarantine.partition", "legacy_mm.quarantine.offset")
    return {(int(found[where[0]] or b""), int(found[where[1]] or b"")) for found in texts}


def missing(verdict: Verdict) -> set[tuple[int, int]]:
    """Partition and offset at the source of what is not at the target."""
    return {(partition, offset) for partition, found in verdict.offsets["lost"].items() for offset in found}


@BY_HANDLER
@pytest.mark.parametrize("refusal", REFUSALS)
def test_refused_records_are_set_aside_and_come_later(
    source: Any, target: Any, make_scene: Callable[..., Scene], run: Run, refusal: Refusal
) -> None:
    """Nothing else is missing, doubled or out of order, also not after a restart; `redrive` brings them, once."""
    scene = make_scene(source, target, 1_000)
    load_with(scene, refusal)
    create_topic(target.bootstrap, f"{scene.topic}-aside", 2, config={"max.message.bytes": "5000000"})
    for expected in (3_010, 3_510):
        tool = mirror(scene)
        scene.wait_committed(expected)
        stop(tool)
        verdict = scene.verdict()
        assert (verdict.count("lost"), set_aside(scene)) == (10, 10)
        assert missing(verdict) == is_set_aside(scene)
        assert verdict.count("duplicated") == verdict.count("reordered") == verdict.count("altered") == 0
        assert tool.output().count("which goes into the quarantine") == (10 if expected == 3_010 else 0)
        assert "Error when sending message" not in tool.output()
        scene.load(500, seed=expected)

    line = ("--", *tool.command[1:])
    code, _, told = run("redrive", *line)
    assert (code, scene.verdict().count("lost")) == (255, 510), told
    change_topic(target.bootstrap, scene.topic, refusal.opened)
    for sent in (10, 0):
        code, told, _ = run("redrive", *line)
        assert (code, f"{sent} records redriven, {sent} sent" in told) == (0, True), told
    tool = mirror(scene)
    scene.wait_committed(4_010)
    stop(tool)
    verdict = scene.verdict()
    assert verdict.count("lost") == verdict.count("duplicated") == verdict.count("altered") == 0


@BY_HANDLER
@pytest.mark.scenario(27)
def test_what_no_topic_takes_is_in_the_file(
    source: Any, target: Any, make_scene: Callable[..., Scene], run: Run, tmp_path: Path
) -> None:
    """Larger than max.request.size: not even the quarantine's topic could be sent such a record."""
    scene = make_scene(source, target, 1_000)
    scene.load(5, size=2_000_000)
    create_topic(target.bootstrap, f"{scene.topic}-aside", 2)
    file = tmp_path / "aside.jsonl"
    where = ("--quarantine.topic", f"{scene.topic}-aside", "--quarantine.file", str(file))
    tool = scene.mirror(*COMMIT_OFTEN, *FLAG, *where)
    scene.wait_committed(1_005)
    stop(tool)
    assert (scene.verdict().count("lost"), set_aside(scene), file.read_text().count("\n")) == (5, 0, 5)
    assert tool.output().count(f"which goes into {file}") == 5

    config = Path(tool.command[tool.command.index("--producer.config") + 1])
    config.write_text(config.read_text() + "\nmax.request.size=5000000\nbuffer.memory=67108864\n")
    code, told, error = run("redrive", str(file), "--", *tool.command[1:])
    assert (code, "5 records redriven, 5 sent" in told) == (0, True), error
    verdict = scene.verdict()
    assert verdict.count("lost") == verdict.count("duplicated") == verdict.count("altered") == 0


@BY_HANDLER
@pytest.mark.scenario(32)
def test_killed_while_records_are_refused(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    """Nothing is committed that is neither at the target nor set aside."""
    scene = make_scene(source, target, 1_000)
    refusal = Refusal({"age_ms": 7_200_000}, {"message.timestamp.before.max.ms": "3600000"}, {})
    for _ in range(5):
        load_with(scene, refusal)
    create_topic(target.bootstrap, f"{scene.topic}-aside", 2)
    tool = mirror(scene)
    wait_until(lambda: set_aside(scene) > 0, PATIENCE, "a record set aside")
    tool.signal(signal.SIGKILL)
    tool.wait(20)
    tool = mirror(scene)
    scene.wait_committed(11_050)
    stop(tool)
    verdict = scene.verdict()
    assert verdict.count("lost") == 50
    assert missing(verdict) == is_set_aside(scene)
    assert verdict.count("reordered") == verdict.count("altered") == 0
