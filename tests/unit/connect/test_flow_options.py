"""What is switched on: values that a page may show, and where they come from."""

from __future__ import annotations

from legacy_mm.base.option import OptionValue
from legacy_mm.base.redaction import HIDDEN
from legacy_mm.connect.flow_options import ProcessOptions, shown


def test_no_secret_and_no_value_of_a_client_s_property_is_shown() -> None:
    given = [
        OptionValue("topics", "a, b", "mm2.properties:7"),
        OptionValue("spark.conf", "a=rosebud", "command line"),
        OptionValue("source.admin", "retries=rosebud", "LEGACY_MM_SOURCE_ADMIN"),
        OptionValue("admin.sasl.jaas.config", "rosebud", "consumer.properties:3"),
        OptionValue("sasl.password", "rosebud", "consumer.properties:4"),
        OptionValue("admin.port", "8083", "command line"),
    ]
    assert [(each.option, each.value) for each in shown(given)] == [
        ("admin.port", "8083"),
        ("admin.sasl.jaas.config", HIDDEN),
        ("sasl.password", HIDDEN),
        ("source.admin", HIDDEN),
        ("spark.conf", HIDDEN),
        ("topics", "a, b"),
    ]


def test_options_are_read_again_with_a_reload_but_for_those_that_need_a_start() -> None:
    now = [
        OptionValue("on.gap", "log", "default"),
        OptionValue("receipts", "r.json", "command line"),
        OptionValue("topics.exclude", "x", "o.properties:1"),
    ]
    options = ProcessOptions(lambda: now)
    assert {each.option for each in options.given()} == {"receipts", "topics.exclude"}
    now[:] = [OptionValue("on.gap", "fail", "o.properties:1"), OptionValue("receipts", "other", "o.properties:2")]
    assert {each.option for each in options.given()} == {"receipts", "topics.exclude"}
    options.read_again()
    assert {(each.option, each.value) for each in options.given()} == {("on.gap", "fail"), ("receipts", "r.json")}
