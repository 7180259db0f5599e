"""What feature flags make of one flow's topics: their names at the target, which are mirrored, which are concerned."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm import plugins
from legacy_mm.config.feature_settings import LEGACY
from legacy_mm.config.settings import Settings
from legacy_mm.policies.topic_choice import FeatureScope, TopicChoice
from legacy_mm.policies.topic_filter import Matcher, TopicFilter
from legacy_mm.policies.topic_naming import is_cycle


class Names:
    """How topics are called at the target, and which names are not mirrored at all."""

    def __init__(self, settings: Settings, compiled: Callable[[str], Matcher]) -> None:
        """`compiled`: a Java regular expression, or InvalidPattern. Raises ConfigurationError for a policy."""
        naming = settings.features.naming
        self.compiled = compiled
        self.scope = FeatureScope(settings.features.canary, compiled)
        self._policy = plugins.policy_of(naming)
        self._naming = naming
        self._topics, self._lists = settings.topics, settings.features.topics
        self._exclude_internal = settings.topics.exclude_internal or naming.policy != LEGACY

    def remote(self, topic: str) -> str:
        """What the policy calls the copy of a topic that features concern."""
        return self._policy.format_remote_topic(self._naming.source_alias, topic)

    def at_target(self, topic: str) -> str:
        """What the copy of a mirrored topic is called."""
        return self.remote(topic) if topic in self.scope else topic

    def is_barred(self, topic: str) -> bool:
        """Internal, or already been at the target."""
        if self._exclude_internal and self._policy.is_internal_topic(topic):
            return True
        return is_cycle(self._policy, topic, self._naming.target_alias)

    def choice(self) -> TopicChoice:
        """Raises InvalidPattern for the old pattern, ConfigurationError for one of a list."""
        topics, lists = self._topics, self._lists
        pattern = self.compiled(topics.pattern)
        if lists is None:
            return TopicChoice(pattern, inverted=topics.inverted, is_barred=self.is_barred)
        accepted = TopicFilter(lists.include, lists.exclude, self.compiled).accepted
        return TopicChoice(pattern, inverted=topics.inverted, is_barred=self.is_barred, accepted=accepted)
