"""What a change does to records and clients; the worst is told first."""

from __future__ import annotations

import pytest

from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.change_effects import (
    CHANGES_ACCESS,
    LOSES_RECORDS,
    WEAKENS,
    describe_change,
    effect,
    worst_first,
)
from legacy_mm.policies.changes import (
    AddPartitions,
    CreateAcl,
    CreateTopic,
    DeleteAcl,
    DeleteConfig,
    SetConfig,
    SetQuota,
)


@pytest.mark.parametrize(
    ("name", "old", "new", "danger"),
    [
        ("cleanup.policy", "compact", "delete", LOSES_RECORDS),
        ("cleanup.policy", "compact", "compact,delete", LOSES_RECORDS),
        ("cleanup.policy", "delete", "compact", LOSES_RECORDS),
        ("cleanup.policy", None, "compact", LOSES_RECORDS),
        ("cleanup.policy", None, "delete", 0),
        ("cleanup.policy", "compact,delete", "delete", 0),
        ("retention.ms", "1000", "999", LOSES_RECORDS),
        ("retention.ms", "-1", "1000", LOSES_RECORDS),
        ("retention.ms", None, "1000", LOSES_RECORDS),
        ("retention.ms", "1000", "-1", 0),
        ("retention.bytes", "1000", "1001", 0),
        ("min.insync.replicas", "2", "1", WEAKENS),
        ("min.insync.replicas", "1", "2", 0),
        ("unclean.leader.election.enable", None, "true", WEAKENS),
        ("unclean.leader.election.enable", "true", "false", 0),
        ("max.message.bytes", "2000", "1000", WEAKENS),
        ("segment.bytes", "2000", "1000", 0),
    ],
)
def test_properties(name: str, old: str | None, new: str, danger: int) -> None:
    found = effect(SetConfig("t", name, old, new))
    assert (found.danger, bool(found.text)) == (danger, danger > 0)


def test_what_becomes_delete_says_so() -> None:
    change = SetConfig("t", "cleanup.policy", "compact", "delete")
    assert describe_change(change) == (
        "set cleanup.policy of topic t: from compact to delete (becomes delete: old records will be removed)"
    )


def test_a_property_that_goes_leaves_the_brokers_default() -> None:
    assert effect(DeleteConfig("t", "cleanup.policy", "compact")).danger == LOSES_RECORDS
    assert effect(DeleteConfig("t", "min.insync.replicas", "2")).danger == WEAKENS
    assert effect(DeleteConfig("t", "segment.bytes", "2")).danger == 0


def test_access_rules() -> None:
    read = AclRule("t", "LITERAL", "User:x", "*", "READ", "ALLOW")
    deny = AclRule("t", "LITERAL", "User:x", "*", "WRITE", "DENY")
    assert effect(CreateAcl(read)).danger == 0
    assert effect(CreateAcl(deny)).text.startswith("the mirror itself may not write")
    assert effect(DeleteAcl(read)).text == "whom it let in is refused"
    assert effect(DeleteAcl(deny)).text == "whom it refused is let in"


def test_a_lower_limit_slows_its_clients_down() -> None:
    user = (("user", "x"),)
    for old, new, danger in ((None, 5.0, CHANGES_ACCESS), (9.0, 5.0, CHANGES_ACCESS), (4.0, 5.0, 0)):
        assert effect(SetQuota(user, "producer_byte_rate", old, new)).danger == danger


def test_the_worst_comes_first() -> None:
    topic, grown = CreateTopic("a", 1, 1), AddPartitions("b", 1, 2)
    weaker, lost = SetConfig("c", "min.insync.replicas", "2", "1"), SetConfig("d", "retention.ms", "2", "1")
    rule = DeleteAcl(AclRule("t", "LITERAL", "User:x", "*", "READ", "ALLOW"))
    assert effect(rule).danger == CHANGES_ACCESS
    assert worst_first([topic, grown, rule, weaker, lost]) == [lost, weaker, rule, grown, topic]
