"""The rows of flags: what each kind takes."""

from __future__ import annotations

import argparse

import pytest

from legacy_mm.base.option import Option
from legacy_mm.features.flag import Flag, replication_factor, seconds, switch


@pytest.mark.parametrize(
    ("option", "default", "taken", "refused"),
    [
        (switch("a", "", "o"), False, {"true": True, "FALSE": False}, ["1", "yes", ""]),
        (seconds("a", 60, "", "o"), 60, {"1": 1}, ["0", "-1", "1.5", ""]),
        (replication_factor("a", "o"), -1, {"-1": -1, "3": 3}, ["0", "-2", "x"]),
    ],
    ids=["switch", "seconds", "replication factor"],
)
def test_what_a_kind_takes(option: Option, default: object, taken: dict[str, object], refused: list[str]) -> None:
    assert option.type(option.default or "") == default
    assert {text: option.type(text) for text in taken} == taken
    for text in refused:
        with pytest.raises(argparse.ArgumentTypeError):
            option.type(text)


def test_a_step_of_the_ladder_switches_something_on() -> None:
    assert Flag(switch("a", "", "o"), step=1).is_feature
    assert not Flag(seconds("a", 60, "", "o")).is_feature
    assert replication_factor("heartbeats", "o").name == "heartbeats.topic.replication.factor"
