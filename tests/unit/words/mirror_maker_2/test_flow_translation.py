"""A flow becomes settings: clients, features, group, position; what only Java could run is refused by name."""

from __future__ import annotations

import math
from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import MembershipSettings, SecurityProtocol
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.features.topic_acls.feature import TOPIC_ACLS
from legacy_mm.features.topic_configs.feature import TOPIC_CONFIGS
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, Pair
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun, translate_flow
from legacy_mm.words.options.option_catalogue import OnGap, OwnOptions
from tests.fixtures.client_settings import texts

AB = "clusters = A, B\nA.bootstrap.servers = a:9092\nB.bootstrap.servers = b:9092\nA->B.enabled = true\n"


def flow(
    text: str = "",
    pair: Pair = Pair("A", "B"),  # noqa: B008 - frozen
    release: Any = "3.9",
    options: OwnOptions = OwnOptions(),  # noqa: B008 - frozen
) -> FlowRun:
    file = DriverFile(properties_file.loads(f"{AB}{text}".encode()))
    return translate_flow(FlowReading.of_driver(file, pair, release), ClientTranslation(Environment(), options), 0)


def test_a_plain_flow_is_what_mirror_maker_2_does_by_default() -> None:
    settings = flow().settings
    features = settings.features
    assert settings.flow == "A->B"
    assert (settings.source.group_id, settings.source.offset_reset) == ("mm2-A->B", "earliest")
    assert settings.source.metadata_max_age == 5.0
    assert settings.commit_interval == 60.0
    assert (settings.target.client.produce.acks, settings.target.client.produce.delivery_timeout) == (-1, math.inf)
    assert settings.target.abort_on_send_failure
    assert features.naming.policy == "DefaultReplicationPolicy"
    assert (features.naming.source_alias, features.naming.target_alias) == ("A", "B")
    assert features.naming.copies_own_names
    assert features.preserve_partitions
    creation = features[TOPIC_CREATION]
    assert creation is not None
    assert creation.replication_factor == 2
    assert features[TOPIC_CONFIGS] is not None
    assert features[TOPIC_ACLS] is not None
    syncs = features[OFFSET_SYNCS]
    assert syncs is not None
    assert syncs.location == "source"
    checkpoints = features[CHECKPOINTS]
    assert checkpoints is not None
    assert checkpoints.sync_interval is None
    heartbeats = features[HEARTBEATS]
    assert heartbeats is not None
    assert heartbeats.interval == 1
    assert heartbeats.replicated
    assert features.topics is not None
    assert features.topics.include == (".*",)
    stored = features[CONNECT_OFFSETS]
    assert stored is not None
    assert stored.topic == "mm2-offsets.A.internal"
    assert (stored.connector, stored.cluster) == ("MirrorSourceConnector", "A")
    assert stored.workers == MembershipSettings("A-mm2", session_timeout=10, heartbeat_interval=3, max_poll_interval=60)


def test_what_has_a_negative_interval_is_off() -> None:
    """Scheduler.scheduleRepeating, and the connectors of checkpoints and heartbeats, do nothing at such intervals."""
    whats = ("refresh.topics", "sync.topic.configs", "sync.topic.acls", "refresh.groups", "emit.heartbeats")
    text = "".join(f"{what}.interval.seconds = -1\n" for what in whats)
    features = flow(text).settings.features
    heartbeats, checkpoints = features[HEARTBEATS], features[CHECKPOINTS]
    assert (features[TOPIC_CONFIGS], features[TOPIC_ACLS]) == (None, None)
    assert checkpoints is not None and checkpoints.refresh_interval is None
    assert heartbeats is None or heartbeats.interval is None
    assert (
        flow("sync.group.offsets.enabled = true\nemit.checkpoints.interval.seconds = -1\n").settings.features[
            CHECKPOINTS
        ]
        is None
    )
    on = "sync.group.offsets.enabled = true\n"
    for interval, synced in (("", 60.0), ("sync.group.offsets.interval.seconds = -1\n", None)):
        found = flow(on + interval).settings.features[CHECKPOINTS]
        assert found is not None and found.sync_interval == synced


