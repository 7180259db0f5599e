"""A MirrorMaker 2 client's properties: what counts, what wins, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.base.kafka_clients import SecurityProtocol
from legacy_mm.base.secret import Secret
from legacy_mm.client import MirrorClient, RemoteClusterUtils
from legacy_mm.client.properties import read
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.policies.topic_naming import DefaultReplicationPolicy, IdentityReplicationPolicy

BASE = {"bootstrap.servers": "one:1"}
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{MODULE} required username="me" password="hush";',
}
JAVA = "org.apache.kafka.connect.mirror."
POLICY = """
from legacy_mm.policies.topic_naming import DefaultReplicationPolicy

class Shouting(DefaultReplicationPolicy):
    def configure(self, properties):
        self.known = dict(properties)

    def format_remote_topic(self, source_cluster_alias, topic):
        return super().format_remote_topic(source_cluster_alias, topic).upper()
"""


def test_address_and_security_count_for_both_clients() -> None:
    found = read({**BASE, **LOGIN, "group.id": "g", "isolation.level": "read_committed"})
    for connection in (found.admin, found.consumer):
        assert connection.bootstrap_servers == ("one:1",)
        assert connection.protocol is SecurityProtocol.SASL_PLAINTEXT
        assert (connection.sasl.username, connection.sasl.password) == ("me", Secret("hush"))
        assert not {"group.id", "isolation.level"} & property_texts(connection).keys()
    assert "hush" not in repr(found)


def test_the_prefix_of_a_client_wins_for_it() -> None:
    own = {f"consumer.{name}": text for name, text in LOGIN.items()}
    found = read({**BASE, "admin.bootstrap.servers": "two:2", **own, "producer.bootstrap.servers": "three:3"})
    assert found.admin.bootstrap_servers == ("two:2",) and found.admin.sasl.username is None
    assert found.consumer.bootstrap_servers == ("one:1",) and found.consumer.sasl.username == "me"


def test_a_value_that_is_kept_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("address=two:2\n")
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    declared = {"config.providers": "file", "config.providers.file.class": provider}
    found = read({**declared, "bootstrap.servers": f"${{file:{tmp_path / 'kept'}:address}}"})
    assert found.consumer.bootstrap_servers == ("two:2",)


@pytest.mark.parametrize(
    ("given", "policy", "checkpoints"),
    [
        ({}, DefaultReplicationPolicy, "A.checkpoints.internal"),
        ({"replication.policy.separator": "_"}, DefaultReplicationPolicy, "A_checkpoints_internal"),
        (
            {
                "replication.policy.separator": "_",
                "replication.policy.internal.topic.separator.enabled": "false",
                "replication.policy.class": JAVA + "DefaultReplicationPolicy",
            },
            DefaultReplicationPolicy,
            "A.checkpoints.internal",
        ),
        (
            {"replication.policy.class": JAVA + "IdentityReplicationPolicy", "source.cluster.alias": "A"},
            IdentityReplicationPolicy,
            "A.checkpoints.internal",
        ),
    ],
)
def test_how_topics_are_called(given: dict[str, str], policy: type, checkpoints: str) -> None:
    with MirrorClient({**BASE, **given}) as client:
        found = client.replication_policy()
    assert type(found) is policy
    assert found.checkpoints_topic("A") == checkpoints
    assert found.topic_source("t") == given.get("source.cluster.alias")
    assert found.is_internal_topic("x-internal")


def test_what_is_internal_goes_by_the_release() -> None:
    with MirrorClient({**BASE, "mm2.compatibility": "4"}) as client:
        assert not client.replication_policy().is_internal_topic("x-internal")


def test_a_policy_of_the_user_s_gets_its_own_properties_and_no_secret(tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    own = {"replication.policy.class": f"{tmp_path / 'policy.py'}:Shouting", "my.policy": "loud"}
    with MirrorClient({**BASE, **LOGIN, "admin.ssl.key.password": "hush", **own}) as client:
        policy = client.replication_policy()
    assert policy.format_remote_topic("a", "t") == "A.T"
    assert vars(policy)["known"] == own


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"bootstrap.servers": ""}, "No resolvable bootstrap urls given"),
        ({"security.protocol": "nonsense"}, "security.protocol"),
        ({"replication.policy.class": "com.example.Policy"}, "com.example.Policy is not possible"),
        ({"replication.policy.internal.topic.separator.enabled": "perhaps"}, "neither true nor false"),
        ({"mm2.compatibility": "5"}, "mm2.compatibility"),
    ],
)
def test_what_cannot_be_used_is_refused(given: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        MirrorClient({**BASE, **given})
    with pytest.raises(ConfigurationError, match=words):
        RemoteClusterUtils.upstream_clusters({**BASE, **given})


def test_a_closed_client_answers_nothing() -> None:
    client = MirrorClient(BASE)
    client.close()
    for ask in (client.upstream_clusters, lambda: client.heartbeats("heartbeats", 1.0)):
        with pytest.raises(HostError, match="closed"):
            ask()


def test_a_group_is_asked_for_by_name_or_pattern() -> None:
    with MirrorClient(BASE) as client, pytest.raises(TypeError, match="None"):
        client.remote_consumer_offsets(None, "a", 1.0)  # type: ignore[call-overload]


def test_certificates_that_are_none_are_one_of_our_errors() -> None:
    refused = {"security.protocol": "SSL", "librdkafka.ssl.ca.pem": "nonsense"}
    with pytest.raises(ConfigurationError, match="certificate"):
        MirrorClient({**BASE, **refused})
