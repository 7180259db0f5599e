"""Flags as they were given become `FeatureSettings`: precedence, spellings, types, needs and contradictions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from legacy_mm.config.option import listed
from legacy_mm.errors import ConfigurationError
from legacy_mm.features.feature import Feature
from legacy_mm.features.policy_names import POLICY as _POLICY
from legacy_mm.features.policy_names import check_letters, foreign, policy_name
from legacy_mm.features.rows import BY_NAME, DEFAULT_EXCLUDE, FEATURES, WITHOUT_EFFECT, as_pair, spelled_today
from legacy_mm.features.settings import (
    DEFAULT,
    IDENTITY,
    AclSyncSettings,
    CheckpointSettings,
    ConfigFilterSettings,
    ConfigSyncSettings,
    CreationSettings,
    FeatureSettings,
    GroupFilterSettings,
    HeartbeatSettings,
    NamingSettings,
    OffsetSyncSettings,
    TopicFilterSettings,
)

Given = Mapping[str, Sequence[str]]
"""Today's name of a flag -> what was given for it; a repeated one has `name=value` texts."""
_HEARTBEATS = "emit.heartbeats.enabled"
_SOURCE, _SEPARATOR = "source.cluster.alias", "replication.policy.separator"
_EVERY = ".*"
_EXCLUDED = {"3.9": r".*[\-\.]internal, .*\.replica, __.*", "4": r"mm2.*\.internal, .*\.replica, __.*"}
"""`topics.exclude` of DefaultTopicFilter, by `mm2.compatibility`."""