@pytest.mark.parametrize(
    ("text", "there", "back"),
    [
        ("", 60.0, 60.0),
        ("admin.timeout.ms = 300000\n", 300.0, 300.0),
        ("A->B.admin.timeout.ms = 90000\n", 90.0, 60.0),
        ("admin.timeout.ms = -1\n", 0.0, 0.0),
    ],
)
def test_a_look_may_take_as_long_as_the_file_says(text: str, there: float, back: float) -> None:
    found = [flow(text, pair=pair).settings.features.run_timeout for pair in (Pair("A", "B"), Pair("B", "A"))]
    assert found == [there, back]


def test_a_flow_that_is_off_only_emits_heartbeats() -> None:
    run = flow(pair=Pair("B", "A"))
    features = run.settings.features
    assert run.settings.streams == 0
    assert run.connectors == ("MirrorHeartbeatConnector",)
    heartbeats = features[HEARTBEATS]
    assert heartbeats is not None
    assert not heartbeats.replicated
    assert (features[TOPIC_CREATION], features[OFFSET_SYNCS], features[CHECKPOINTS], features[CONNECT_OFFSETS]) == (
        None,
    ) * 4


@pytest.mark.parametrize(
    ("text", "consumer", "producer"),
    [
        ("A.consumer.max.partition.fetch.bytes = 77", "77", None),
        ("A->B.consumer.max.partition.fetch.bytes = 77", "77", None),
        ("A->B.source.consumer.max.partition.fetch.bytes = 77", "77", None),
        ("B.producer.linger.ms = 77", None, "77"),
        ("A->B.producer.override.linger.ms = 77", None, "77"),
        (
            "A->B.consumer.max.partition.fetch.bytes = 7\nA->B.source.consumer.max.partition.fetch.bytes = 77",
            "77",
            None,
        ),
        ("B.producer.linger.ms = 7\nA->B.producer.override.linger.ms = 77", None, "77"),
        ("A->B.producer.linger.ms = 77", None, None),
        ("A.producer.linger.ms = 77", None, None),
        ("B.consumer.max.partition.fetch.bytes = 77", None, None),
        ("producer.linger.ms = 77", None, None),
        ("A->B.consumer.override.max.partition.fetch.bytes = 77", None, None),
    ],
)
def test_which_key_reaches_which_client(text: str, consumer: str | None, producer: str | None) -> None:
    usual, changed = flow(), flow(text)
    fetched, waited = "fetch.message.max.bytes", "linger.ms"
    expected = texts(usual.consumer).get(fetched) if consumer is None else consumer
    assert texts(changed.consumer).get(fetched) == expected
    assert texts(changed.producer)[waited] == (texts(usual.producer)[waited] if producer is None else producer)


@pytest.mark.parametrize(
    ("line", "reset"),
    [("", "earliest"), ("consumer.auto.offset.reset = latest", "latest"),
     ("source.consumer.auto.offset.reset = latest", "latest")],
)  # fmt: skip
def test_the_source_s_consumer_of_apache_s_own_test(line: str, reset: str) -> None:
    """MirrorConnectorConfigTest:47 and 76."""
    made = flow(f"A->B.consumer.max.partition.fetch.bytes = 77\nA->B.{line}\n" if line else "")
    client = made.settings.source
    assert (client.offset_reset, client.connection.bootstrap_servers) == (reset, ("a:9092",))
    assert client.client.fetch.partition_bytes == (77 if line else 1 << 20)


def test_what_is_for_the_consumer_wins_over_what_is_for_its_cluster() -> None:
    made = flow("A.security.protocol = SSL\nA.consumer.security.protocol = PLAINTEXT\n")
    assert made.settings.source.connection.protocol is SecurityProtocol.PLAINTEXT


