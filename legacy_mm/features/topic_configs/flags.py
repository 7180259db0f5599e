"""Flags of the sync of topic properties, and their settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from legacy_mm.base.option import Option
from legacy_mm.features.flag import Flag, seconds, switch
from legacy_mm.features.flag_values import FlagValues
from legacy_mm.policies.config_filter import ConfigPropertyFilter

_OWNER = "legacy_mm.features.topic_configs.config_sync"
DEFAULT_EXCLUDE = (
    r"follower\.replication\.throttled\.replicas",
    r"leader\.replication\.throttled\.replicas",
    r"message\.timestamp\.difference\.max\.ms",
    r"message\.timestamp\.type",
    r"unclean\.leader\.election\.enable",
    r"min\.insync\.replicas",
)
"""`config.properties.exclude` where it is not set."""
FLAGS = (
    Flag(
        switch("sync.topic.configs.enabled", "Bring the configuration of source topics over to their copies.", _OWNER),
        synonyms=("sync.topic.configs",),
        rights=("DescribeConfigs on the topics", "DescribeConfigs and AlterConfigs on the topics"),
        step=3,
        changes="properties of target topics follow the source's; the last values stay",
    ),
    Flag(seconds("sync.topic.configs.interval.seconds", 600, "Between two comparisons.", _OWNER)),
    Flag(
        Option(
            "config.properties.exclude",
            ",".join(DEFAULT_EXCLUDE),
            "pattern,...",
            "Topic properties that are not brought over.",
            _OWNER,
        ),
        synonyms=("config.properties.blacklist",),
    ),
    Flag(
        Option(
            "use.defaults.from",
            "target",
            "cluster",
            "Whose defaults a property has that the source topic does not set: target or source.",
            _OWNER,
        )
    ),
)


@dataclass(frozen=True, slots=True)
class ConfigFilterSettings:
    """The properties of a source topic that its copy has too (`DefaultConfigPropertyFilter`)."""

    exclude: tuple[str, ...]
    """Java regular expressions for whole names."""
    source_defaults: bool = False
    """`use.defaults.from=source`."""

    @property
    def expressions(self) -> dict[str, Sequence[str]]:
        """Return flag -> its Java expressions."""
        return {"config.properties.exclude": self.exclude}

    def made(self, in_list: Callable[[Sequence[str]], Callable[[str], bool]]) -> ConfigPropertyFilter:
        """Return the filter; `in_list` returns a function that accepts the names in a list of Java expressions."""
        return ConfigPropertyFilter(in_list(self.exclude), source_defaults=self.source_defaults)


@dataclass(frozen=True, slots=True)
class ConfigSyncSettings:
    """Properties of the topics are brought over again and again."""

    interval: float
    filter: ConfigFilterSettings


def config_filter(values: FlagValues) -> ConfigFilterSettings:
    """Return the filter of properties, which topic creation uses, too; remark what it protects no more."""
    chosen = ConfigFilterSettings(values.extended("config.properties.exclude"), values["use.defaults.from"] == "source")
    if lost := [each.replace("\\", "") for each in DEFAULT_EXCLUDE if each not in chosen.exclude]:
        values.remark(
            f"config.properties.exclude takes the place of the default list: {', '.join(lost)} follow the source now. "
            "Write +NAME for each property that is to be excluded besides the default ones"
        )
    return chosen


def read(values: FlagValues) -> ConfigSyncSettings | None:
    """Return the settings, or None if the feature is off."""
    if not values["sync.topic.configs.enabled"]:
        return None
    return ConfigSyncSettings(values.seconds("sync.topic.configs"), config_filter(values))
