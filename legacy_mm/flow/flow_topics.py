"""Names of one flow's topics under the feature flags: which are mirrored, how they are called at the target."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from legacy_mm.base.errors import EndlessCopy
from legacy_mm.base.settings import TopicSettings
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.naming.policy_names import DEFAULT, LEGACY
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.flow import plugins
from legacy_mm.logs import events
from legacy_mm.policies.pattern_words import EVERY
from legacy_mm.policies.remote_clusters import endless_copies
from legacy_mm.policies.topic_choice import FeatureScope, Matcher, TopicChoice, TopicFilter, try_out
from legacy_mm.policies.topic_entries import unmatched
from legacy_mm.policies.topic_naming import ReplicationPolicy, has_left, is_broker_internal, is_cycle, tells_origin

_EXACT = "offset-map"


class FlowTopics:
    """Names of topics at the target, and the topics that are never mirrored."""

    def __init__(
        self,
        topics: TopicSettings,
        features: FeatureSettings,
        compiled: Callable[[str], Matcher],
        leaves_out: Callable[[str], bool] = lambda topic: False,
    ) -> None:
        """Take the settings; raises ConfigurationError for an unusable policy.

        `compiled` compiles a Java regular expression or raises InvalidPattern; `leaves_out` returns True for topics
        that must not be mirrored because of other flows of the process.
        """
        self._leaves_out = leaves_out
        self._reported: set[str] = set()
        naming = features.naming
        self.compiled = compiled
        self.scope = FeatureScope(features.canary, compiled)
        self._policy = plugins.policy_of(naming)
        self._naming = naming
        # topics that keep their names would mix the source's heartbeats with the target's own
        self._of_heartbeats = (
            plugins.policy_of(replace(naming, policy=DEFAULT)) if naming.policy == LEGACY else self._policy
        )
        self._topics, self._lists = topics, features.topics
        self._features = features
        heartbeats = features[HEARTBEATS]
        self._replicates_heartbeats = heartbeats is not None and heartbeats.replicated
        self._own = self.own_topics("source")

    def remote(self, topic: str) -> str:
        """Return the name that the policy gives to the copy of a topic in the scope of the features."""
        return self._policy_for(topic).format_remote_topic(self._naming.source_alias, topic)

    def at_target(self, topic: str) -> str:
        """Return the name of the copy of a mirrored topic."""
        return self.remote(topic) if topic in self.scope or self._has_heartbeats(topic) else topic

    def keeps_partition(self, topics: Iterable[str]) -> list[str]:
        """Return those of these source topics whose partitions are preserved."""
        preserve = self._features.preserve_partitions
        return [topic for topic in topics if preserve and topic in self.scope]

    def is_barred(self, topic: str) -> bool:
        """Return True for a topic that is internal, ours, or has already been at the target.

        Outside a canary only the topics that the legacy tool leaves out count.
        """
        if topic in self._own or (self._topics.exclude_internal and is_broker_internal(topic)):
            return True
        return self._is_barred_by_policy(topic) and self._is_concerned(topic)

    def is_from_target(self, topic: str) -> bool:
        """Return True for a topic of the source that is a copy of one at the target, as its name says."""
        return not self._policy.is_internal_topic(topic) and self._has_been_at_target(topic)

    def tell_origin(self) -> bool:
        """Return True if the names of all copies tell that they are from the source, or are kept."""
        topics = ("t", self._policy.heartbeats_topic())
        return all(tells_origin(self._policy_for(topic), topic, self._naming.source_alias) for topic in topics)

    def inspect(self, mirrored: Iterable[str]) -> None:
        """Look at the topics that are mirrored now; raise EndlessCopy if some are copies of the source's own that have
        come back round after round.
        """
        self.scope.inspect(mirrored)
        if rounds := endless_copies(mirrored, self.at_target):
            raise EndlessCopy(
                "topics come back to the source and would be copied again, under a longer name each time: "
                f"{', '.join(rounds)}; look at the aliases and at replication.policy.separator of this mirror and of "
                "the one in the other direction, or exclude what comes back; then delete these topics"
            )

    def brings_heartbeats(self, topic: str) -> bool:
        """Return True if the topic holds heartbeats, of any depth of copies: no pattern can exclude it."""
        if not self._has_heartbeats(topic) or self.is_barred(topic) or self._leaves_out(topic):
            return False
        return not self._has_left(topic)

    def offset_syncs_topic(self, location: str) -> str:
        """Return the topic for offset pairs, named after the cluster at the other end."""
        return self._policy.offset_syncs_topic(self._other_end(location))

    def exact_offsets_topic(self, location: str) -> str:
        """Return the topic for all offset pairs, which only this program reads."""
        return f"mm2-{_EXACT}.{self._other_end(location)}.internal"

    def heartbeats_topic(self) -> str:
        """Return the topic for heartbeats at the target."""
        return self._policy.heartbeats_topic()

    def checkpoints_topic(self) -> str:
        """Return the topic for checkpoints at the target."""
        return self._policy.checkpoints_topic(self._naming.source_alias)

    def own_topics(self, place: str) -> dict[str, int]:
        """Return the topics that this flow writes for itself at the source or the target -> replication factor."""
        found: dict[str, int] = {}
        syncs, checkpoints = self._features[OFFSET_SYNCS], self._features[CHECKPOINTS]
        heartbeats = self._features[HEARTBEATS]
        if heartbeats is not None and heartbeats.interval is not None and place == "target":
            found[self.heartbeats_topic()] = heartbeats.replication_factor
        if syncs is not None and syncs.location == place:
            found[self.offset_syncs_topic(place)] = syncs.replication_factor
            found[self.exact_offsets_topic(place)] = syncs.replication_factor
        if checkpoints is not None and place == "target":
            found[self.checkpoints_topic()] = checkpoints.replication_factor
        stored = self._features[CONNECT_OFFSETS]
        if stored is not None and place == "target":
            found[stored.topic] = stored.replication_factor
        return found

    def dispensable_topics(self) -> frozenset[str]:
        """Return those of the flow's own topics that MirrorMaker 2 does not have."""
        syncs = self._features[OFFSET_SYNCS]
        return frozenset() if syncs is None else frozenset({self.exact_offsets_topic(syncs.location)})

    def _other_end(self, location: str) -> str:
        return self._naming.target_alias if location == "source" else self._naming.source_alias

    def choice(self) -> TopicChoice:
        """Return the choice of topics.

        Raises InvalidPattern for the old pattern, ConfigurationError for one of a list.
        """
        topics, lists = self._topics, self._lists
        pattern = self.compiled(topics.pattern)
        accepted = frozenset if lists is None else TopicFilter(lists.include, lists.exclude, self.compiled).accepted
        return TopicChoice(
            pattern,
            inverted=topics.inverted,
            is_barred=self.is_barred,
            accepted=lambda found: frozenset(
                name for name in accepted(found) if not self._leaves_out(name) and not self._is_from_here(name)
            ),
            always=lambda name: (
                self._has_heartbeats(name) and not self._leaves_out(name) and not self._is_from_here(name)
            ),
        )

    def unmatched(self, mirrored: Collection[str]) -> list[str]:
        """Return the entries of the pattern, and of the list of topics, that match none of the mirrored topics."""
        pattern, lists = self._topics.pattern, self._lists
        says_nothing = self._topics.inverted or (lists is not None and pattern == EVERY)
        entries = [*([] if says_nothing else [pattern]), *(() if lists is None else lists.include)]
        return unmatched(entries, mirrored, self.compiled)

    def try_expressions(self) -> None:
        """Compile all expressions of the flags; raises ConfigurationError for one that Java refuses."""
        for name, expressions in self._features.expressions().items():
            if expressions:
                try_out(name, expressions, self.compiled)

    def _is_concerned(self, topic: str) -> bool:
        """Return True for a topic in the scope of the features; asked last, because it may need a Java process."""
        return self._has_heartbeats(topic) or bool(self.scope.select([topic]))

    def _is_barred_by_policy(self, topic: str) -> bool:
        if self._naming.policy != LEGACY and self._policy.is_internal_topic(topic):
            return True
        return self._has_been_at_target(topic)

    def _has_been_at_target(self, topic: str) -> bool:
        return is_cycle(self._policy_for(topic), topic, self._naming.target_alias)

    def _is_from_here(self, topic: str) -> bool:
        """Return True for a mirrored topic that is left out as a copy of one of the source; say so once."""
        if not self._has_left(topic) or not self._is_concerned(topic):
            return False
        if topic not in self._reported:
            self._reported.add(topic)
            events.emit(events.FROM_HERE, topic=topic, alias=self._naming.source_alias)
        return True

    def _has_left(self, topic: str) -> bool:
        naming = self._naming
        return not naming.copies_own_names and has_left(self._policy_for(topic), topic, naming.source_alias)

    def _has_heartbeats(self, topic: str) -> bool:
        return self._replicates_heartbeats and self._of_heartbeats.is_heartbeats_topic(topic)

    def _policy_for(self, topic: str) -> ReplicationPolicy:
        return self._of_heartbeats if self._has_heartbeats(topic) else self._policy
