"""Flags of the names of topics, and their settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from legacy_mm.base.errors import ConfigurationError, blamed
from legacy_mm.base.option import Option, boolean, split_list
from legacy_mm.features.flag import Flag, Relation, switch
from legacy_mm.features.flag_values import FlagValues, extend_default, read_flag
from legacy_mm.features.naming.policy_names import DEFAULT, IDENTITY, LEGACY, check_letters, foreign, policy_name
from legacy_mm.features.naming.policy_names import POLICY as _POLICY
from legacy_mm.policies.topic_naming import DefaultReplicationPolicy, tells_origin

_OWNER = "legacy_mm.policies.topic_naming"
_SOURCE, _SEPARATOR = "source.cluster.alias", "replication.policy.separator"
ALIASES = (_SOURCE, "target.cluster.alias")
LISTS = ("topics", "topics.exclude")
"""MirrorMaker 2's lists of topics: they act by themselves."""
_EVERY = ".*"
EXCLUDED = {"3.9": r".*[\-\.]internal, .*\.replica, __.*", "4": r"mm2.*\.internal, .*\.replica, __.*"}
"""`topics.exclude` of DefaultTopicFilter, by `mm2.compatibility`."""
_ALIAS = Relation("source.cluster.alias", "the names at the target begin with it")

FLAGS = (
    Flag(
        switch(
            "rename.topics",
            "Names at the target begin with the source's alias: DefaultReplicationPolicy.",
            _OWNER,
        ),
        needs=(
            _ALIAS,
            Relation("target.cluster.alias", "only that name tells which topics come back from there", by_name=True),
        ),
        step=5,
        changes="new topics appear under the new names and begin where the group stands; the old copies stay",
    ),
    Flag(Option("source.cluster.alias", "", "alias", "What the source is called in names.", _OWNER)),
    Flag(Option("target.cluster.alias", "target", "alias", "What the target is called in names.", _OWNER)),
    Flag(
        Option(
            "replication.policy.class",
            "LegacyReplicationPolicy",
            "class",
            "How topics are called at the target: LegacyReplicationPolicy, IdentityReplicationPolicy or "
            "DefaultReplicationPolicy, with Java's packages or without, or module:Class in Python.",
            _OWNER,
        ),
    ),
    Flag(Option("replication.policy.separator", ".", "text", "Between an alias and a name.", _OWNER)),
    Flag(
        Option(
            "replication.policy.internal.topic.separator.enabled",
            "true",
            "true|false",
            "false: MirrorMaker 2's own topics keep their dots.",
            _OWNER,
            type=boolean,
        )
    ),
    Flag(
        Option(
            "mm2.compatibility",
            "3.9",
            "release",
            "Which topics count as internal: as in MirrorMaker 2 of 3.9, or of 4 and later.",
            _OWNER,
            choices=("3.9", "4"),
        )
    ),
    Flag(
        Option(
            "topics",
            "",
            "pattern,...",
            "Java patterns; only topics that match one of them, and the old pattern, are mirrored.",
            "legacy_mm.policies.topic_choice",
        )
    ),
    Flag(
        Option(
            "topics.exclude",
            "",
            "pattern,...",
            "Java patterns; topics that match one of them are not mirrored.",
            "legacy_mm.policies.topic_choice",
        ),
        synonyms=("topics.blacklist",),
    ),
)
_BY_NAME = {row.name: row for row in FLAGS}


@dataclass(frozen=True, slots=True)
class NamingSettings:
    """Names of topics at the target."""

    policy: str = LEGACY
    """One of the above, or a class of the user's in Python, as `module:Class`."""
    source_alias: str = ""
    target_alias: str = "target"
    separator: str = "."
    internal_separator: bool = True
    """False: the names of MirrorMaker 2's own topics keep their dots."""
    compatibility: Literal["3.9", "4"] = "3.9"
    """The release of MirrorMaker 2 whose internal topics count."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """All flags as they were given, for a policy of the user's."""
    copies_own_names: bool = False
    """True to mirror topics whose names hold the source's own alias, as MirrorMaker 2 does."""


@dataclass(frozen=True, slots=True)
class TopicFilterSettings:
    """MirrorMaker 2's lists beside the old pattern: a topic must pass both."""

    include: tuple[str, ...]
    """Java regular expressions; a name must match one of them as a whole."""
    exclude: tuple[str, ...]


