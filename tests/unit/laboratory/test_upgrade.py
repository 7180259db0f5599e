"""The table of `bin/demo upgrade` and its features files, against what the tool itself makes of the flags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from compat.laboratory.checkout import SAMPLES
from compat.laboratory.upgrade_demo import Step, timed
from compat.laboratory.upgrade_files import adapted, combined, entries, sample_of, written
from compat.laboratory.upgrade_rungs import RUNGS, Rung, checkpoint_of, in_force, rules_with
from compat.laboratory.upgrade_waves import Rules
from legacy_mm.audit.record_comparison import ObservedRecord
from legacy_mm.base.errors import ConfigurationError, LegacyMMError
from legacy_mm.cli.mirror_line import MirrorLine
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.rows import FLAGS
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.protocol.mirror_records import Checkpoint

FOLDER = SAMPLES / "features"
QUICKSTART = SAMPLES / "legacy" / "quickstart"
STEPS = {
    0: [],
    1: [1],
    4: [1, 2, 3, 4],
    5: [1, 2, 3, 4, 5],
    6: [1, 2, 3, 4, 6],
    7: [1, 2, 3, 4, 5, 7],
    10: [1, 2, 3, 4, 5, 7, 8, 9, 10],
    11: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11],
    12: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12],
}


def settings_of(folder: Path, numbers: Sequence[int]) -> Settings:
    """What the tool runs with when the rungs of these numbers are switched on."""
    samples = [entries(sample_of(FOLDER, number, RUNGS[number - 1].flag).read_text()) for number in numbers]
    off = {rung.flag for number, rung in enumerate(RUNGS, 1) if number not in numbers}
    file = folder / "features.properties"
    file.write_text(written(combined(samples, off)))
    words = [f"--{side}.config={QUICKSTART / side}.properties" for side in ("consumer", "producer")]
    (found,) = MirrorLine([*words, "--whitelist", "orders.*,audit", "--features.config", str(file)]).flows()
    return found


def test_the_rungs_are_the_ladder() -> None:
    ladder = sorted((row for row in FLAGS if row.is_feature), key=lambda row: row.step)
    assert [rung.flag for rung in RUNGS] == [row.name for row in ladder]
    assert len(list(FOLDER.iterdir())) == len(RUNGS)


@pytest.mark.parametrize("number", STEPS)
def test_what_is_in_force_gets_along(number: int, tmp_path: Path) -> None:
    rungs = in_force(number)
    assert [RUNGS.index(rung) + 1 for rung in rungs] == STEPS[number]
    found = settings_of(tmp_path, STEPS[number]).features
    rules = rules_with(rungs)
    assert rules.keeps_partitions == found.preserve_partitions
    assert bool(rules.path) == found.detect_loops
    assert bool(rules.prefix) == (found.naming.policy == "DefaultReplicationPolicy")
    assert (found[CHECKPOINTS] is not None) == (number >= 9)


@pytest.mark.parametrize("rung", [rung for rung in RUNGS if rung.excludes], ids=lambda rung: rung.flag)
def test_what_a_rung_excludes_is_refused_beside_it(rung: Rung, tmp_path: Path) -> None:
    flags = [each.flag for each in RUNGS]
    for other in rung.excludes:
        numbers = sorted({1, flags.index(rung.flag) + 1, flags.index(other) + 1})
        with pytest.raises(ConfigurationError, match="exclude each other"):
            settings_of(tmp_path, numbers)


def test_a_sample_is_adapted_and_that_is_told() -> None:
    found, told = adapted(entries(sample_of(FOLDER, 2, "topic.creation").read_text()))
    assert found == {"topic.creation": "true", "replication.factor": "1"}
    assert told == [
        "replication.factor: 1 here, a cluster is one broker",
        "feature.topics: left out, all topics at once",
    ]
    found, told = adapted(entries(sample_of(FOLDER, 4, "sync.topic.acls.enabled").read_text()))
    assert found == {"sync.topic.acls.enabled": "true"}
    assert told == ["target.admin: left out, there are no logins"]


def test_continued_lines_and_escapes_stay_as_they_are() -> None:
    text = "# a=b\n\na=x\\\\..*,\\\n y=z\nb=1\n"
    assert entries(text) == {"a": "x\\\\..*,y=z", "b": "1"}
    assert entries(written(entries(text))) == entries(text)


def test_a_sample_that_is_about_something_else_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"2-\*\.properties that switches rename\.topics on"):
        sample_of(FOLDER, 2, "rename.topics")


def test_without_a_rung_the_old_rules_hold() -> None:
    assert rules_with(in_force(0)) == Rules()


def test_checkpoints_are_read_as_they_are_written() -> None:
    key, value = Checkpoint("billing", "west.audit", 3, 1 << 40, 7, "note").encode()
    record = ObservedRecord("west.checkpoints.internal", 0, 0, 1, 0, key, value)
    assert checkpoint_of(record) == (("billing", ("west.audit", 3)), (1 << 40, 7))


def test_a_step_that_breaks_its_word_is_told_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    def act(_: Step) -> None:
        raise TimeoutError("waited 9 s for the planned changes")

    with pytest.raises(LegacyMMError, match=r"^Up, 1 of 10: waited 9 s for the planned changes$"):
        timed(Step("Up, 1 of 10", (), {}), act)
    assert capsys.readouterr().out == "\nUp, 1 of 10\n"
