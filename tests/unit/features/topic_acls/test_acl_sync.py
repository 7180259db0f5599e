"""Which access rules are added at the target, and which go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import NoAuthorizer
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.features.topic_acls.acl_sync import TopicAcls
from legacy_mm.features.topic_acls.made_rules import MadeRules
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.changes import CreateAcl, DeleteAcl, Inspection
from tests.fakes.admin import FakeAdmin

RULE = AclRule("t", "LITERAL", "User:x", "*", "READ", "ALLOW")
COPY = replace(RULE, topic="west.t")


class Rules:
    """The access rules of both clusters; None: the cluster has no authorizer."""

    def __init__(self, source: set[AclRule] | None, target: set[AclRule] | None) -> None:
        self._rules = {"source": source, "target": target}
        self.asked: list[str] = []

    def __call__(self, name: str, connection: ConnectionSettings, deadline: Deadline) -> frozenset[AclRule]:
        self.asked.append(name)
        if (found := self._rules[name]) is None:
            raise NoAuthorizer(f"the {name} has no authorizer")
        return frozenset(found)


def looked(rules: Rules, made: MadeRules | None = None) -> Inspection:
    source, target = FakeAdmin(), FakeAdmin()
    source.name = "source"
    duty = TopicAcls(source, target, "west.{}".format, lambda names: names, rules, prefixed=False, made=made)
    return duty.inspect(frozenset({"t"}), Deadline.after(1.0))


def test_a_rule_that_the_target_lacks_is_added() -> None:
    assert looked(Rules({RULE}, set())).changes == (CreateAcl(COPY),)
    assert looked(Rules({RULE}, {COPY})).changes == ()


def test_the_target_is_not_asked_where_there_is_nothing_to_copy() -> None:
    for source in (None, set[AclRule]()):
        rules = Rules(source, None)
        assert looked(rules).changes == ()
        assert rules.asked == ["source"]


def test_a_source_without_an_authorizer_is_a_note() -> None:
    assert looked(Rules(None, set())).notes == ("the source has no authorizer, so there are no access rules to copy",)


def test_only_rules_of_ours_go_with_those_of_the_source(tmp_path: Path) -> None:
    theirs = replace(COPY, principal="User:y")
    made = MadeRules(tmp_path)
    made.between("source", "target", naming="west.topic")
    made.note([COPY], [])
    assert looked(Rules(set(), {COPY, theirs}), made).changes == (DeleteAcl(COPY),)
    assert looked(Rules(set(), {COPY, theirs})).changes == ()