def given_in(file: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the flags in a client's properties file; today's spelling counts if there are several."""
    found: dict[str, list[str]] = {}
    for key, text in file.items():
        name = spelled_today(key)
        if name is not None and BY_NAME[name].option.repeated:
            found.setdefault(name, []).append(as_pair(key, text))
        elif name is not None and (key == name or name not in file):
            found[name] = [text]
    return found


def settings(own: Given | None = None, *files: Given) -> FeatureSettings:
    """Return the outcome of the flags; `own` options first, then clients' files in the order of their precedence.

    Raises ConfigurationError. But where no feature is on, flags in a client's file that cannot be are a remark: the old
    tool passed over them, and so must an unchanged line.
    """
    sources = (own or {}, *files)
    if any(files) and not _asks_for_features(sources):
        return _passing_over(sources[0], files)
    return _Flags(sources).settings()


def _asks_for_features(sources: Sequence[Given]) -> bool:
    values = (_given(sources, row.name) for row in FEATURES if row.is_feature)
    return any(value is not None and value[-1].strip().lower() == "true" for value in values)


def _passing_over(own: Given, files: Sequence[Given]) -> FeatureSettings:
    """Ignore all flags that cannot be, and a class of a foreign jar that keeps names, because no feature is on."""
    policy = (_given((own, *files), _POLICY) or [""])[-1].strip()
    if _POLICY not in own and foreign(policy):
        others = [{name: texts for name, texts in file.items() if name != _POLICY} for file in files]
        remark = f"{_POLICY}={policy} has no effect: no feature is on, and names are kept without it"
        made = _passing_over(own, others)
        return replace(made, remarks=(*made.remarks, remark))
    try:
        return _Flags((own, *files)).settings()
    except ConfigurationError as error:
        remark = f"{error}. No feature is on, so the flags in the clients' files have no effect, as in the legacy tool"
        return replace(_Flags((own,)).settings(), remarks=(remark,))


def _given(sources: Sequence[Given], name: str) -> Sequence[str] | None:
    return next((source[name] for source in sources if name in source), None)


class _Flags:
    def __init__(self, sources: Sequence[Given]) -> None:
        self._sources = sources
        self._remarks: list[str] = []
        self._values: dict[str, Any] = {row.name: _typed(row, self._text(row)) for row in FEATURES}

    def settings(self) -> FeatureSettings:
        """Return all settings, or raise the first contradiction."""
        self._imply()
        for row in FEATURES:
            self._check(row)
        creation = self._values["topic.creation"]
        config_filter = ConfigFilterSettings(
            self._excluded("config.properties.exclude"), self._values["use.defaults.from"] == "source"
        )
        configs = self._values["sync.topic.configs.enabled"]
        if creation or configs:
            self._remark_unprotected(config_filter)
        refreshes = creation and self._values["refresh.topics.enabled"]
        return FeatureSettings(
            naming=self._naming(),
            topics=self._topic_filter(),
            preserve_partitions=self._values["preserve.partitions"],
            grow_partitions=creation and self._values["topic.creation.fewer.partitions"] == "grow",
            creation=CreationSettings(self._values["replication.factor"], config_filter) if creation else None,
            config_sync=ConfigSyncSettings(self._seconds("sync.topic.configs"), config_filter) if configs else None,
            acl_sync=self._acl_sync() if self._values["sync.topic.acls.enabled"] else None,
            refresh_interval=self._seconds("refresh.topics") if refreshes else None,
            detect_loops=self._values["detect.loops"],
            heartbeats=self._heartbeats(),
            replicate_heartbeats=self._values["heartbeats.replication.enabled"],
            offset_syncs=self._offset_syncs(),
            checkpoints=self._checkpoints(),
            canary=self._values["feature.topics"],
            source_admin=self._pairs("source.admin"),
            target_admin=self._pairs("target.admin"),
            remarks=tuple(self._remarks),
        )

    def _remark_unprotected(self, chosen: ConfigFilterSettings) -> None:
        lost = [each.replace("\\", "") for each in DEFAULT_EXCLUDE if each not in chosen.exclude]
        if lost:
            self._remarks.append(
                f"config.properties.exclude takes the place of the default list: {', '.join(lost)} follow the source "
                "now. Write +NAME for each property that is to be excluded besides the default ones"
            )

    def _imply(self) -> None:
        """Add flags that others turn on."""
        if self._values["topic.creation"]:
            if self._given("preserve.partitions") and not self._values["preserve.partitions"]:
                raise ConfigurationError(
                    "topic.creation=true and preserve.partitions=false exclude each other, because a topic that grows "
                    "with its source must be filled like it"
                )
            self._values["preserve.partitions"] = True
        if not self._given("heartbeats.replication.enabled"):
            self._values["heartbeats.replication.enabled"] = self._values[_HEARTBEATS]

    def _text(self, row: Feature) -> str:
        given = _given(self._sources, row.name)
        return (row.option.default or "") if given is None or row.option.repeated else given[-1].strip()

    def _given(self, name: str) -> bool:
        return any(name in source for source in self._sources)

    def _pairs(self, name: str) -> dict[str, str]:
        pairs: dict[str, str] = {}
        for source in reversed(self._sources):
            for text in source.get(name, ()):
                key, separator, value = text.partition("=")
                if not separator or not key.strip():
                    raise ConfigurationError(f"{name} takes name=value, such as {name}.security.protocol=SSL")
                pairs[key.strip()] = value
        return pairs

    def _check(self, row: Feature) -> None:
        for other in row.needs:
            missing = not self._values[other.name] or (other.by_name and not self._given(other.name))
            if self._values[row.name] and missing:
                raise ConfigurationError(f"{row.name}=true needs {other.name}, because {other.because}")

    def _naming(self) -> NamingSettings:
        policy, alias = self._policy(), self._values["source.cluster.alias"]
        for name in (_SOURCE, "target.cluster.alias", _SEPARATOR):
            check_letters(name, self._values[name])
        if policy == DEFAULT and not alias:
            raise ConfigurationError(
                f"{_POLICY}={DEFAULT} needs source.cluster.alias, because names begin with it; {IDENTITY} keeps names"
            )
        if policy == DEFAULT and self._values["detect.loops"]:
            raise ConfigurationError(
                f"detect.loops=true and {DEFAULT} exclude each other, because with it names tell where a topic has been"
            )
        if policy == IDENTITY and alias and alias == self._values["target.cluster.alias"]:
            raise ConfigurationError(
                f"source.cluster.alias and target.cluster.alias are both {alias}, and with {IDENTITY} every topic "
                "counts as a copy from there: none would be mirrored"
            )
        if policy == DEFAULT and not self._given("target.cluster.alias"):
            raise ConfigurationError(
                f"{_POLICY}={DEFAULT} needs target.cluster.alias, because only that name tells which topics come back "
                "from there"
            )
        return NamingSettings(
            policy=policy,
            source_alias=alias,
            target_alias=self._values["target.cluster.alias"],
            separator=self._values["replication.policy.separator"],
            internal_separator=self._values["replication.policy.internal.topic.separator.enabled"],
            compatibility=self._values["mm2.compatibility"],
            properties={row.name: self._text(row) for row in FEATURES if not row.option.repeated},
        )

    def _policy(self) -> str:
        asked = self._values[_POLICY]
        name = policy_name(asked)
        if remark := foreign(asked):
            self._remarks.append(remark)
        if not self._values["rename.topics"]:
            return IDENTITY if name == DEFAULT and self._puts_nothing_before() else name
        if self._given(_POLICY) and name != DEFAULT:
            raise ConfigurationError(
                f"rename.topics=true and {_POLICY}={asked} exclude each other, because both say how topics are called"
            )
        return DEFAULT

    def _puts_nothing_before(self) -> bool:
        """Tell whether alias and separator are empty: the way to keep names from before there was a policy for it."""
        empty = all(self._given(name) and not self._values[name] for name in (_SOURCE, _SEPARATOR))
        if empty:
            self._remarks.append(f"{_SOURCE} and {_SEPARATOR} are empty: names are kept, as by {IDENTITY}")
        return empty

    def _topic_filter(self) -> TopicFilterSettings | None:
        if not self._given("topics") and not self._given("topics.exclude"):
            return None
        default = _EXCLUDED[self._values["mm2.compatibility"]]
        include = self._values["topics"] if self._given("topics") else _EVERY
        exclude = self._values["topics.exclude"] if self._given("topics.exclude") else default
        return TopicFilterSettings(listed(include), extended(exclude, default))

    def _excluded(self, name: str) -> tuple[str, ...]:
        return extended(self._values[name], BY_NAME[name].option.default or "")

    def _acl_sync(self) -> AclSyncSettings:
        return AclSyncSettings(
            self._seconds("sync.topic.acls"),
            prefixed=self._values["sync.topic.acls.prefixed"],
            remove=self._values["sync.topic.acls.remove"],
        )

    def _heartbeats(self) -> HeartbeatSettings | None:
        if not self._values[_HEARTBEATS]:
            return None
        return HeartbeatSettings(self._seconds("emit.heartbeats"), self._values["heartbeats.topic.replication.factor"])

    def _offset_syncs(self) -> OffsetSyncSettings | None:
        if not self._values["emit.offset-syncs.enabled"]:
            return None
        return OffsetSyncSettings(
            self._values["offset-syncs.topic.location"],
            self._values["offset-syncs.topic.replication.factor"],
            self._values["offset.lag.max"],
        )

    def _checkpoints(self) -> CheckpointSettings | None:
        if not self._values["emit.checkpoints.enabled"]:
            return None
        refreshes, syncs = self._values["refresh.groups.enabled"], self._values["sync.group.offsets.enabled"]
        return CheckpointSettings(
            self._seconds("emit.checkpoints"),
            self._values["checkpoints.topic.replication.factor"],
            GroupFilterSettings(listed(self._values["groups"]), self._excluded("groups.exclude")),
            refresh_interval=self._seconds("refresh.groups") if refreshes else None,
            sync_interval=self._seconds("sync.group.offsets") if syncs else None,
        )

    def _seconds(self, name: str) -> float:
        return float(self._values[f"{name}.interval.seconds"])


def extended(text: str, default: str) -> tuple[str, ...]:
    """Return a list of expressions; one with a plus before some of them adds these to the default list."""
    given = listed(text)
    if not any(each.startswith("+") for each in given):
        return given
    return (*listed(default), *(each.removeprefix("+") for each in given))


def client_naming(properties: Mapping[str, str]) -> NamingSettings:
    """Return how a client of MirrorMaker 2 is told to name topics; raises ConfigurationError.

    The default is DefaultReplicationPolicy, as in Java.
    """

    def value(name: str) -> Any:
        row = BY_NAME[name]
        return _typed(row, properties.get(name, row.option.default or "").strip())

    return NamingSettings(
        policy=policy_name(properties.get(_POLICY, DEFAULT).strip()),
        source_alias=value("source.cluster.alias"),
        separator=value("replication.policy.separator"),
        internal_separator=value("replication.policy.internal.topic.separator.enabled"),
        compatibility=value("mm2.compatibility"),
        properties=properties,
    )


def _typed(row: Feature, text: str) -> Any:
    option = row.option
    if option.choices and text not in option.choices:
        raise ConfigurationError(f"{row.name}: {text!r} is none of {', '.join(option.choices)}")
    try:
        return option.type(text)
    except argparse.ArgumentTypeError as error:
        raise ConfigurationError(f"{row.name}: {error}") from None


def without_effect(*sources: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to say, once, about names that are accepted and do nothing."""
    for name, option in WITHOUT_EFFECT.items():
        if any(name in source for source in sources):
            yield f"{name}: {option.help}"
