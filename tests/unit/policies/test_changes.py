"""Changes as lines and as JSON."""

from __future__ import annotations

import json

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.changes import (
    AddPartitions,
    Change,
    CreateAcl,
    CreateTopic,
    DeleteAcl,
    DeleteConfig,
    SetConfig,
    SetQuota,
    from_json,
    to_json,
)

RULE = AclRule("t", "LITERAL", "User:x", "*", "READ", "ALLOW")
ROWS = [
    (
        CreateTopic("t", 3, -1, {"b": "2", "a": "1"}),
        "create topic t: partitions 3, replication factor of the brokers, a=1, b=2",
    ),
    (CreateTopic("t", 3, 2), "create topic t: partitions 3, replication factor 2"),
    (AddPartitions("t", 3, 5), "add partitions to topic t: from 3 to 5"),
    (SetConfig("t", "a", None, "1"), "set a of topic t: from not set to 1"),
    (SetConfig("t", "a", "0", "1"), "set a of topic t: from 0 to 1"),
    (DeleteConfig("t", "a", "0"), "remove a of topic t: it is 0"),
    (CreateAcl(RULE), "add rule ALLOW READ on topic t to User:x from host *"),
    (DeleteAcl(RULE), "remove rule ALLOW READ on topic t to User:x from host *"),
    (
        SetQuota((("user", "x"),), "request_percentage", None, 12.5),
        "set request_percentage of user x: from not set to 12.5",
    ),
    (
        SetQuota((("client-id", None), ("user", "x, y")), "producer_byte_rate", 10_000_000.0, 1_048_576.0),
        "set producer_byte_rate of every other client-id, user x, y: from 10000000 to 1048576",
    ),
    (
        CreateAcl(AclRule("t", "PREFIXED", "User:x", "*", "ALL", "DENY")),
        "add rule DENY ALL on topics that begin with t to User:x from host *",
    ),
]


@pytest.mark.parametrize(("change", "text"), ROWS)
def test_a_change_is_a_line_and_comes_back_from_json(change: Change, text: str) -> None:
    assert change.text == text
    assert from_json(json.loads(json.dumps(to_json(change)))) == change


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"change": "drop-topic", "topic": "t"},
        {"change": "add-partitions", "topic": "t"},
        {"change": "create-acl", "rule": {"topic": "t"}},
        {"change": "create-acl", "rule": "t"},
        {"change": "set-quota", "entity": [["user"]], "name": "a", "old": None, "new": 1.0},
        {"change": "set-quota", "entity": 1, "name": "a", "old": None, "new": 1.0},
    ],
)
def test_what_is_no_change_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="this is no change"):
        from_json(document)
