"""Keys of a file that nobody reads, and the key that was probably meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.mirror_maker_2 import unused_keys
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile

RECORDED = Path(__file__).parents[4] / "compat" / "recorded" / "facts" / "mm2_files.json"
FILES = [row for row in json.loads(RECORDED.read_text()) if row["kind"] == "dedicated"]
AB = "clusters = A, B\nA.bootstrap.servers = a:9092\nB.bootstrap.servers = b:9092\nA->B.enabled = true\n"


def file_of(text: str, *served: str) -> DriverFile:
    return DriverFile(properties_file.loads(text.encode("iso-8859-1", "replace")), served)


@pytest.mark.parametrize("row", FILES, ids=[row["id"] for row in FILES])
def test_a_real_file(row: dict[str, Any]) -> None:
    (path,) = [path for path in row["files"] if path.split("/")[-1] in str(row["command"])] or list(row["files"])[:1]
    file = file_of(row["files"][path], *row["expect"].get("clusters_option", ()))
    found = {each.key for each in unused_keys.without_effect(file)}
    read = {key for key in file.properties if key.endswith(".emit.heartbeats.enabled")}  # they take a flow out
    if file.pairs_or_none():  # the facts are those of one node, and others read the file, too
        elsewhere = set(file.pairs_or_none(all_nodes=True)) - set(file.pairs_or_none())
        read |= {key for key in file.properties for pair in elsewhere if key.startswith(pair.prefix)}
    assert set(row["expect"].get("no_effect", ())) - read <= found
    limited = {each.key for each in unused_keys.connect_only(file)}
    assert set(row["expect"].get("only_connect_internal_clients", ())) <= limited


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("producer.batch.size", "B.producer.batch.size"),
        ("consumer.max.poll.records", "A.consumer.max.poll.records"),
        ("group.id", "B.group.id"),
        ("exactly.once.source.support", "exactly.once"),
        ("sync.topics.configs.enabled", "sync.topic.configs.enabled"),
        ("topic.blacklist", "topics.exclude"),
        ("max.tasks", "tasks.max"),
        ("task.max", "tasks.max"),
        ("B.task.max", "tasks.max"),
        ("workers.for.all.of.them", ""),
        ("A->B.sync.topics.acls.enabled", "A->B.sync.topic.acls.enabled"),
        ("a->b.topics", "A->B.topics"),
        ("A.producer.override.acks", "A.producer.acks"),
        ("something.else.entirely", ""),
    ],
)
def test_the_key_that_was_meant(key: str, meant: str) -> None:
    found = {each.key: each.meant for each in unused_keys.without_effect(file_of(f"{AB}{key} = 1\n"))}
    assert found == {key: meant}


@pytest.mark.parametrize(
    "key",
    [
        "tasks.max", "A->B.topics", "A.consumer.max.poll.records", "B.producer.acks", "B.group.id", "security.protocol",
        "A->B.producer.override.acks", "A->B.transforms.x.type", "offset.storage.topic", "key.converter",
        "replication.policy.separator", "config.providers.env.class", "A->B.use.defaults.from",
        "A->B.value.converter.schemas.enable", "B->A.emit.heartbeats.enabled", "tasks.max.enforce",
        "start.from", "A->B.start.from", "start.from.topic.a.b", "A->B.start.from.topic.a.b",
        "worker.sync.timeout.ms", "B.task.shutdown.graceful.timeout.ms",
    ],
)  # fmt: skip
def test_a_key_that_is_read_is_not_named(key: str) -> None:
    assert unused_keys.without_effect(file_of(f"{AB}{key} = 1\n")) == []


def test_keys_that_reach_something_else_than_was_meant() -> None:
    file = file_of(f"{AB}A.max.poll.records = 1\nA->B.producer.linger.ms = 5\nB.acks = 1\n")
    assert {(each.key, each.meant) for each in unused_keys.connect_only(file)} == {
        ("A.max.poll.records", "A.consumer.max.poll.records"),
        ("B.acks", "B.producer.acks"),
    }
    (beside,) = unused_keys.not_for_records(file)
    assert (beside.key, beside.meant) == ("A->B.producer.linger.ms", "B.producer.linger.ms")
    assert [text.split(":")[0] for text in unused_keys.remarks(file)] == [
        "These keys reach no client that copies, as with MirrorMaker 2",
        "These keys do not reach the producer of records, as with MirrorMaker 2",
    ]


def test_keys_of_flows_of_another_node() -> None:
    file = file_of(f"{AB}B->A.topics = x\n", "B")
    assert unused_keys.without_effect(file) == [], "another node of the same file reads it"
    file = file_of(f"{AB}B->A.sync.topics.acls.enabled = x\n", "B")
    assert [(each.key, each.meant) for each in unused_keys.without_effect(file)] == [
        ("B->A.sync.topics.acls.enabled", "B->A.sync.topic.acls.enabled")
    ]


def test_a_switch_of_heartbeats_that_takes_no_flow_out() -> None:
    text = f"{AB}emit.heartbeats.enabled = false\nB->A.emit.heartbeats.enabled = false\n"
    assert [each.key for each in unused_keys.without_effect(file_of(text))] == ["B->A.emit.heartbeats.enabled"]


def test_what_is_meant_is_meant_for_the_flow_that_copies() -> None:
    text = "clusters = A, B\nA.bootstrap.servers = a:1\nB.bootstrap.servers = b:1\nB->A.enabled = true\n"
    found = unused_keys.without_effect(file_of(f"{text}producer.acks = 1\nconsumer.fetch.min.bytes = 1\n"))
    assert {each.meant for each in found} == {"A.producer.acks", "B.consumer.fetch.min.bytes"}
