"""Flags: precedence, spellings, types, needs, contradictions, and what they come to."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features import flags
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.naming.flags import NamingSettings
from legacy_mm.features.rows import BY_NAME, FEATURES, FLAGS, WITHOUT_EFFECT, as_pair, is_flag, spelled_today
from legacy_mm.features.topic_configs.flags import DEFAULT_EXCLUDE
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from tests.fixtures.flags import switched_on

ON = {row.name: ["true"] for row in FLAGS if row.is_feature}
LOOPS = ("rename.topics", "detect.loops")
ALIASES = {"source.cluster.alias": ["a"], "target.cluster.alias": ["b"]}


def test_without_flags_everything_is_off() -> None:
    off = flags.settings({}, {}, {})
    assert [off[feature] for feature in FEATURES] == [None] * len(FEATURES)
    assert off.topics is None
    assert off == FeatureSettings(naming=off.naming)
    assert (off.naming.policy, off.canary) == ("LegacyReplicationPolicy", "")


def test_what_comes_first_decides() -> None:
    words, producer, consumer = (
        {"source.cluster.alias": [alias], "target.cluster.alias": ["t"], "rename.topics": [on]}
        for alias, on in (("w", "true"), ("p", "x"), ("c", "x"))
    )
    assert flags.settings(words, producer, consumer).naming.source_alias == "w"
    assert flags.settings({}, {"source.cluster.alias": ["p"]}, {"source.cluster.alias": ["c"]}).naming == (
        flags.settings({"source.cluster.alias": ["p"]}).naming
    )


@pytest.mark.parametrize(
    ("written", "today"),
    [
        ("sync.topic.configs", "sync.topic.configs.enabled"),
        ("sync.topic.acls", "sync.topic.acls.enabled"),
        ("refresh.topics", "refresh.topics.enabled"),
        ("topics.blacklist", "topics.exclude"),
        ("emit.heartbeats", "emit.heartbeats.enabled"),
        ("emit.offset-syncs", "emit.offset-syncs.enabled"),
        ("emit.checkpoints", "emit.checkpoints.enabled"),
        ("refresh.groups", "refresh.groups.enabled"),
        ("groups.blacklist", "groups.exclude"),
        ("sync.group.offsets", "sync.group.offsets.enabled"),
        ("config.properties.blacklist", "config.properties.exclude"),
        ("admin.security.protocol", "source.admin"),
        ("remote.admin.security.protocol", "target.admin"),
        ("target.admin.sasl.jaas.config", "target.admin"),
    ],
)
def test_older_spellings(written: str, today: str) -> None:
    assert spelled_today(written) == today
    assert is_flag(written)


def test_what_is_no_flag() -> None:
    for name in ("bootstrap.servers", "tasks.max", "administrator", "source.bootstrap.servers"):
        assert spelled_today(name) is None
    assert is_flag("tasks.max")
    assert as_pair("admin.timeout.ms", "1") == as_pair("tasks.max", "1") == "1"


@pytest.mark.parametrize("names", [("topics.blacklist", "topics.exclude"), ("topics.exclude", "topics.blacklist")])
def test_today_s_spelling_counts_wherever_it_stands(names: tuple[str, str]) -> None:
    assert flags.given_in({name: name for name in names}) == {"topics.exclude": ["topics.exclude"]}


def test_files_of_the_clients_hold_flags_too() -> None:
    file = {"bootstrap.servers": "h:1", "topics.blacklist": "old", "topics.exclude": "new", "admin.ssl.x": "1"}
    given = flags.given_in(file)
    assert given == {"topics.exclude": ["new"], "source.admin": ["ssl.x=1"]}
    read = flags.settings({"source.admin": ["ssl.x=2"]}, given, {"source.admin": ["a=b=c"]})
    assert read.source_admin == {"ssl.x": "2", "a": "b=c"}
    assert "b=c" not in repr(read)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"topic.creation": "yes"}, "topic.creation: 'yes' is neither true nor false"),
        ({"replication.factor": "0"}, "replication.factor: 0 is too small"),
        ({"sync.topic.configs.interval.seconds": "1.5"}, "'1.5' is not a whole number"),
        ({"mm2.compatibility": "5"}, "'5' is none of 3.9, 4"),
        ({"topic.creation.fewer.partitions": "x"}, "'x' is none of grow, refuse"),
        ({"rename.topics": "true"}, "rename.topics=true needs source.cluster.alias, because the names"),
        ({"replication.policy.class": "DefaultReplicationPolicy"}, "needs source.cluster.alias, because"),
        ({"replication.policy.class": "com.x.Own"}, "com.x.Own is not possible, because a policy is"),
        (
            {"replication.policy.class": "com.x.Own"},
            "if this class keeps names, write replication.policy.class=IdentityReplicationPolicy",
        ),
        (
            {"replication.policy.class": "DefaultReplicationPolicy", "replication.policy.separator": ""},
            "IdentityReplicationPolicy keeps names",
        ),
        ({"replication.policy.separator": '"_"'}, "the quotes are part of it: write replication.policy.separator=_"),
        ({"replication.policy.separator": "''"}, "the quotes are part of it: write replication.policy.separator="),
        ({"replication.policy.separator": "->"}, "which have letters, digits, dots, dashes and underscores only"),
        ({"replication.policy.separator": ". ."}, "replication.policy.separator=. . is not possible, because names"),
        ({"source.cluster.alias": '"up"'}, "the quotes are part of it: write source.cluster.alias=up"),
        ({"target.cluster.alias": "gr\u00fcn"}, "target.cluster.alias=gr\u00fcn is not possible, because names"),
        (
            {
                "rename.topics": "true",
                "source.cluster.alias": "a",
                "target.cluster.alias": "b",
                "replication.policy.class": "IdentityReplicationPolicy",
            },
            "exclude each other, because both say how topics are called",
        ),
        ({"topic.creation": "true", "preserve.partitions": "false"}, "exclude each other, because a topic that grows"),
        (
            {
                "source.cluster.alias": "a",
                "target.cluster.alias": "a",
                "replication.policy.class": "IdentityReplicationPolicy",
            },
            "are both a, and with IdentityReplicationPolicy every topic counts as a copy from there",
        ),
        (
            {"rename.topics": "true", "source.cluster.alias": "a"},
            "rename.topics=true needs target.cluster.alias, because only that name tells which topics come back",
        ),
        (
            {"replication.policy.class": "DefaultReplicationPolicy", "source.cluster.alias": "a"},
            "needs target.cluster.alias, because only that name tells",
        ),
        ({"sync.topic.acls.prefixed": "true"}, "needs sync.topic.acls.enabled, because"),
        ({"source.cluster.alias": "a>b"}, "source.cluster.alias=a>b is not possible, because"),
        ({"detect.loops": "true"}, "detect.loops=true needs source.cluster.alias, because"),
        (
            {"detect.loops": "true", "source.cluster.alias": "a"},
            "detect.loops=true needs target.cluster.alias, because a path with it in it is a circle",
        ),
        (
            {
                "detect.loops": "true",
                "rename.topics": "true",
                "source.cluster.alias": "a",
                "target.cluster.alias": "b",
            },
            "exclude each other, because with it names tell",
        ),
        ({"emit.heartbeats.enabled": "true"}, "emit.heartbeats.enabled=true needs source.cluster.alias, because"),
        ({"heartbeats.replication.enabled": "true"}, "needs source.cluster.alias, because the copies"),
        (
            {"emit.offset-syncs.enabled": "true", "source.cluster.alias": "a"},
            "emit.offset-syncs.enabled=true needs preserve.partitions, because the records of a partition",
        ),
        (
            {"emit.offset-syncs.enabled": "true", "preserve.partitions": "true"},
            "emit.offset-syncs.enabled=true needs source.cluster.alias, because",
        ),
        (
            {"emit.offset-syncs.enabled": "true", "preserve.partitions": "true", "source.cluster.alias": "a"},
            "emit.offset-syncs.enabled=true needs target.cluster.alias, because two targets of one source",
        ),
        ({"emit.checkpoints.enabled": "true"}, "needs emit.offset-syncs.enabled, because offsets are translated"),
        ({"sync.group.offsets.enabled": "true"}, "needs emit.checkpoints.enabled, because"),
        ({"offset-syncs.topic.location": "both"}, "'both' is none of source, target"),
        ({"offset.lag.max": "-1"}, "offset.lag.max: '-1' is not a whole number"),
        ({"source.admin": "x"}, "source.admin takes name=value"),
    ],
)
def test_what_cannot_be_is_refused_with_a_because(given: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        flags.settings({name: [text] for name, text in given.items()})
    assert words in str(refused.value)


FOREIGN = (
    "io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy",
    "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy",
)
WRONG = {
    "replication.policy.class": "com.acme.Own",
    "replication.policy.separator": '"_"',
    "source.cluster.alias": "a b",
    "sync.topic.configs.interval.seconds": "10 # seconds",
    "sync.topic.configs.enabled": "yes",
    "mm2.compatibility": "5",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_classes_in_other_peoples_jars_that_keep_names(name: str) -> None:
    """With a feature, or as an option of ours, Kafka's own stands in; a dead line of a client's file stays dead."""
    given = {"replication.policy.class": [name], **ALIASES}
    for read in (flags.settings(given), flags.settings({"topic.creation": ["true"]}, given)):
        assert read.naming.policy == "IdentityReplicationPolicy"
        assert any(name in remark and "IdentityReplicationPolicy" in remark for remark in read.remarks)
    dead = flags.settings({}, {}, {"replication.policy.class": [name]})
    assert dead.naming.policy == "LegacyReplicationPolicy"
    assert dead.remarks == (
        f"replication.policy.class={name} has no effect: no feature is on, and names are kept without it",
    )


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_in_a_clients_file_without_a_feature(name: str) -> None:
    """The legacy tool ignored the line, and an unchanged command must run; with a feature, or from us, it is wrong."""
    written = {name: [WRONG[name]]}
    off = flags.settings({})
    read = flags.settings({}, written, {})
    assert replace(read, remarks=()) == off
    (remark,) = read.remarks
    assert remark.startswith(name)
    assert "No feature is on, so the flags in the clients' files have no effect" in remark
    for sources in ((written,), ({"topic.creation": ["true"]}, written), ({}, written | {"topic.creation": ["TRUE"]})):
        with pytest.raises(ConfigurationError, match=name):
            flags.settings(*sources)


def test_our_own_word_holds_beside_what_cannot_be_in_a_client_s_file() -> None:
    read = flags.settings({"topics": ["orders.*"]}, {"source.cluster.alias": ["a b"]})
    assert read.topics is not None
    assert read.topics.include == ("orders.*",)
    assert len(read.remarks) == 1


@pytest.mark.parametrize("name", ["topics", "topics.exclude"])
def test_a_list_in_a_clients_file_that_acts_without_a_feature_is_said(name: str) -> None:
    """An unchanged command mirrors other topics than with the legacy tool, which ignored the line."""
    written = {name: ["orders.*"]}
    (said,) = flags.settings({}, written).remarks
    assert said.startswith(f"{name} in a client's file decides which topics are mirrored")
    assert f"--{name} is this mirror's own option" in said
    for read in (
        flags.settings(written, written),
        flags.settings({"topic.creation": ["true"]}, written),
        flags.settings(written),
    ):
        assert read.remarks == ()


def test_an_empty_alias_and_an_empty_separator_keep_names() -> None:
    """The way from before Kafka had a policy for it."""
    empty = {"source.cluster.alias": [""], "replication.policy.separator": [""]}
    java = {"replication.policy.class": ["org.apache.kafka.connect.mirror.DefaultReplicationPolicy"]}
    read = flags.settings(empty | java)
    assert read.naming.policy == "IdentityReplicationPolicy"
    assert read.remarks == (
        "source.cluster.alias and replication.policy.separator are empty: names are kept, as by "
        "IdentityReplicationPolicy",
    )
    assert flags.settings(empty).naming.policy == "LegacyReplicationPolicy"
    with pytest.raises(ConfigurationError, match="rename.topics=true needs source.cluster.alias"):
        flags.settings(empty | {"rename.topics": ["true"]})


@pytest.mark.parametrize("pair", sorted({*((name,) for name in ON), *combinations(ON, 2)} - {LOOPS}), ids=" ".join)
def test_every_flag_and_every_pair_can_be_on(pair: tuple[str, ...]) -> None:
    given = {name: [text.upper()] for name, text in switched_on(pair).items()}
    assert flags.settings(given, ALIASES) != flags.settings(ALIASES)


@pytest.mark.parametrize("name", ["", "org.apache.kafka.mirror.", "org.apache.kafka.connect.mirror."])
def test_the_vendors_manual_is_true(name: str) -> None:
    """Its keys in the clients' files mean what the legacy tool does."""
    manual = {"replication.policy.class": [f"{name}LegacyReplicationPolicy"], "refresh.topics.enabled": ["false"]}
    read = flags.settings({}, manual, manual)
    assert read.naming.policy == "LegacyReplicationPolicy"
    assert replace(read, naming=NamingSettings()) == FeatureSettings()


