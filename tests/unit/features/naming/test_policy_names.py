"""Names of replication policies: Java's, those of known jars, and what no topic can hold."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features.naming.policy_names import DEFAULT, IDENTITY, LEGACY, check_letters, foreign, policy_name

STRIMZI = "io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy"


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("org.apache.kafka.connect.mirror.DefaultReplicationPolicy", DEFAULT),
        ("IdentityReplicationPolicy", IDENTITY),
        (LEGACY, LEGACY),
        (STRIMZI, IDENTITY),
        ("my.module:Policy", "my.module:Policy"),
    ],
)
def test_a_policy(asked: str, name: str) -> None:
    assert policy_name(asked) == name
    assert bool(foreign(asked)) == (asked == STRIMZI)


def test_a_java_class_of_the_user_s_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"com\.acme\.Mine is not possible, .* module:Class"):
        policy_name("com.acme.Mine")


def test_letters_that_no_topic_can_have() -> None:
    check_letters("replication.policy.separator", "_")
    with pytest.raises(ConfigurationError, match=r"=/ is not possible, because names of topics hold it, [^;]*$"):
        check_letters("replication.policy.separator", "/")
    with pytest.raises(
        ConfigurationError, match=r"; the quotes are part of it: write replication\.policy\.separator=_$"
    ):
        check_letters("replication.policy.separator", '"_"')
