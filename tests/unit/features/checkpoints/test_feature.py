"""Checkpoints: the expressions that choose groups are tried before anything starts."""

from __future__ import annotations

import re

import pytest

from legacy_mm.base.errors import ConfigurationError, InvalidPattern
from legacy_mm.features import flags
from legacy_mm.features.checkpoints.feature import CHECKPOINTS, CheckpointSettings, GroupFilterSettings
from legacy_mm.flow.names import Names
from legacy_mm.policies.topic_choice import Matcher
from tests.fixtures.flags import switched_on
from tests.unit.flow_settings import flow_settings


def refuse(expression: str) -> Matcher:
    raise InvalidPattern(f"{expression} is no expression")


@pytest.mark.parametrize("name", ["groups", "groups.exclude"])
def test_an_expression_that_java_refuses_is_named_by_its_flag(name: str) -> None:
    other = {"groups", "groups.exclude"} - {name}
    given = switched_on(["emit.checkpoints.enabled"]) | {name: "("} | dict.fromkeys(other, "")
    features = flags.settings({key: [text] for key, text in given.items()})
    names = Names(flow_settings().topics, features, refuse)
    with pytest.raises(ConfigurationError, match=rf"^{re.escape(name)}\b(?!\.)"):
        names.try_expressions()


def test_checkpoints() -> None:
    on = {name: [text] for name, text in switched_on(["emit.checkpoints.enabled"]).items()}
    mm2 = GroupFilterSettings((".*",), ("console-consumer-.*", "connect-.*", "__.*"))
    assert flags.settings(on)[CHECKPOINTS] == CheckpointSettings(60.0, -1, mm2, 600.0, None)
    more = {
        "emit.checkpoints.interval.seconds": ["5"],
        "checkpoints.topic.replication.factor": ["3"],
        "groups": ["a, b"],
        "groups.exclude": [""],
        "refresh.groups.enabled": ["false"],
        "sync.group.offsets.enabled": ["true"],
    }
    all_of_it = CheckpointSettings(5.0, 3, GroupFilterSettings(("a", "b"), ()), None, 60.0)
    assert flags.settings(on, more)[CHECKPOINTS] == all_of_it
