"""Which properties of the target's topics follow those of the source."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.base.clock import Deadline
from legacy_mm.features.topic_configs.config_sync import TopicConfigs
from legacy_mm.policies.changes import DeleteConfig, Inspection, SetConfig
from legacy_mm.policies.config_filter import ConfigPropertyFilter
from tests.fakes.admin import FakeAdmin

FILTER = ConfigPropertyFilter(lambda name: name == "min.insync.replicas", source_defaults=False)
KNOWN = {"retention.ms": "7", "segment.ms": "7"}
Topics = Mapping[str, Mapping[str, str] | None]


def looked(source: Topics, target: Topics, **refuses: str) -> Inspection:
    there, here = FakeAdmin(source), FakeAdmin(target, {name.replace("_", "."): why for name, why in refuses.items()})
    there.known = here.known = KNOWN
    duty = TopicConfigs(there, here, "west.{}".format, FILTER)
    return duty.inspect(frozenset({"t", "gone"}), Deadline.after(1.0))


def test_only_what_differs_is_altered() -> None:
    source = {"t": {"retention.ms": "1", "segment.ms": "2", "min.insync.replicas": "2"}}
    found = looked(source, {"west.t": {"retention.ms": "1", "segment.ms": "3"}})
    assert found == Inspection((SetConfig("west.t", "segment.ms", "3", "2"),))


def test_an_override_that_the_source_lacks_goes() -> None:
    found = looked({"t": {}}, {"west.t": {"retention.ms": "1"}})
    assert found == Inspection((DeleteConfig("west.t", "retention.ms", "1"),))


def test_a_topic_on_one_side_only_is_left_alone() -> None:
    assert looked({"t": {"retention.ms": "1"}}, {"west.gone": {}}) == Inspection()


def test_what_is_not_told_is_a_trouble() -> None:
    assert looked({"t": None}, {"west.t": {}}).troubles == ("topic t: it is refused",)
    assert looked({"t": {}}, {"west.t": None}).troubles == ("topic west.t: it is refused",)


def test_a_refused_property_is_left_out_and_named() -> None:
    source = {"t": {"retention.ms": "1", "segment.ms": "2"}}
    found = looked(source, {"west.t": {}}, segment_ms="a policy")
    assert found.changes == (SetConfig("west.t", "retention.ms", None, "1"),)
    assert len(found.troubles) == 1 and "segment.ms" in found.troubles[0] and "a policy" in found.troubles[0]
