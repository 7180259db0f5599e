"""Duties for topics between two real clusters that keep access rules; scenarios of Apache's own MirrorMaker 2 tests.

One look finds what must change, the applier does it, and a second look finds nothing: every test ends like that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.security import USER, USER_PASSWORD, login_listener
from compat.laboratory.topic_state import (
    AUTHORIZER,
    Rule,
    add_rules,
    forbid_rules,
    override,
    overrides,
    remove_rules,
    rules,
)
from legacy_mm.audit.cluster_access import create_topic, grow_topic, list_topics
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.duties import Applier, Duties
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import FeatureSettings, TopicNames
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.heartbeats.flags import HeartbeatSettings
from legacy_mm.features.schedule import feature_duties
from legacy_mm.features.topic_acls.feature import TOPIC_ACLS
from legacy_mm.features.topic_acls.flags import AclSyncSettings
from legacy_mm.features.topic_configs.feature import TOPIC_CONFIGS
from legacy_mm.features.topic_configs.flags import DEFAULT_EXCLUDE, ConfigFilterSettings, ConfigSyncSettings
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.features.topic_creation.flags import CreationSettings
from legacy_mm.policies.changes import AddPartitions, Change, ChangeOutcome, CreateTopic, DeleteConfig, SetConfig
from tests.fixtures import client_settings
from tests.fixtures.clusters import NamedKafka

pytestmark = pytest.mark.brokers
SECONDS = 30.0
EXCLUDE = ConfigFilterSettings(DEFAULT_EXCLUDE)
PRESERVED = FeatureSettings(preserve_partitions=True)
CREATION = PRESERVED.having(TOPIC_CREATION, CreationSettings(-1, EXCLUDE, grow=True))
ACLS = FeatureSettings().having(TOPIC_ACLS, AclSyncSettings(600.0))
LOGIN = "LOGIN"
PLAIN = {
    "security.protocol": "sasl_plaintext",
    "sasl.mechanism": "PLAIN",
    "sasl.username": USER,
    "sasl.password": USER_PASSWORD,
}


def listed(patterns: Sequence[str]) -> Callable[[str], bool]:
    pattern = re.compile("|".join(patterns))
    return lambda name: pattern.fullmatch(name) is not None


@dataclass(frozen=True)
class Flow:
    """Two clusters; copies are called `A.` and the source's name."""

    source: Any
    target: Any
    client: Callable[[str, ConnectionSettings], Admin] = NativeAdmin

    def duties(self, features: FeatureSettings, mirrored: str = ".*") -> tuple[list[Scheduled], Applier]:
        def matching(names: frozenset[str]) -> frozenset[str]:
            return frozenset(name for name in names if re.fullmatch(mirrored, name))

        names = TopicNames("A.{}".format, matching, listed, lambda name: name.endswith(".heartbeats"))
        return feature_duties(features, self.admin("source"), self.admin("target"), names, 300.0)

    def admin(self, side: str) -> Admin:
        return self.client(side, client_settings.read_connection({"bootstrap.servers": getattr(self, side).bootstrap}))

    def done(self, features: FeatureSettings, *topics: str, mirrored: str = ".*") -> list[ChangeOutcome]:
        """What the one duty of these features does; then it has nothing more to do."""
        (scheduled,), applier = self.duties(features, mirrored)
        found = scheduled.duty.inspect(frozenset(topics), Deadline.after(SECONDS))
        outcomes = list(applier.apply(found.changes, Deadline.after(SECONDS)))
        if not any(outcome.error for outcome in outcomes):
            self.expect_nothing(scheduled, *topics)
        return outcomes

    def expect_nothing(self, scheduled: Scheduled, *topics: str) -> None:
        """The brokers take a moment to see what the controller has done."""

        def left() -> tuple[Change, ...]:
            return scheduled.duty.inspect(frozenset(topics), Deadline.after(SECONDS)).changes

        wait_until(lambda: not left(), SECONDS, "nothing to be left to do")


@pytest.fixture(scope="module")
def clusters(module_clusters: Callable[..., Cluster]) -> tuple[Cluster, Cluster]:
    login = {"properties": {**AUTHORIZER, **login_listener(LOGIN)}, "listeners": {LOGIN: "SASL_PLAINTEXT"}}
    return module_clusters(**login), module_clusters(properties=AUTHORIZER)