@pytest.mark.parametrize(
    ("given", "include", "exclude"),
    [
        ({"topics": "a.*, b"}, ("a.*", "b"), (r".*[\-\.]internal", r".*\.replica", "__.*")),
        ({"topics": "a", "mm2.compatibility": "4"}, ("a",), (r"mm2.*\.internal", r".*\.replica", "__.*")),
        ({"topics": "", "topics.exclude": ""}, (), ()),
        ({"topics.exclude": "x"}, (".*",), ("x",)),
    ],
)
def test_topic_lists(given: dict[str, str], include: tuple[str, ...], exclude: tuple[str, ...]) -> None:
    read = flags.settings({name: [text] for name, text in given.items()}).topics
    assert read is not None
    assert (read.include, read.exclude) == (include, exclude)


def test_names_without_effect_are_said_once() -> None:
    said = list(flags.without_effect({"tasks.max": ["4"]}, {"tasks.max": "5", "bootstrap.servers": "h:1"}))
    assert said == [f"tasks.max: {WITHOUT_EFFECT['tasks.max'].help}"]


def test_rows_name_each_other() -> None:
    for row in FLAGS:
        assert all(other.name in BY_NAME and other.because for other in row.needs)
        assert bool(row.changes) == row.is_feature
    steps = [row.step for row in FLAGS if row.is_feature]
    assert sorted(steps) == list(range(1, len(steps) + 1))