def read(values: FlagValues, *, detects_loops: bool, copies_own_names: bool = False) -> NamingSettings:
    """Return the settings, or raise the first contradiction."""
    policy, alias = _policy(values), values["source.cluster.alias"]
    for name in (_SOURCE, "target.cluster.alias", _SEPARATOR):
        with blamed(name):
            check_letters(name, values[name])
    if policy == DEFAULT and not alias:
        raise ConfigurationError(
            f"{_POLICY}={DEFAULT} needs source.cluster.alias, because names begin with it; {IDENTITY} keeps names"
        )
    if policy == DEFAULT and detects_loops:
        raise ConfigurationError(
            f"detect.loops=true and {DEFAULT} exclude each other, because with it names tell where a topic has been"
        )
    if policy == IDENTITY and alias and alias == values["target.cluster.alias"]:
        raise ConfigurationError(
            f"source.cluster.alias and target.cluster.alias are both {alias}, and with {IDENTITY} every topic "
            "counts as a copy from there: none would be mirrored"
        )
    if policy == DEFAULT and not values.given("target.cluster.alias"):
        raise ConfigurationError(
            f"{_POLICY}={DEFAULT} needs target.cluster.alias, because only that name tells which topics come back "
            "from there"
        )
    if policy == DEFAULT and not copies_own_names:  # the flows of MirrorMaker 2's file are judged together
        _require_readable_aliases(values)
    return NamingSettings(
        policy=policy,
        source_alias=alias,
        target_alias=values["target.cluster.alias"],
        separator=values["replication.policy.separator"],
        internal_separator=values["replication.policy.internal.topic.separator.enabled"],
        compatibility=values["mm2.compatibility"],
        properties=values.texts(),
        copies_own_names=copies_own_names,
    )


def _require_readable_aliases(values: FlagValues) -> None:
    """Raise ConfigurationError for an alias that no name tells: what comes back from there would be copied again."""
    separator = values[_SEPARATOR]
    policy = DefaultReplicationPolicy(separator=separator)
    for name in ALIASES:
        if values[name] and not tells_origin(policy, "t", values[name]):
            raise ConfigurationError(
                f"{name}={values[name]} and {_SEPARATOR}={separator} exclude each other, because a name is read up to "
                "its first separator: what comes back would be copied again and again; choose another alias or "
                "separator"
            )


def _policy(values: FlagValues) -> str:
    policy = values[_POLICY]
    name = policy_name(policy)
    if remark := foreign(policy):
        values.remark(remark)
    if not values["rename.topics"]:
        nothing_before = name == DEFAULT and _puts_nothing_before(values)
        if nothing_before:
            values.remark(f"{_SOURCE} and {_SEPARATOR} are empty: names are kept, as by {IDENTITY}")
        return IDENTITY if nothing_before else name
    if values.given(_POLICY) and name != DEFAULT:
        raise ConfigurationError(
            f"rename.topics=true and {_POLICY}={policy} exclude each other, because both say how topics are called"
        )
    return DEFAULT


def _puts_nothing_before(values: FlagValues) -> bool:
    """Return True if alias and separator are empty: the way to keep names from before there was a policy for it."""
    return all(values.given(name) and not values[name] for name in (_SOURCE, _SEPARATOR))


def read_topics(values: FlagValues) -> TopicFilterSettings | None:
    """Return MirrorMaker 2's lists of topics, or None if neither is given."""
    if not any(values.given(name) for name in LISTS):
        return None
    default = EXCLUDED[values["mm2.compatibility"]]
    include = values["topics"] if values.given("topics") else _EVERY
    exclude = values["topics.exclude"] if values.given("topics.exclude") else default
    return TopicFilterSettings(split_list(include), extend_default(exclude, default))


def client_naming(properties: Mapping[str, str]) -> NamingSettings:
    """Return how a client of MirrorMaker 2 is told to name topics; raises ConfigurationError.

    The default is DefaultReplicationPolicy, as in Java.
    """

    def value(name: str) -> Any:
        row = _BY_NAME[name]
        return read_flag(row, properties.get(name, row.option.default or "").strip())

    return NamingSettings(
        policy=policy_name(properties.get(_POLICY, DEFAULT).strip()),
        source_alias=value("source.cluster.alias"),
        separator=value("replication.policy.separator"),
        internal_separator=value("replication.policy.internal.topic.separator.enabled"),
        compatibility=value("mm2.compatibility"),
        properties=properties,
    )
