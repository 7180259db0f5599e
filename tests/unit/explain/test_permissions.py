"""What the two principals must be allowed."""

from __future__ import annotations

from dataclasses import replace

from legacy_mm.explain.permissions import permissions
from legacy_mm.features import flags
from legacy_mm.flow.flow_settings import Settings
from tests.fixtures.flags import switched_on
from tests.unit.flow_settings import flow_settings


def needed(settings: Settings, cluster: str) -> set[tuple[str, str]]:
    return {(row.operation, row.resource) for row in permissions(settings) if row.cluster == cluster}


def with_flags(*names: str) -> Settings:
    given = switched_on(names)
    return replace(flow_settings(), features=flags.settings({name: [text] for name, text in given.items()}))


def test_a_plain_mirror_reads_writes_and_commits() -> None:
    settings = flow_settings()
    topic = "Topic: each that matches t"
    assert needed(settings, settings.source.name) == {("Describe", topic), ("Read", topic), ("Read", "Group: g")}
    assert {("Write", topic), ("Create", topic)} <= needed(settings, settings.target.name)
    assert all(row.reason for row in permissions(settings))


def test_a_feature_adds_its_rights_with_the_names_of_this_flow() -> None:
    settings = with_flags("emit.checkpoints.enabled")
    plain = set(permissions(replace(settings, features=flow_settings().features)))
    added = {row for row in set(permissions(settings)) - plain if row.reason == "emit.checkpoints.enabled"}
    assert {(row.cluster, row.operation, row.resource) for row in added} == {
        ("source", "Describe", "the groups and on the topics"),
        ("source", "Read", "the topic of offset syncs"),
        ("target", "Create", "the cluster or on topic west.checkpoints.internal"),
        ("target", "Read and Write", "that topic"),
    }


def test_exactly_once_needs_no_question_about_what_arrived() -> None:
    settings = with_flags("exactly.once")
    assert needed(settings, "source") - needed(flow_settings(), "source") == {("Describe", "the group")}
    topic = "Topic: each that matches t"
    assert needed(settings, "target") == {
        ("Write", topic),
        ("Create", topic),
        ("Write and Describe", "transactional ids that begin with legacy-mm."),
        ("Create, Describe, DescribeConfigs, Read and Write", "topics that begin with legacy-mm-positions."),
    }


def test_a_flow_without_streams_needs_what_its_features_need() -> None:
    settings = replace(flow_settings(), streams=0)
    assert permissions(settings) == []
    beats = permissions(replace(with_flags("emit.heartbeats.enabled"), streams=0))
    assert beats
    assert {row.reason for row in beats} == {"emit.heartbeats.enabled"}
