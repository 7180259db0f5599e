"""Which rules are copied, and as what."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from legacy_mm.policies.acl_rules import AclRule, copies, removable

RULE = AclRule("t", "LITERAL", "User:x", "10.0.0.1", "READ", "ALLOW")
SAME = [
    *("READ", "DESCRIBE", "CREATE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE"),
]


def copied(*rules: AclRule, only: Collection[str] | None = None, prefixes_of: Collection[str] = ()) -> list[AclRule]:
    def mirrored(names: frozenset[str]) -> frozenset[str]:
        return names if only is None else names & frozenset(only)

    return list(copies(rules, "A.{}".format, mirrored, prefixes_of))


@pytest.mark.parametrize("operation", SAME)
def test_what_is_allowed(operation: str) -> None:
    rule = replace(RULE, operation=operation)
    assert copied(rule) == [replace(rule, topic="A.t")]


@pytest.mark.parametrize("operation", [*SAME, "WRITE", "ALL"])
def test_what_is_denied_is_copied_as_it_is(operation: str) -> None:
    rule = replace(RULE, operation=operation, permission="DENY")
    assert copied(rule) == [replace(rule, topic="A.t")]


def test_writing_is_the_mirrors() -> None:
    assert copied(replace(RULE, operation="WRITE")) == []
    assert copied(replace(RULE, operation="ALL")) == [replace(RULE, topic="A.t")]


def test_the_name_decides_not_the_topic() -> None:
    wildcard = replace(RULE, topic="*")
    assert copied(wildcard, RULE, only={"t"}) == [replace(RULE, topic="A.t")]
    assert copied(wildcard) == [replace(RULE, topic="A.*")]


def test_prefixes_are_copied_when_asked_for() -> None:
    prefix = replace(RULE, topic="ord", pattern="PREFIXED")
    assert copied(prefix) == []
    assert copied(prefix, prefixes_of={"payments"}) == []
    assert copied(prefix, prefixes_of={"orders"}) == [replace(prefix, topic="A.ord")]
    assert copied(replace(prefix, operation="WRITE"), prefixes_of={"orders"}) == []


def test_a_prefix_that_the_new_names_do_not_have_is_not_copied() -> None:
    prefix = replace(RULE, topic="ord", pattern="PREFIXED")
    names = {"orders": "copy-of-orders", "ord": "copy-of-ord", "order-book": "book-of-orders"}
    assert list(copies([prefix], names.__getitem__, frozenset, {"orders"})) == [replace(prefix, topic="copy-of-ord")]
    assert not list(copies([prefix], names.__getitem__, frozenset, {"orders", "order-book"}))


def test_what_is_removed() -> None:
    """Ours, at the target, and without a rule of the source behind it, whichever topics are mirrored now."""
    ours, other = replace(RULE, topic="A.t"), replace(RULE, topic="A.u")
    target = frozenset({ours, other})

    def removed(*rules: AclRule, made: frozenset[AclRule] = frozenset({ours})) -> frozenset[AclRule]:
        return removable(made, rules, "A.{}".format, target)

    assert removed() == {ours}
    assert removed(replace(RULE, operation="WRITE")) == {ours}
    assert removed(RULE) == removed(replace(RULE, operation="ALL")) == frozenset()
    assert removed(replace(RULE, pattern="PREFIXED")) == {ours}
    assert removed(made=frozenset({replace(RULE, topic="A.v")})) == frozenset()
