"""Values of options: what is read, and what is refused."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from legacy_mm.base.option import (
    Option,
    boolean,
    count_or_default,
    milliseconds,
    port_number,
    positive_number,
    positive_seconds,
    split_list,
    whole_number,
)


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (whole_number, "007", 7),
        (positive_number, "1", 1),
        (milliseconds, "9223372036854775807", 2_147_483_647),
        (positive_seconds, "9223372036854775807", 2_147_483_647),
        (count_or_default, "-1", -1),
        (count_or_default, "3", 3),
        (boolean, "TRUE", True),
        (boolean, "false", False),
        (port_number, "65535", 65_535),
    ],
)
def test_a_value(read: Callable[[str], object], text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (whole_number, "-1"),
        (whole_number, "1e3"),
        (whole_number, "1" * 20),
        (whole_number, "\u0663"),
        (positive_number, "0"),
        (positive_seconds, "0"),
        (count_or_default, "-2"),
        (count_or_default, "0"),
        (boolean, "yes"),
        (port_number, "0"),
        (port_number, "65536"),
    ],
)
def test_a_refused_value(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        read(text)


@pytest.mark.parametrize(
    ("text", "elements"), [("a, b ,c", ("a", "b", "c")), (" \n", ()), ("a,,b", ("a", "", "b")), (" a b ", ("a b",))]
)
def test_a_list_is_split_as_kafka_does(text: str, elements: tuple[str, ...]) -> None:
    assert split_list(text) == elements


def test_other_forms_of_a_name() -> None:
    option = Option("offset-syncs.topic.location", None, "x", "x", "x")
    assert option.environment_variable == "LEGACY_MM_OFFSET_SYNCS_TOPIC_LOCATION"
    assert Option("shutdown.timeout.ms", None, "x", "x", "x").attribute == "shutdown_timeout_ms"
