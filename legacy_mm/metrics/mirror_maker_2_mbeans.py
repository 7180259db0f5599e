"""The MBeans of MirrorMaker 2, with the names of release 4.0 and later; only present with its offset features on.

Differences from MirrorMaker 2: all values are up to 7 s old, and a plain age or latency is NaN, not 0, until there is
one. Of compressed batches that are copied unchanged, at most a tenth of the CPU opens some: sizes of the others are
estimates, their ages those of their first and newest records, and `/metrics` counts the bytes concerned
(`mirror_partition_estimated_byte_count`). A group's checkpoint-latency is its own (in MirrorMaker 2 one acknowledgement
updates the beans of all groups). Of more than 1,000 partitions of groups, those with the last checkpoints are shown.
"""

from __future__ import annotations

from legacy_mm.metrics.jmx import Attribute, Bean

_ENDINGS = ("", "-min", "-max", "-avg")


def _attributes(*names: str) -> tuple[Attribute, ...]:
    return tuple(Attribute(name, name.replace("-", "_")) for name in names)


def _ages(name: str) -> tuple[Attribute, ...]:
    return _attributes(*(name + ending for ending in _ENDINGS))


MIRROR_MAKER_2_BEANS = (
    Bean(
        "mirror_partition",
        "kafka.connect.mirror:type=MirrorSourceConnector,source={source},target={target},topic={topic},"
        "partition={partition}",
        (
            *_attributes("record-count", "record-rate"),
            *_ages("record-age-ms"),
            *_attributes("byte-count", "byte-rate"),
            *_ages("replication-latency-ms"),
        ),
    ),
    Bean(
        "mirror_group",
        "kafka.connect.mirror:type=MirrorCheckpointConnector,source={source},target={target},group={group},"
        "topic={topic},partition={partition}",
        _ages("checkpoint-latency-ms"),
    ),
    Bean("mirror_offsets", "kafka.connect.mirror:type=kafka-metrics-count", (Attribute("count"),)),
)
