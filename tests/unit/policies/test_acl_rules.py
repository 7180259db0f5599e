"""Which rules are copied, and as what."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from legacy_mm.policies.acl_rules import AclRule, copies, left_out, removable

RULE = AclRule("t", "LITERAL", "User:x", "10.0.0.1", "READ", "ALLOW")
SAME = [
    *("READ", "DESCRIBE", "CREATE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE"),
]


def copied(
    *rules: AclRule, only: Collection[str] | None = None, topics: Collection[str] = (), prefixed: bool = False
) -> list[AclRule]:
    def mirrored(names: frozenset[str]) -> frozenset[str]:
        return names if only is None else names & frozenset(only)

    return list(copies(rules, "A.{}".format, mirrored, topics, prefixed=prefixed))


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
    assert copied(prefix, topics={"orders"}) == []
    assert copied(prefix, topics={"payments"}, prefixed=True) == []
    assert copied(prefix, topics={"orders"}, prefixed=True) == [replace(prefix, topic="A.ord")]
    assert copied(replace(prefix, operation="WRITE"), topics={"orders"}, prefixed=True) == []


@pytest.mark.parametrize("prefixed", [False, True])
def test_what_forbids_several_topics_holds_for_each_copy(prefixed: bool) -> None:
    """MirrorMaker 2 leaves it out, and the copy is open to whom the source refuses."""
    wildcard = replace(RULE, topic="*", permission="DENY")
    prefix = replace(wildcard, topic="ord", pattern="PREFIXED")
    topics = ["orders", "payments"]
    each = [replace(wildcard, topic=f"A.{topic}") for topic in topics]
    assert copied(wildcard, only=topics, topics=topics, prefixed=prefixed) == each
    assert copied(wildcard, topics=topics, prefixed=prefixed) == [replace(wildcard, topic="A.*"), *each]
    renamed = replace(prefix, topic="A.ord") if prefixed else each[0]
    assert copied(prefix, only=topics, topics=topics, prefixed=prefixed) == [renamed]


def test_a_wildcard_that_forbids_stays_one_where_names_are_kept() -> None:
    wildcard = replace(RULE, topic="*", permission="DENY")
    assert list(copies([wildcard], str, frozenset, ["t"], prefixed=False)) == [wildcard]
    only_topics = list(copies([wildcard], str, lambda names: names - {"*"}, ["t"], prefixed=False))
    assert only_topics == [replace(wildcard, topic="t")]


def test_what_is_left_out_is_told() -> None:
    written, prefix = replace(RULE, operation="WRITE"), replace(RULE, pattern="PREFIXED")
    told = untold(RULE, written, prefix, replace(written, topic="u"))
    assert [line.split(":")[0] for line in told] == [
        "rules that allow WRITE are left out (1), because only the mirror writes copies",
        "rules that allow something by a prefix are left out (1)",
    ]
    assert untold(RULE, prefix, prefixed=True) == []


def untold(*rules: AclRule, renames: bool = True, every: bool = True, prefixed: bool = False) -> list[str]:
    """What is said of these rules for topic t; `every`: the topics that are mirrored are chosen by `.*`."""
    names = "A.{}".format if renames else str
    return list(left_out(rules, names, lambda found: found if every else found - {"*"}, ["t"], prefixed=prefixed))


@pytest.mark.parametrize(
    ("renames", "every", "why"),
    [
        (True, True, "A.* is the name of no topic"),
        (True, False, "the choice of topics does not match * itself"),
        (False, False, "the choice of topics does not match * itself"),
        (False, True, ""),
    ],
)
def test_what_every_topic_allows_and_no_copy(renames: bool, every: bool, why: str) -> None:
    wide = replace(RULE, topic="*")
    told = untold(wide, replace(wide, operation="ALL"), RULE, renames=renames, every=every)
    expected = f"rules that allow something for every topic do not reach the copies (2), because {why}: "
    assert [line.startswith(expected) for line in told] == [True] * bool(why)


def test_a_prefix_that_the_new_names_do_not_have_is_not_copied() -> None:
    prefix = replace(RULE, topic="ord", pattern="PREFIXED")
    names = {"orders": "copy-of-orders", "ord": "copy-of-ord", "order-book": "book-of-orders"}
    one = copies([prefix], names.__getitem__, frozenset, {"orders"}, prefixed=True)
    assert list(one) == [replace(prefix, topic="copy-of-ord")]
    assert not list(copies([prefix], names.__getitem__, frozenset, {"orders", "order-book"}, prefixed=True))


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
    forbidden = replace(RULE, topic="*", permission="DENY")
    spread = replace(forbidden, topic="A.t")
    assert removable(frozenset({spread}), [forbidden], "A.{}".format, frozenset({spread})) == frozenset()
    assert removable(frozenset({spread}), [], "A.{}".format, frozenset({spread})) == {spread}
