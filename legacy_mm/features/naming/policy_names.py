"""Replication policies by their names, Java's and other people's, and what may stand in the names they make."""

from __future__ import annotations

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.policies.topic_letters import has_legal_letters

POLICY = "replication.policy.class"
LEGACY, IDENTITY, DEFAULT = "LegacyReplicationPolicy", "IdentityReplicationPolicy", "DefaultReplicationPolicy"
"""The replication policies that are built in, without their Java packages."""
_JAVA_PACKAGES = ("org.apache.kafka.connect.mirror.", "org.apache.kafka.mirror.")
_KEEP_NAMES = (
    "io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy",
    "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy",
    "ch.mawileo.kafka.mm2.PrefixlessReplicationPolicy",
)
"""Classes in other people's jars that keep names, as IdentityReplicationPolicy came to do: Strimzi's, Amazon's sample,
and one from before Kafka had its own."""
_QUOTES = "\"'"


def policy_name(policy: str) -> str:
    """Return a replication policy without its Java package, or `module:Class`; raises ConfigurationError for others."""
    if policy in _KEEP_NAMES:
        return IDENTITY
    name = policy
    for package in _JAVA_PACKAGES:
        name = name.removeprefix(package)
    if name not in (LEGACY, IDENTITY, DEFAULT) and ":" not in name:
        raise ConfigurationError(
            f"{POLICY}={policy} is not possible, because a policy is {LEGACY}, {IDENTITY}, {DEFAULT}, or module:Class "
            f"in Python; if this class keeps names, write {POLICY}={IDENTITY}"
        )
    return name


def foreign(policy: str) -> str:
    """Return the advice for a class in a known foreign jar; empty for any other name."""
    return f"{POLICY}={policy} keeps names: {IDENTITY} stands in for it" if policy in _KEEP_NAMES else ""


def check_letters(name: str, text: str) -> None:
    """Raise ConfigurationError for what no name of a topic can hold."""
    if has_legal_letters(text):
        return
    bare = text.strip(_QUOTES)
    quoted = bare != text and has_legal_letters(bare)
    hint = f"; the quotes are part of it: write {name}={bare}" if quoted else ""
    raise ConfigurationError(
        f"{name}={text} is not possible, because names of topics hold it, which have letters, digits, dots, dashes and "
        f"underscores only{hint}"
    )
