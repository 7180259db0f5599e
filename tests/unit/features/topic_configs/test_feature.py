"""The duty of topic properties, and the expressions that are tried before."""

from __future__ import annotations

from legacy_mm.features.feature import DutyScene, FeatureSettings, TopicNames
from legacy_mm.features.topic_configs.feature import TOPIC_CONFIGS
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings, ConfigSyncSettings
from tests.fakes.admin import FakeAdmin

NAMES = TopicNames(str, frozenset, lambda expressions: expressions.__contains__)


SETTINGS = ConfigSyncSettings(8.0, ConfigFilterSettings(("a",)))


def test_it_has_a_duty_where_it_is_on() -> None:
    assert TOPIC_CONFIGS.duty is not None
    off = FeatureSettings()
    assert TOPIC_CONFIGS.duty(DutyScene(off, FakeAdmin(), FakeAdmin(), NAMES, 300.0)) is None
    on = off.having(TOPIC_CONFIGS, SETTINGS)
    made = TOPIC_CONFIGS.duty(DutyScene(on, FakeAdmin(), FakeAdmin(), NAMES, 300.0))
    assert made is not None
    assert (made.duty.name, made.interval, made.before_copying) == ("topic-configs", 8.0, False)


def test_expressions_of_its_filter_are_tried() -> None:
    assert TOPIC_CONFIGS.expressions(SETTINGS) == {"config.properties.exclude": ("a",)}
