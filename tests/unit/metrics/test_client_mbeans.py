"""The tables of what the beans of Kafka's clients show, for both commands."""

from __future__ import annotations

from legacy_mm.metrics.client_mbeans import UNCOUNTED, family
from legacy_mm.metrics.connect_mbeans import CONNECT_BEANS
from legacy_mm.metrics.legacy_mbeans import BEANS


def test_every_row_of_what_nobody_counts_belongs_to_a_bean() -> None:
    families = {family(bean.pattern) for bean in (*BEANS, *CONNECT_BEANS)}
    assert {bean for row in UNCOUNTED for bean in row.beans.split()} <= families
    assert all(row.reason for row in UNCOUNTED)


def test_no_bean_has_an_attribute_twice() -> None:
    for bean in (*BEANS, *CONNECT_BEANS):
        names = [each.name for each in bean.attributes]
        assert len(names) == len(set(names)), bean.pattern


def test_what_nobody_counts_is_nan_and_what_never_happens_is_0() -> None:
    values = {
        (bean.pattern.partition(":type=")[2].partition(",")[0], each.name): each.constant
        for bean in CONNECT_BEANS
        for each in bean.attributes
        if not each.metric
    }
    assert values["producer-metrics", "txn-prepare-time-ns-total"] == 0
    for name in ("connect-metrics", "admin-client-metrics", "consumer-metrics", "producer-metrics"):
        ratio = values[name, "io-ratio"]
        assert ratio != ratio


def test_a_topic_with_dots_has_two_names_since_4_1() -> None:
    topics = [bean.pattern for bean in CONNECT_BEANS if "consumer-fetch-manager-metrics" in bean.pattern]
    assert (
        sum("{dotless_topic}" in pattern for pattern in topics) == sum("{topic}" in pattern for pattern in topics) == 2
    )
    assert not [bean for bean in BEANS if "fetch-manager" in bean.pattern and "{topic}" in bean.pattern]
