"""Checkpoints: the expressions that choose groups are tried before anything starts."""

from __future__ import annotations

import re

import pytest

from legacy_mm.base.errors import ConfigurationError, InvalidPattern
from legacy_mm.features import flags
from legacy_mm.flow.flow_topics import FlowTopics
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
    names = FlowTopics(flow_settings().topics, features, refuse)
    with pytest.raises(ConfigurationError, match=rf"^{re.escape(name)}\b(?!\.)"):
        names.try_expressions()