@pytest.mark.parametrize(
    ("prefix", "changed"),
    [("admin", ["source", "target"]), ("source.admin", ["source"]), ("target.admin", ["target"]), ("producer", [])],
)
def test_which_admin_client_a_key_reaches(prefix: str, changed: list[str]) -> None:
    """MirrorConnectorConfigTest:121, 136, 148 and 163; without a key it is the client that copies."""
    settings = flow(f"A->B.{prefix}.reconnect.backoff.ms = 777\n").settings
    sides = {"source": settings.source_admin, "target": settings.target_admin}
    assert [name for name, side in sides.items() if side is not None] == changed
    assert {side.connection.reconnect_backoff for side in sides.values() if side is not None} <= {0.777}


def test_positions_and_intervals_of_the_file() -> None:
    text = (
        "A.consumer.auto.offset.reset = latest\nB.offset.flush.interval.ms = 2500\nB.session.timeout.ms = 6000\n"
        "refresh.topics.interval.seconds = 30\nB.offset.storage.topic = stored\nB.group.id = workers\n"
    )
    settings = flow(text).settings
    assert settings.source.offset_reset == "latest"
    assert (settings.commit_interval, settings.source.metadata_max_age) == (2.5, 30.0)
    stored = settings.features[CONNECT_OFFSETS]
    assert stored is not None
    assert (stored.topic, stored.workers.group_id, stored.workers.session_timeout) == ("stored", "workers", 6.0)


@pytest.mark.parametrize(("tolerance", "waits"), [(None, True), ("none", True), (" ALL ", False)])
def test_a_refused_record_waits_unless_the_connector_tolerates_it(tolerance: str | None, waits: bool) -> None:
    target = flow("" if tolerance is None else f"A->B.errors.tolerance = {tolerance}\n").settings.target
    assert (target.records_may_wait, target.abort_on_send_failure) == (waits, waits)


def test_properties_that_bind_a_consumer_group_have_no_effect_and_are_named() -> None:
    """Two flows out of A would share one group, and two nodes with one file would fence each other."""
    given = {
        "group.id": "mm2",
        "group.instance.id": "mm2-1",
        "group.protocol": "consumer",
        "heartbeat.interval.ms": "1",
        "max.poll.interval.ms": "1",
        "partition.assignment.strategy": "org.apache.kafka.clients.consumer.StickyAssignor",
        "session.timeout.ms": "3600000",
    }
    run = flow("".join(f"A.consumer.{name} = {text}\n" for name, text in given.items()))
    plain = flow().settings
    assert (run.settings.source.client.membership, run.settings.features) == (
        plain.source.client.membership,
        plain.features,
    )
    assert run.settings.source.group_instance_id is None
    assert [note.text for note in run.notes] == [
        "These properties of A->B's consumer have no effect, as with MirrorMaker 2, whose tasks are in no consumer "
        f"group: {', '.join(given)}"
    ]


def test_aliases_of_the_top_level_hold_for_names_and_not_for_the_clients() -> None:
    settings = flow("source.cluster.alias = X\n").settings
    assert settings.features.naming.source_alias == "X"
    stored = settings.features[CONNECT_OFFSETS]
    assert stored is not None
    assert stored.topic == "mm2-offsets.A.internal"
    assert stored.cluster == "X"


def test_empty_aliases_and_separator_keep_names() -> None:
    text = "source.cluster.alias =\ntarget.cluster.alias =\nreplication.policy.separator =\n"
    assert flow(text).settings.features.naming.policy == "IdentityReplicationPolicy"


@pytest.mark.parametrize("text", ["target.cluster.alias =\nsource.cluster.alias = B\n", "source.cluster.alias =\n"])
def test_one_empty_alias_with_names_kept(text: str) -> None:
    """A public file has it: MirrorMaker 2 runs all its parts."""
    features = flow(f"{text}replication.policy.class = IdentityReplicationPolicy\n").settings.features
    assert features[OFFSET_SYNCS] is not None
    assert features[HEARTBEATS] is not None


