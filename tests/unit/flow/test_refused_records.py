"""What `plan` and the start tell of records that the target would refuse."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.settings import TopicSettings
from legacy_mm.features import flags
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.refused_records import narrower_limits, quarantine_limits, tell_of_quarantine
from legacy_mm.policies.changes import CreateTopic, SetConfig
from tests.fakes.admin import FakeAdmin
from tests.unit.policies.expression import Expression
from tests.unit.transactions.test_bundle_settings import settings_of

AFTER, NONE = "message.timestamp.after.max.ms", str(2**63 - 1)
ASIDE = ("--send.on.error", "quarantine", "--quarantine.topic", "aside", "--quarantine.file", "/aside.jsonl")
NAMES = FlowTopics(TopicSettings("t.*", "t.*"), flags.settings({}, {}), Expression)
NOW = Deadline(0)


def told(settings: Settings, target: FakeAdmin, *planned: SetConfig | CreateTopic) -> list[str]:
    source = FakeAdmin({"t1": {AFTER: NONE}, "t2": {AFTER: NONE}})
    return list(narrower_limits(settings, NAMES, ["t1", "t2"], (source, target), planned, NOW))


def test_what_copies_refuse_and_what_becomes_of_it(tmp_path: Path) -> None:
    target = FakeAdmin({"t1": {AFTER: "5"}, "t2": {AFTER: "5"}})
    settings = settings_of(tmp_path)
    (text,) = told(settings, target)
    assert text == (
        "t1, t2 at the target: records dated more than 5 ms ahead of the brokers' clock are refused "
        f"({AFTER}=5), though the source may hold some; such a record ends the mirror"
    )
    lost = settings_of(tmp_path, "--abort.on.send.failure", "false")
    assert told(lost, target)[0].endswith("such a record is lost")
    assert told(settings_of(tmp_path, *ASIDE), target)[0].endswith("such a record goes into the quarantine")
    waits = replace(settings, target=replace(settings.target, records_may_wait=True))
    assert told(waits, target)[0].endswith("such a record waits, and its partition with it")


def test_what_the_plan_would_change_is_not_told(tmp_path: Path) -> None:
    target = FakeAdmin({"t1": {AFTER: "5"}, "t2": {AFTER: NONE}})
    planned = SetConfig("t1", AFTER, "5", NONE)
    assert told(settings_of(tmp_path), target, planned) == []
    assert len(told(settings_of(tmp_path), target)) == 1
    made = CreateTopic("t2", 1, 1, {AFTER: "7"})
    assert "t2 at the target" in told(settings_of(tmp_path), FakeAdmin({"t1": {}, "t2": {}}), made)[0]


def test_the_quarantine_is_judged_without_a_topic_to_compare_it_with(tmp_path: Path) -> None:
    target = FakeAdmin({"aside": {AFTER: "5", "max.message.bytes": "9"}})
    found = list(quarantine_limits(settings_of(tmp_path, *ASIDE), target, NOW))
    assert [text.partition(" (")[2].partition("=")[0] for text in found] == [AFTER, "max.message.bytes"]
    assert "such records go into /aside.jsonl" in found[0]
    assert list(quarantine_limits(settings_of(tmp_path), target, NOW)) == []


def test_a_target_that_does_not_answer_is_no_failure_of_the_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "legacy_mm")
    tell_of_quarantine(settings_of(tmp_path, *ASIDE), Deadline.after(0.2))
    assert [line.levelname for line in caplog.records] == ["INFO"]
    assert "It is not known which records the quarantine's topic refuses" in caplog.text
