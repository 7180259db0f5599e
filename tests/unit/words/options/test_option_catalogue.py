"""Rows and typed values are the same list."""

from __future__ import annotations

from dataclasses import fields

from legacy_mm.words.options.option_catalogue import ALL_OPTIONS, OPTIONS, OwnOptions


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
