"""Real files of MirrorMaker 2 mean what a reading of the driver's source says, and the driver's traps are its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, NoFlows, Pair
from legacy_mm.words.mirror_maker_2.flow_reading import DEFAULT_LIST, FlowReading, ListWords

RECORDED = Path(__file__).parents[4] / "compat" / "recorded" / "facts" / "mm2_files.json"
TEMPLATES = ("foxdalas-groupid", "naturalett-msk")
"""The reading is of what they become: as it stands, `tasks.max=${TASKS_MAX}` is no number."""
FILES = [row for row in json.loads(RECORDED.read_text()) if row["kind"] == "dedicated" and row["id"] not in TEMPLATES]
AB = "clusters = A, B\nA.bootstrap.servers = a:9092\nB.bootstrap.servers = b:9092\n"


def file_of(text: str, *served: str) -> DriverFile:
    return DriverFile(properties_file.loads(text.encode("iso-8859-1", "replace")), served)


def of_row(row: Mapping[str, Any]) -> DriverFile:
    (path,) = [path for path in row["files"] if path.split("/")[-1] in str(row["command"])] or list(row["files"])[:1]
    return file_of(row["files"][path], *row["expect"].get("clusters_option", ()))


def listed(words: ListWords) -> dict[str, Any]:
    return {"include": list(words.include), "exclude": DEFAULT_LIST if words.exclude is None else list(words.exclude)}


def policy(reading: FlowReading) -> dict[str, str]:
    words = reading.policy()
    separator = {} if words.separator is None else {"separator": words.separator}
    return {
        "class": words.name,
        **separator,
        "t_becomes": words.t_becomes or "unsure: decided by the user's Java class",
    }


@pytest.mark.parametrize("row", FILES, ids=[row["id"] for row in FILES])
def test_a_real_file(row: dict[str, Any]) -> None:
    expected = row["expect"]
    try:
        readings = [FlowReading.of_driver(of_row(row), pair) for pair in of_row(row).pairs()]
    except ConfigurationError as error:
        kind = "No source->target replication flows." if isinstance(error, NoFlows) else 'no "clusters"'
        assert expected["start"] == f"exit 2: {kind}"
        return
    copying = [each for each in readings if each.copies]
    assert expected["start"] == "runs"
    assert sorted([each.pair.source, each.pair.target, each.copies] for each in readings) == sorted(expected["flows"])
    assert {str(each.pair): listed(each.topics()) for each in copying} == expected["topics"]
    assert {str(each.pair): listed(each.groups()) for each in copying} == expected["groups"]
    assert {str(each.pair): policy(each) for each in copying} == expected["policy"]
    assert {str(each.pair): each.features() for each in readings} == expected["features"]
    assert {str(each.pair): each.text("source", "tasks.max") for each in copying} == expected.get("tasks_max", {})


@pytest.mark.parametrize(
    ("line", "copies", "runs"),
    [
        ("A->B.enabled = true", True, True),
        ("A->B.enabled = TRUE", True, True),
        ("A->B.enabled = true ", True, True),
        ("A->B.enabled = true # on", False, True),
        ("A->B.enabled = yes", False, True),
        ("A->B.enabled = true \nemit.heartbeats.enabled = true ", False, False),
        ("enabled = true", True, True),
    ],
)
def test_the_driver_does_not_trim_and_connectors_do(line: str, *, copies: bool, runs: bool) -> None:
    file = file_of(f"{AB}{line}\n")
    pairs = file.pairs_or_none()
    assert (Pair("A", "B") in pairs) is runs
    if runs:
        assert FlowReading.of_driver(file, Pair("A", "B")).copies is copies


def test_a_key_of_a_flow_wins_over_the_top_level_and_a_cluster_s_key_is_none_of_a_flow() -> None:
    text = f"{AB}A->B.enabled = true\ntopics = top\nA->B.topics = own\nA.topics = cluster\nreplication.factor = 5\n"
    reading = FlowReading.of_driver(file_of(text), Pair("A", "B"))
    assert reading.topics().include == ("own",)
    assert reading.text("source", "replication.factor") == "5"
    assert FlowReading.of_driver(file_of(text), Pair("B", "A")).topics().include == ("top",)


@pytest.mark.parametrize(("release", "excluded"), [("3.9", ("x", "y")), ("4", None)])
def test_old_names_of_lists_are_read_as_the_release_reads_them(release: Any, excluded: tuple[str, ...] | None) -> None:
    text = f"{AB}A->B.enabled = true\ntopics.blacklist = x, y\n"
    assert FlowReading.of_driver(file_of(text), Pair("A", "B"), release).topics().exclude == excluded


def test_today_s_name_of_a_list_wins_over_the_old_one() -> None:
    text = f"{AB}A->B.enabled = true\ntopics.blacklist = x\ntopics.exclude = y\n"
    assert FlowReading.of_driver(file_of(text), Pair("A", "B")).topics().exclude == ("y",)


def test_a_value_that_is_no_number_refuses_the_connectors_that_define_it() -> None:
    text = f"{AB}A->B.enabled = true\nsync.topic.acls.interval.seconds = 10 # often\n"
    reading = FlowReading.of_driver(file_of(text), Pair("A", "B"))
    assert set(reading.refusals) == {"source"}
    assert not reading.copies
    assert reading.features() == {"heartbeats": True}


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("offset-syncs.topic.location = something", {"source", "checkpoint"}),
        ("offset-syncs.topic.location = TARGET", {"source", "checkpoint"}),
        ("offset-syncs.topic.location = target", set()),
        ("A->B.security.protocol = abc", {"source", "checkpoint", "heartbeat"}),
        ("A->B.security.protocol = sasl_ssl", set()),
        ("A->B.offset.lag.max = bad", {"source"}),
        ("A->B.exactly.once.support = required", set()),
        ("A->B.exactly.once.support = garbage\nA->B.source.consumer.isolation.level = garbage", set()),
    ],
)
def test_a_word_that_is_none_of_those_allowed_refuses_the_connectors_that_define_it(
    line: str, refused: set[str]
) -> None:
    """MirrorSourceConfigTest:112, MirrorConnectorConfigTest:175 and 182, MirrorSourceConnectorTest:560."""
    reading = FlowReading.of_driver(file_of(f"{AB}A->B.enabled = true\n{line}\n"), Pair("A", "B"))
    assert set(reading.refusals) == refused
    assert all(line.partition(" = ")[2] in why for why in reading.refusals.values())


def test_a_checkpoint_connector_that_is_off_is_not_checked() -> None:
    """MirrorCheckpointConfigTest:102 and 117."""
    text = f"{AB}A->B.enabled = false\nemit.checkpoints.enabled = false\nemit.offset-syncs.enabled = false\n"
    assert FlowReading.of_driver(file_of(text), Pair("A", "B")).refusals == {}


@pytest.mark.parametrize(("name", "text"), [("groups", "*"), ("groups.exclude", "a.*,*-temp")])
def test_a_list_of_groups_that_is_none_refuses_its_connector_and_copying_goes_on(name: str, text: str) -> None:
    """The real connector of checkpoints fails (4.3.0, seen)."""
    reading = FlowReading.of_driver(file_of(f"{AB}A->B.enabled = true\nA->B.{name} = {text}\n"), Pair("A", "B"))
    bad = text.rpartition(",")[2]
    why = f"A->B.{name} = {text}: {bad} is no Java regular expression: .{bad} was probably meant"
    assert reading.refusals == {"checkpoint": why}
    assert reading.copies
    assert not reading.has_checkpoints


@pytest.mark.parametrize("switch", ["emit.checkpoints.enabled", "emit.offset-syncs.enabled"])
def test_checkpoints_that_are_off_refuse_their_connector_and_copying_goes_on(switch: str) -> None:
    reading = FlowReading.of_driver(file_of(f"{AB}A->B.enabled = true\n{switch} = false\n"), Pair("A", "B"))
    assert set(reading.refusals) == {"checkpoint"}
    assert reading.copies
    assert not reading.has_checkpoints


@pytest.mark.parametrize(
    ("what", "word"),
    [
        ("refresh.topics", "refresh_topics"),
        ("sync.topic.configs", "topic_configs"),
        ("sync.topic.acls", "topic_acls"),
        ("emit.checkpoints", "checkpoints"),
        ("sync.group.offsets", "group_offsets"),
        ("emit.heartbeats", "heartbeats"),
    ],
)
def test_a_negative_interval_turns_off_what_it_is_for_and_refuses_nothing(what: str, word: str) -> None:
    text = f"{AB}A->B.enabled = true\nsync.group.offsets.enabled = true\n"
    every = FlowReading.of_driver(file_of(text), Pair("A", "B")).features()
    reading = FlowReading.of_driver(file_of(f"{text}A->B.{what}.interval.seconds = -1\n"), Pair("A", "B"))
    assert (reading.copies, reading.refusals) == (True, {})
    off = {name for name, value in reading.features().items() if value is False and every[name] is not False}
    assert off == ({word, "group_offsets"} if word == "checkpoints" else {word})