@pytest.fixture
def flow(clusters: tuple[Cluster, Cluster]) -> Flow:
    return Flow(*clusters)


def changes(outcomes: Sequence[ChangeOutcome]) -> list[Change]:
    assert not [outcome for outcome in outcomes if outcome.error or outcome.already]
    return [outcome.change for outcome in outcomes]


def config_sync(*exclude: str, source_defaults: bool = False) -> FeatureSettings:
    excluded = (*DEFAULT_EXCLUDE, *exclude)
    settings = ConfigSyncSettings(600.0, ConfigFilterSettings(excluded, source_defaults))
    return FeatureSettings().having(TOPIC_CONFIGS, settings)


def test_a_missing_topic_is_made_as_the_source_has_it(flow: Flow, topic: Callable[..., str]) -> None:
    name, plain = topic(), topic("plain")
    config = {"retention.ms": "1000", "min.insync.replicas": "1", "cleanup.policy": "compact"}
    create_topic(flow.source.bootstrap, name, 3, config=config)
    create_topic(flow.source.bootstrap, plain, 1)
    copied = {"retention.ms": "1000", "cleanup.policy": "compact"}
    made = changes(flow.done(CREATION, name, plain, "no-such-topic"))
    assert made == [CreateTopic(f"A.{plain}", 1, -1), CreateTopic(f"A.{name}", 3, -1, copied)]  # plain-, test-
    assert changes(flow.done(CREATION, name, plain)) == []
    assert list_topics(flow.target.bootstrap)[f"A.{name}"] == 3
    assert overrides(flow.target.bootstrap, f"A.{name}") == copied
    assert overrides(flow.target.bootstrap, f"A.{plain}") == {}


def test_creation_with_exclusions_of_ones_own_and_the_sources_defaults(flow: Flow, topic: Callable[..., str]) -> None:
    name = topic()
    config = {"retention.ms": "1000", "min.insync.replicas": "1", "flush.ms": "7"}
    create_topic(flow.source.bootstrap, name, 1, config=config)
    own = ConfigFilterSettings(("flush.*", r"follower\..*", r"leader\..*"), source_defaults=True)
    features = PRESERVED.having(TOPIC_CREATION, CreationSettings(1, own))
    (made,) = changes(flow.done(features, name))
    assert isinstance(made, CreateTopic)
    assert made.replication_factor == 1
    found = overrides(flow.target.bootstrap, f"A.{name}")
    assert found == made.configs
    assert {"retention.ms": "1000", "min.insync.replicas": "1", "cleanup.policy": "delete"}.items() <= found.items()
    assert not [name for name in found if name.startswith("flush")]


def test_growth_is_followed_and_shrinking_is_not(flow: Flow, topic: Callable[..., str]) -> None:
    name, larger = topic(), topic("larger")
    for bootstrap, prefix, more in ((flow.source.bootstrap, "", 1), (flow.target.bootstrap, "A.", 4)):
        create_topic(bootstrap, f"{prefix}{name}", 2)
        create_topic(bootstrap, f"{prefix}{larger}", more)
    assert changes(flow.done(CREATION, name, larger)) == []
    grow_topic(flow.source.bootstrap, name, 5)
    assert changes(flow.done(CREATION, name, larger)) == [AddPartitions(f"A.{name}", 2, 5)]
    assert list_topics(flow.target.bootstrap)[f"A.{name}"] == 5


def test_fewer_partitions_are_refused_where_they_may_not_grow(flow: Flow, topic: Callable[..., str]) -> None:
    name = topic()
    create_topic(flow.source.bootstrap, name, 2)
    create_topic(flow.target.bootstrap, f"A.{name}", 1)
    (scheduled,), _ = flow.duties(PRESERVED)
    found = scheduled.duty.inspect(frozenset({name}), Deadline.after(SECONDS))
    assert (found.changes, found.notes) == ((), ())
    (trouble,) = found.troubles
    assert trouble.startswith(f"topic A.{name} has 1 partitions at the target and 2 at the source")


