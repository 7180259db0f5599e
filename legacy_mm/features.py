"""What feature flags make of one flow: names at the target, which topics, and which of them features concern."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, partial

from legacy_mm import plugins
from legacy_mm.clock import Deadline
from legacy_mm.config.feature_settings import LEGACY
from legacy_mm.config.settings import Settings
from legacy_mm.controlplane.duties import Count, Duties
from legacy_mm.controlplane.feature_duties import TopicNames, feature_duties
from legacy_mm.kafka.admin import ClusterAdmin
from legacy_mm.policies.name_list import in_list
from legacy_mm.policies.topic_choice import FeatureScope, TopicChoice
from legacy_mm.policies.topic_filter import Matcher, TopicFilter
from legacy_mm.policies.topic_naming import is_cycle

Compile = Callable[[str], Matcher]
"""A Java regular expression, or InvalidPattern."""
_BEFORE_COPYING_SECONDS = 30.0


class Names:
    """How topics are called at the target, and which names are not mirrored at all."""

    def __init__(self, settings: Settings, compiled: Compile) -> None:
        """Raises ConfigurationError for a policy that cannot be made."""
        naming = settings.features.naming
        self.policy = plugins.policy_of(naming)
        self.scope = FeatureScope(settings.features.canary, compiled)
        self._naming = naming
        self._exclude_internal = settings.topics.exclude_internal or naming.policy != LEGACY

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


class FlowDuties:
    """The duties of a flow that runs, as far as its features ask for some."""

    def __init__(self, settings: Settings, names: Names, compiled: Compile, count: Count) -> None:
        source, target = settings.source_admin or settings.source, settings.target_admin or settings.target
        self._names = duty_names(settings, names, compiled)
        scheduled, applier = feature_duties(
            settings.features,
            ClusterAdmin("source", source.properties),
            ClusterAdmin("target", target.properties),
            self._names,
            settings.source.metadata_max_age,
        )
        self._duties = Duties(scheduled, applier, count) if scheduled else None
        self._topics: frozenset[str] = frozenset()

    def start(self) -> None:
        """Wait for topics in the background."""
        if self._duties is not None:
            self._duties.start()

    def topics_found(self, topics: frozenset[str]) -> None:
        """Streams will subscribe to these; what must be done before is done, has failed, or takes too long."""
        if self._duties is not None:
            self._topics = self._names.concerned(topics)
            self._duties.topics_found(self._topics, Deadline.after(_BEFORE_COPYING_SECONDS))

    def before_copying(self) -> None:
        """A stream has partitions, perhaps new ones: the target grows first. Not on the membership's own thread."""
        if self._duties is not None:
            again = threading.Thread(target=self.topics_found, args=(self._topics,), name="duties-again", daemon=True)
            again.start()
            again.join(_BEFORE_COPYING_SECONDS)

    def stop(self) -> None:
        """Begin nothing more."""
        if self._duties is not None:
            self._duties.stop()


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
