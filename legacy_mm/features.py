"""What feature flags make of one flow: names at the target, which topics, and which of them features concern."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from legacy_mm import plugins
from legacy_mm.config.feature_settings import IDENTITY, LEGACY
from legacy_mm.config.settings import Settings
from legacy_mm.controlplane.feature_duties import TopicNames
from legacy_mm.errors import ConfigurationError
from legacy_mm.policies.name_list import in_list
from legacy_mm.policies.topic_choice import FeatureScope, TopicChoice
from legacy_mm.policies.topic_filter import Matcher, TopicFilter
from legacy_mm.policies.topic_naming import is_cycle

Compile = Callable[[str], Matcher]
"""A Java regular expression, or InvalidPattern."""


class Names:
    """How topics are called at the target, and which names are not mirrored at all."""

    def __init__(self, settings: Settings, compiled: Compile) -> None:
        """Raises ConfigurationError for a policy that cannot be made."""
        naming = settings.features.naming
        self.policy = plugins.policy_of(naming)
        self.scope = FeatureScope(settings.features.canary, compiled)
        self._naming = naming
        self._exclude_internal = settings.topics.exclude_internal or naming.policy != LEGACY
        if settings.handler is not None and naming.policy not in (LEGACY, IDENTITY):
            raise ConfigurationError(
                f"{naming.policy} and a message handler exclude each other, because both say how topics are called"
            )

    def at_target(self, topic: str) -> str:
        """The copy's name."""
        return self.policy.format_remote_topic(self._naming.source_alias, topic) if topic in self.scope else topic

    def is_barred(self, topic: str) -> bool:
        """Internal, or already been at the target."""
        if self._exclude_internal and self.policy.is_internal_topic(topic):
            return True
        return is_cycle(self.policy, topic, self._naming.target_alias)


def topic_choice(settings: Settings, names: Names, compiled: Compile) -> TopicChoice:
    """Raises InvalidPattern for the old pattern, ConfigurationError for one of a list."""
    topics, lists = settings.topics, settings.features.topics
    pattern = compiled(topics.pattern)
    if lists is None:
        return TopicChoice(pattern, inverted=topics.inverted, is_barred=names.is_barred)
    accepted = TopicFilter(lists.include, lists.exclude, compiled).accepted
    return TopicChoice(pattern, inverted=topics.inverted, is_barred=names.is_barred, accepted=accepted)


def duty_names(settings: Settings, names: Names, compiled: Compile) -> TopicNames:
    """What the duties must know about names; Java is asked when the first of them looks."""
    alias, canary = settings.features.naming.source_alias, settings.features.canary
    choice = cache(lambda: topic_choice(settings, names, compiled))
    matching = cache(lambda: compiled(canary).matching) if canary else lambda: frozenset
    return TopicNames(
        remote=lambda topic: names.policy.format_remote_topic(alias, topic),
        concerned=lambda found: matching()(choice().of(found)),
        in_list=partial(in_list, matcher=compiled),
    )