def test_what_the_brokers_refuse_is_told_of_that_topic_alone(flow: Flow, topic: Callable[..., str]) -> None:
    """And a topic that somebody else has made meanwhile, such as another host of the group, is no failure."""
    good, too_many, there = CreateTopic(topic("a"), 1, 1), CreateTopic(topic("b"), 1, 3), CreateTopic(topic("c"), 1, 1)
    create_topic(flow.target.bootstrap, there.topic, 1)
    grown = AddPartitions(there.topic, 1, 1)
    outcomes = list(Applier(flow.admin("target")).apply([good, too_many, there, grown], Deadline.after(SECONDS)))
    assert [(each.change, bool(each.error), each.already) for each in outcomes] == [
        (good, False, False),
        (too_many, True, False),
        (there, False, True),
        (grown, False, True),
    ]
    assert outcomes[1].error.startswith("Unable to replicate the partition 3 time(s)")


@pytest.mark.parametrize("cleanup", ["compact", "delete"])
def test_copies_of_heartbeats_have_a_topic_whatever_is_mirrored(
    flow: Flow, topic: Callable[..., str], cleanup: str
) -> None:
    """Old records go from it as from the source's, which may be data of the user's that is only called like them."""
    name, config = f"{topic()}.heartbeats", {"cleanup.policy": cleanup}
    create_topic(flow.source.bootstrap, name, 2, config=config)
    outcomes = flow.done(FeatureSettings().having(HEARTBEATS, HeartbeatSettings(None, -1, replicated=True)))
    assert changes(outcomes) == [CreateTopic(f"A.{name}", 2, -1, config)]
    assert overrides(flow.target.bootstrap, f"A.{name}") == config


@pytest.mark.parametrize("source_defaults", [False, True])
def test_properties_follow_the_source(flow: Flow, topic: Callable[..., str], *, source_defaults: bool) -> None:
    """Excluded ones stay, others are forced back; without a value at the source the target's override goes."""
    name = topic()
    copy, here, there = f"A.{name}", flow.target.bootstrap, flow.source.bootstrap
    create_topic(there, name, 1, config={"delete.retention.ms": "1000", "retention.bytes": "1000"})
    create_topic(here, copy, 1, config={"delete.retention.ms": "2000", "retention.bytes": "2000"})
    features = config_sync(r"delete\.retention\.ms", source_defaults=source_defaults)
    made = changes(flow.done(features, name))
    assert SetConfig(copy, "retention.bytes", "2000", "1000") in made
    assert source_defaults or len(made) == 1
    found = overrides(here, copy)
    assert (found["delete.retention.ms"], found["retention.bytes"]) == ("2000", "1000")

    override(there, name, {"retention.bytes": None})
    removed = DeleteConfig(copy, "retention.bytes", "1000")
    reset = SetConfig(copy, "retention.bytes", "1000", "-1")
    assert changes(flow.done(features, name)) == [reset if source_defaults else removed]
    assert overrides(here, copy).get("retention.bytes") == ("-1" if source_defaults else None)

    override(here, copy, {"flush.ms": "7"})
    (again,) = changes(flow.done(features, name))
    assert isinstance(again, SetConfig if source_defaults else DeleteConfig)


def test_topics_that_only_one_side_has_keep_their_properties(flow: Flow, topic: Callable[..., str]) -> None:
    only_there, only_here = topic("there"), topic("here")
    create_topic(flow.source.bootstrap, only_there, 1, config={"flush.ms": "7"})
    create_topic(flow.target.bootstrap, f"A.{only_here}", 1, config={"flush.ms": "7"})
    assert changes(flow.done(config_sync(), only_there, only_here)) == []
    assert f"A.{only_there}" not in list_topics(flow.target.bootstrap)


@pytest.fixture
def clean(flow: Flow) -> Iterator[Flow]:
    """No access rules before and after."""
    yield flow
    for bootstrap in (flow.source.bootstrap, flow.target.bootstrap):
        remove_rules(bootstrap, rules(bootstrap))


def rule(name: str, operation: str, permission: str = "ALLOW", pattern: str = "LITERAL") -> Rule:
    return (name, pattern, "User:dummy", "*", operation, permission)