def test_a_plus_extends_a_default_list() -> None:
    more = flags.settings(
        {
            "topic.creation": ["true"],
            "config.properties.exclude": [r"+segment\.bytes, +retention\.ms"],
            "topics.exclude": ["+tmp-.*"],
            "emit.checkpoints.enabled": ["true"],
            "emit.offset-syncs.enabled": ["true"],
            "source.cluster.alias": ["a"],
            "target.cluster.alias": ["b"],
            "groups.exclude": ["+mine"],
        }
    )
    creation, checkpoints = more[TOPIC_CREATION], more[CHECKPOINTS]
    assert creation is not None
    assert creation.filter.exclude == (*DEFAULT_EXCLUDE, r"segment\.bytes", r"retention\.ms")
    assert more.topics is not None
    assert more.topics.exclude[-2:] == ("__.*", "tmp-.*")
    assert checkpoints is not None
    assert checkpoints.groups.exclude[-2:] == ("__.*", "mine")
    assert more.remarks == ()


def test_a_list_of_ones_own_says_what_it_no_longer_protects() -> None:
    own = flags.settings({"topic.creation": ["true"], "config.properties.exclude": [r"min\.insync\.replicas"]})
    (said,) = own.remarks
    assert "unclean.leader.election.enable" in said
    assert "min.insync.replicas" not in said
    assert "+NAME" in said
    assert flags.settings({}).remarks == ()
