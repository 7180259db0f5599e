"""`sync.quotas.enabled` between two real clusters; Kafka's own `kafka-configs.sh` sets and tells the quotas."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from compat.laboratory.cluster import Cluster
from compat.laboratory.quota_state import quotas, set_quotas
from compat.laboratory.security import USER, USER_PASSWORD, login_listener
from compat.laboratory.topic_state import AUTHORIZER, forbid_rules
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.client_quotas import client_quotas, scram_credentials
from legacy_mm.policies.changes import SetQuota
from tests.fixtures import client_settings
from tests.fixtures.tools import Run
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
LOGIN = "LOGIN"
ALICE = ("--entity-type", "users", "--entity-name", "alice")
BOB = ("--entity-type", "users", "--entity-name", "bob")
EVERY_CLIENT = ("--entity-type", "clients", "--entity-default")
ADDRESS = ("--entity-type", "ips", "--entity-name", "127.0.0.9")


@pytest.fixture(scope="module")
def clusters(module_clusters: Callable[..., Cluster]) -> tuple[Cluster, Cluster]:
    login = {"properties": {**AUTHORIZER, **login_listener(LOGIN)}, "listeners": {LOGIN: "SASL_PLAINTEXT"}}
    return module_clusters(), module_clusters(**login)


def add_user(cluster: Cluster, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4_096)
    wanted = UserScramCredentialUpsertion(name, info, b"rosebud")
    admin.alter_user_scram_credentials([wanted])[name].result(SECONDS)


def test_quotas_follow_and_missing_users_are_named(
    clusters: tuple[Cluster, Cluster],
    topic: Callable[..., str],
    group: str,
    our_mirror: Callable[..., WarmMirror],
    run: Run,
    tmp_path: Path,
) -> None:
    """What the plan says is done, later changes too; what the target has of its own stays."""
    source, target = clusters
    name = topic()
    for cluster in clusters:
        create_topic(cluster.bootstrap, name, 1)
    own = ("--entity-type", "clients", "--entity-name", f"{group}-0")
    both = (*ALICE, "--entity-type", "clients", "--entity-name", "app")
    set_quotas(source.bootstrap, ALICE, {"producer_byte_rate": 1_048_576, "request_percentage": 12.5})
    set_quotas(source.bootstrap, EVERY_CLIENT, {"consumer_byte_rate": 90_000_000})
    set_quotas(source.bootstrap, both, {"consumer_byte_rate": 7_000_000})
    set_quotas(source.bootstrap, ADDRESS, {"connection_creation_rate": 30})
    set_quotas(source.bootstrap, own, {"consumer_byte_rate": 80_000_000})
    set_quotas(target.bootstrap, ALICE, {"producer_byte_rate": 5, "consumer_byte_rate": 6_000_000})
    set_quotas(target.bootstrap, BOB, {"producer_byte_rate": 3_000_000})
    for user in ("alice", "carol"):
        add_user(source, user)
    add_user(target, "alice")

    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group}
    producer = {"bootstrap.servers": target.bootstrap}
    flags = ("--sync.quotas.enabled", "true", "--sync.quotas.interval.seconds", "1")
    words = ["--", "kafka-mirror-maker.sh", "--whitelist", name, *flags]
    for side, properties in (("consumer", consumer), ("producer", producer)):
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    code, planned, errors = run("plan", *words)
    assert code == 2, planned + errors
    slowed = "(its clients are slowed down at the target where they go beyond)"
    assert f"set consumer_byte_rate of every other client-id: from not set to 90000000 {slowed}" in planned
    assert "    set producer_byte_rate of user alice: from 5 to 1048576\n" in planned
    assert f"note: quotas of the mirror's own clients are not copied: client-id {group}-0\n" in planned
    missing = "SCRAM users that the target lacks: carol (SCRAM-SHA-256, 4096 iterations). Brokers tell nobody"
    assert f"note: {missing}" in planned

    mirror = our_mirror(consumer, producer, "--whitelist", name, *flags, "--log.level", "INFO")
    for change in ("of ip 127.0.0.9", "request_percentage of user alice", "of client-id app, user alice"):
        wait_until(lambda: change in mirror.output(), SECONDS, change)  # noqa: B023
    found = quotas(target.bootstrap)
    limits = {"producer_byte_rate": 1_048_576.0, "consumer_byte_rate": 6_000_000.0, "request_percentage": 12.5}
    assert found["user-principal 'alice'"] == limits
    assert found["user-principal 'bob'"] == {"producer_byte_rate": 3_000_000.0}
    assert len(found) == 5, found
    assert not [whose for whose in found if group in whose]
    set_quotas(source.bootstrap, ALICE, {"producer_byte_rate": 2_000_000})
    followed = "[quotas] set producer_byte_rate of user alice: from 1048576 to 2000000"
    mirror.wait_for_output(followed, SECONDS)
    mirror.signal(signal.SIGTERM)
    mirror.wait(SECONDS)
    output = mirror.output()
    assert output.count(f"[quotas] {missing}") == 1
    assert "rosebud" not in output
    assert run("plan", *words)[0] == 0
    assert quotas(target.bootstrap, ("users",))["user-principal 'alice'"]["producer_byte_rate"] == 2_000_000.0


def login_of(cluster: Cluster) -> Any:
    login = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN"}
    credentials = {"sasl.username": USER, "sasl.password": USER_PASSWORD}
    return client_settings.read_connection({"bootstrap.servers": cluster.bootstrap_of(LOGIN), **login, **credentials})


def test_each_limit_that_is_refused_is_named(clusters: tuple[Cluster, Cluster]) -> None:
    """A limit that the broker does not know, and a right that is missing; then nothing is told any more."""
    _, target = clusters
    admin = NativeAdmin("target", login_of(target))
    user = (("user", "dave"),)
    unknown, known = (
        SetQuota(user, "no_such_rate", None, 5.0),
        SetQuota((("user", "erin"),), "producer_byte_rate", None, 5.0),
    )
    outcomes = {each.change: each.error for each in admin.set_quotas([unknown, known], Deadline.after(SECONDS))}
    assert outcomes[known] == ""
    assert "no_such_rate" in outcomes[unknown]
    forbid_rules(target.bootstrap, f"User:{USER}", "ALTER_CONFIGS")
    needed = "The principal needs the right AlterConfigs on the cluster"
    refusal = f"CLUSTER_AUTHORIZATION_FAILED: Cluster authorization failed. {needed}"

    def why() -> str:
        return next(each.error for each in admin.set_quotas([known], Deadline.after(SECONDS)))

    wait_until(lambda: why() != "", SECONDS, "the rule to hold")
    assert why() == refusal
    for operation, ask, said in (
        ("DESCRIBE_CONFIGS", client_quotas, "client quotas failed: CLUSTER_AUTHORIZATION_FAILED; DescribeConfigs"),
        ("DESCRIBE", scram_credentials, "SCRAM users failed: CLUSTER_AUTHORIZATION_FAILED; Describe"),
    ):
        forbid_rules(target.bootstrap, f"User:{USER}", operation)

        def refused(ask: Any = ask, said: str = said) -> bool:
            try:
                ask("target", login_of(target), Deadline.after(SECONDS))
            except HostError as error:
                return str(error) == f"listing the target's {said} on the cluster is needed"
            return False

        wait_until(refused, SECONDS, said)