SAME = ("READ", "DESCRIBE", "CREATE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS")


def test_access_rules(clean: Flow) -> None:
    here, there = clean.target.bootstrap, clean.source.bootstrap
    add_rules(
        there,
        [
            *(rule("t", operation) for operation in (*SAME, "WRITE")),
            rule("all", "ALL"),
            *(rule("t", operation, "DENY") for operation in ("ALL", "WRITE", "READ")),
            rule("other", "READ"),
            rule("orders", "READ", "ALLOW", "PREFIXED"),
            rule("*", "READ"),
        ],
    )
    foreign = {rule("A.t", "WRITE"), rule("A.gone", "READ"), rule("A.t", "READ")}
    add_rules(here, foreign)
    wanted = {
        *(rule("A.t", operation) for operation in SAME),
        rule("A.all", "READ"),
        *(rule("A.t", operation, "DENY") for operation in ("ALL", "WRITE", "READ")),
    }
    made = changes(clean.done(ACLS, "t", "all", "orders-1", mirrored="t|all|orders.*"))
    assert len(made) == len(wanted) - 1, "one of them was there"
    assert rules(here) == wanted | foreign

    remove_rules(there, [rule("t", "READ")])
    assert changes(clean.done(ACLS, "t", mirrored="t|all")) == []
    assert rules(here) == wanted | foreign

    prefixed = FeatureSettings().having(TOPIC_ACLS, AclSyncSettings(600.0, prefixed=True))
    assert len(changes(clean.done(prefixed, "t", "all", "orders-1", mirrored="t|all|orders.*"))) == 1
    assert rules(here) == wanted | foreign | {rule("A.orders", "READ", "ALLOW", "PREFIXED")}

    assert {each.text for each in changes(clean.done(ACLS))} == {
        f"add rule ALLOW READ on topic A.{name} to User:dummy from host *" for name in ("*", "other")
    }


def test_what_the_source_forbids_for_several_topics_is_forbidden_at_the_copies(clean: Flow) -> None:
    """By the wildcard and by a prefix; MirrorMaker 2 leaves both out, and the copies are open."""
    denied = [rule("*", "READ", "DENY"), rule("ord", "ALTER", "DENY", "PREFIXED")]
    add_rules(clean.source.bootstrap, [*denied, rule("orders", "READ")])
    clean.done(ACLS, "orders", "t", mirrored="orders|t")
    assert rules(clean.target.bootstrap) == {
        rule("A.orders", "READ"),
        rule("A.orders", "READ", "DENY"),
        rule("A.t", "READ", "DENY"),
        rule("A.orders", "ALTER", "DENY"),
    }