def test_empty_aliases_of_a_flow_that_only_emits_heartbeats() -> None:
    text = "source.cluster.alias =\ntarget.cluster.alias =\nreplication.policy.separator =\n"
    assert flow(text, Pair("B", "A")).settings.features[HEARTBEATS] is not None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("replication.policy.class = com.acme.Remap", "replication.policy.class=com.acme.Remap"),
        ("A->B.topic.filter.class = com.acme.Filter", r"A->B\.topic\.filter\.class=com\.acme\.Filter"),
        ("forwarding.admin.class = com.acme.Admin", r"forwarding\.admin\.class=com\.acme\.Admin"),
        ("A->B.transforms = x\nA->B.transforms.x.type = com.acme.X", r"A->B\.transforms\.x\.type=com\.acme\.X"),
    ],
)
def test_what_only_java_could_run_is_refused_by_key_and_class(text: str, named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        flow(text)


def test_transforms_are_the_steps_of_a_handler() -> None:
    text = "A->B.transforms = f\nA->B.transforms.f.type = Filter\n"
    handler = flow(text).settings.handler
    assert handler is not None
    assert handler.of_connect
    assert [each.partition("=")[0] for each in handler.steps] == ["transform"]
    assert flow().settings.handler is None
    assert flow(text, Pair("B", "A")).settings.handler is None


def test_transforms_whose_keys_do_not_reach_the_connectors() -> None:
    """The driver hands on `transforms` of the top level, and not what they are: Connect refuses all connectors."""
    run = flow("transforms = f\ntransforms.f.type = Filter\n")
    assert (run.settings.streams, run.settings.handler, run.connectors) == (0, None, ())
    assert run.settings.features[HEARTBEATS] is None


def test_transforms_that_connect_refuses_leave_the_flow_without_a_copy() -> None:
    run = flow("A->B.transforms = f, f\nA->B.transforms.f.type = Filter\n")
    assert (run.settings.streams, run.settings.handler, run.connectors) == (0, None, ())


def test_checkpoints_that_are_off_take_the_moves_of_groups_with_them() -> None:
    run = flow("emit.checkpoints.enabled = false\nsync.group.offsets.enabled = true\n")
    assert run.connectors == ("MirrorSourceConnector", "MirrorHeartbeatConnector")
    assert run.settings.features[OFFSET_SYNCS] is not None
    assert run.settings.features[CHECKPOINTS] is None


@pytest.mark.parametrize(("on_gap", "fails"), [("fail", True), ("log", False)])
def test_a_gap_ends_the_flow_where_that_is_asked_for(on_gap: OnGap, fails: bool) -> None:
    assert flow(options=OwnOptions(on_gap=on_gap)).settings.fail_on_gap is fails


INSERT = "A->B.transforms = i\nA->B.transforms.i.type = InsertHeader\nA->B.transforms.i.header = h\n"


@pytest.mark.parametrize("converter", ["A->B.header.converter", "header.converter", "B.header.converter"])
def test_the_header_converter_that_may_write_text(converter: str) -> None:
    text = f"{INSERT}A->B.transforms.i.value.literal = DC1\n"
    with pytest.raises(ConfigurationError, match="ByteArrayConverter"):
        flow(text)
    assert flow(f"{text}{converter} = org.apache.kafka.connect.storage.SimpleHeaderConverter\n").settings.handler
    assert flow(f"{INSERT}A->B.transforms.i.value.literal = null\n").settings.handler


@pytest.mark.parametrize(("tasks", "cores", "streams"), [("1", 8, 1), ("4", 8, 4), ("200", 2, 2), ("3", None, 1)])
def test_streams(tasks: str, cores: int | None, streams: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert flow(f"tasks.max = {tasks}").settings.streams == streams
