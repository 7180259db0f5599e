"""What follows from the flag for a flow's settings, and what is refused with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.cli.mirror_line import MirrorLine
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.transactions.bundle_settings import check, flow_bundles, of_committed_records


def settings_of(folder: Path, *options: str, consumer: str = "", producer: str = "") -> Settings:
    """The settings of a line with these options, and these lines in its files."""
    words = []
    for side, lines in (("consumer", f"group.id=g\n{consumer}"), ("producer", producer)):
        file = folder / f"{side}.properties"
        file.write_text(f"bootstrap.servers=localhost:1\n{lines}\n")
        words += [f"--{side}.config", str(file)]
    (found,) = MirrorLine([*words, "--whitelist", "t", *options]).flows()
    return found


ON = ("--exactly.once", "true")


def test_committed_records_are_read_and_a_gap_ends_the_mirror(tmp_path: Path) -> None:
    off, on = settings_of(tmp_path), settings_of(tmp_path, *ON)
    assert of_committed_records(off) is off
    assert (off.source.committed_only, off.fail_on_gap) == (False, False)
    assert (on.source.committed_only, on.fail_on_gap) == (True, True)
    goes_on = settings_of(tmp_path, *ON, "--exactly.once.on.gap", "go-on", "--on.gap", "fail")
    assert (goes_on.source.committed_only, goes_on.fail_on_gap) == (True, False)


def test_names_come_from_group_and_aliases(tmp_path: Path) -> None:
    assert flow_bundles(settings_of(tmp_path, *ON)).positions_topic == "legacy-mm-positions.g.source.target.internal"
    aliases = ("--source.cluster.alias", "west", "--target.cluster.alias", "east")
    assert flow_bundles(settings_of(tmp_path, *ON, *aliases)).name == "g.west.east"


def test_kip_656_has_another_spelling(tmp_path: Path) -> None:
    found = settings_of(tmp_path, producer="transaction.producer=true")
    assert found.source.committed_only


@pytest.mark.parametrize(
    ("options", "files", "why"),
    [
        ((), {"producer": "acks=1"}, "needs acks=all"),
        ((), {"consumer": "isolation.level=read_uncommitted"}, "needs isolation.level=read_committed"),
        (("--num.streams", "25"), {}, "has no work for more than 24 streams"),
        (("--send.on.error", "quarantine"), {}, "cannot keep refused records in a file"),
    ],
)
def test_what_breaks_the_promise_is_refused_where_the_line_is_read(
    tmp_path: Path, options: tuple[str, ...], files: dict[str, str], why: str
) -> None:
    settings_of(tmp_path, *options, **files)
    with pytest.raises(ConfigurationError, match=why):
        settings_of(tmp_path, *ON, *options, **files)


def test_old_brokers_are_refused_when_they_are_asked(tmp_path: Path) -> None:
    found = settings_of(tmp_path, *ON)
    check(found)
    with pytest.raises(ConfigurationError, match=r"needs brokers from Kafka 2\.5 on"):
        check(found, init_producer_id=1)
    check(settings_of(tmp_path, *ON, "--exactly.once.old.brokers", "true"), init_producer_id=1)
