"""Rows and typed values are the same list."""

from __future__ import annotations

from dataclasses import fields

import pytest

from legacy_mm.words.options.option_catalogue import ALL_OPTIONS, OPTIONS, OwnOptions, option_called


def test_every_row_has_its_value() -> None:
    assert [row.attribute for row in OPTIONS] == [
        field.name for field in fields(OwnOptions) if field.name != "features"
    ]


def test_environment_variables() -> None:
    names = {row.name: row.environment_variable for row in OPTIONS}
    names |= {row.name: row.environment_variable for row in ALL_OPTIONS}
    assert names["emit.offset-syncs.enabled"] == "LEGACY_MM_EMIT_OFFSET_SYNCS_ENABLED"
    assert names["spark.master"] == "LEGACY_MM_SPARK_MASTER"
    assert names["shutdown.timeout.ms"] == "LEGACY_MM_SHUTDOWN_TIMEOUT_MS"


@pytest.mark.parametrize(
    ("name", "option"),
    [("admin.port", "admin.port"), ("admin.retries", "source.admin"), ("admin.nonsense", "source.admin")],
)
def test_a_whole_name_comes_before_the_beginning_of_a_family(name: str, option: str) -> None:
    found = option_called(name)
    assert found is not None
    assert found.name == option


def test_every_option_is_read_under_its_own_name() -> None:
    assert {row.name: option_called(row.name) for row in ALL_OPTIONS} == {row.name: row for row in ALL_OPTIONS}