def test_only_what_we_added_is_removed(clean: Flow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by a process that is started later; nothing goes because a filter changed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    here, there = clean.target.bootstrap, clean.source.bootstrap
    features = FeatureSettings().having(TOPIC_ACLS, AclSyncSettings(600.0, remove=True))
    add_rules(there, [rule("t", "READ"), rule("t", "ALTER"), rule("u", "ALL")])
    add_rules(here, [rule("A.t", "ALTER"), rule("A.v", "READ")])
    assert len(changes(clean.done(features))) == 2
    assert changes(clean.done(features, mirrored="t")) == []
    remove_rules(there, [rule("t", "READ"), rule("t", "ALTER"), rule("u", "ALL")])
    add_rules(there, [rule("u", "READ")])
    assert changes(clean.done(ACLS)) == []
    assert [each.text for each in changes(clean.done(features))] == [
        "remove rule ALLOW READ on topic A.t to User:dummy from host *"
    ]
    assert rules(here) == {rule("A.t", "ALTER"), rule("A.u", "READ"), rule("A.v", "READ")}
    add_rules(here, [rule("A.t", "READ")])
    assert changes(clean.done(features)) == []


def test_what_may_not_be_seen_is_told(clean: Flow, topic: Callable[..., str]) -> None:
    """Rules and properties that a principal may not see are not taken for none."""
    name, there = topic(), clean.source.bootstrap
    create_topic(there, name, 1)
    user = ("LITERAL", f"User:{USER}", "*")
    add_rules(there, [(name, *user, "READ", "ALLOW"), (name, *user, "DESCRIBE_CONFIGS", "DENY")])
    forbid_rules(there, f"User:{USER}")
    known = client_settings.read_connection({"bootstrap.servers": clean.source.bootstrap_of(LOGIN), **PLAIN})
    source = clean.client("source", known)
    names, target = TopicNames(str, frozenset, listed), clean.admin("target")

    (creation,), _ = feature_duties(CREATION, source, target, names, 300.0)
    found = creation.duty.inspect(frozenset({name}), Deadline.after(SECONDS))
    assert found.changes == ()
    assert found.troubles == (f"topic {name}: the source does not tell its properties: Topic authorization failed.",)
    (acls,), _ = feature_duties(ACLS, source, target, names, 300.0)
    with pytest.raises(HostError, match="listing the source's access rules failed: CLUSTER_AUTHORIZATION_FAILED"):
        acls.duty.inspect(frozenset({name}), Deadline.after(SECONDS))


def test_a_right_that_is_missing_is_told_before_anything_is_tried(clean: Flow, topic: Callable[..., str]) -> None:
    """Here the cluster that knows logins is the target."""
    name = topic()
    create_topic(clean.target.bootstrap, name, 1)
    add_rules(clean.source.bootstrap, [(name, "LITERAL", f"User:{USER}", "*", "CREATE", "DENY")])
    forbid_rules(clean.source.bootstrap, f"User:{USER}", "CREATE")
    known = client_settings.read_connection({"bootstrap.servers": clean.source.bootstrap_of(LOGIN), **PLAIN})
    target = clean.client("target", known)
    (creation,), _ = feature_duties(CREATION, clean.admin("target"), target, TopicNames(str, frozenset, listed), 300.0)
    found = creation.duty.inspect(frozenset({name}), Deadline.after(SECONDS))
    (trouble,) = found.troubles
    assert trouble.startswith(f"topic {name} cannot be created at the target: ")
    assert "uthorization" in trouble
    assert (found.changes, found.unfinished) == ((), True)


def test_without_an_authorizer_at_the_source_the_target_is_not_asked(source: Any) -> None:
    nobody = NamedKafka("127.0.0.1:1")
    (scheduled,), _ = Flow(source, nobody).duties(ACLS)
    found = scheduled.duty.inspect(frozenset({"t"}), Deadline.after(SECONDS))
    assert (found.changes, found.troubles) == ((), ())
    assert found.notes == ("the source has no authorizer, so there are no access rules to copy",)


def test_without_an_authorizer_at_the_target(clean: Flow, target: Any) -> None:
    add_rules(clean.source.bootstrap, [rule("t", "READ")])
    (scheduled,), _ = Flow(clean.source, target).duties(ACLS)
    with pytest.raises(HostError, match="the target has no authorizer"):
        scheduled.duty.inspect(frozenset({"t"}), Deadline.after(SECONDS))


@pytest.mark.slow
def test_a_target_that_was_away(
    flow: Flow, own_clusters: Callable[..., Cluster], topic: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    """What failed is told, and done at a later interval."""
    name = topic()
    create_topic(flow.source.bootstrap, name, 2)
    target = own_clusters()
    target.brokers[0].kill()
    away = Flow(flow.source, target)
    counted: list[tuple[str, int, int]] = []
    found, applier = away.duties(CREATION)
    scheduled = [Scheduled(each.duty, 0.1, each.before_copying) for each in found]
    duties = Duties(scheduled, applier, lambda *row: counted.append(row), 60.0)
    duties.topics_found(frozenset({name}), Deadline.after(1.0))
    assert counted == [("topic-creation", 0, 1)]
    target.brokers[0].restart()
    duties.start()
    try:
        wait_until(lambda: ("topic-creation", 1, 0) in counted, SECONDS, "the topic to be made")
    finally:
        duties.stop()
        duties.join(SECONDS)
    assert not duties.is_alive()
    assert list_topics(target.bootstrap)[f"A.{name}"] == 2
    warnings = [record.getMessage() for record in caplog.records if "[topic-creation]" in record.getMessage()]
    assert warnings[0].startswith("[topic-creation] the target (")
