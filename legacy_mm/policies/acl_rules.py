"""The access rules for topics that the target gets, as MirrorMaker 2 decides.

A principal that may read a topic may read its copy; one that may write it may not write the copy, because only the
mirror does. Rules that forbid are copied as they are. A rule is judged by the *name* it is for, whether or not there is
such a topic: `*`, the wildcard, is a name like any other, so that it becomes `A.*` where names change, and stays the
wildcard where they are kept.

A rule that forbids more than one topic, by the wildcard or by a prefix, and is not copied as such, becomes a rule for
each copy (MirrorMaker 2 leaves it out): the copy must not be open to principals that the source refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

LITERAL, PREFIXED = "LITERAL", "PREFIXED"
_ALLOW, _DENY = "ALLOW", "DENY"
_WILDCARD = "*"


@dataclass(frozen=True, slots=True, order=True)
class AclRule:
    """A rule for topics, in Kafka's words."""

    topic: str
    pattern: str
    """`LITERAL` or `PREFIXED`."""
    principal: str
    host: str
    operation: str
    permission: str

    @property
    def text(self) -> str:
        """The rule in one line."""
        topics = f"topic {self.topic}" if self.pattern == LITERAL else f"topics that begin with {self.topic}"
        return f"{self.permission} {self.operation} on {topics} to {self.principal} from host {self.host}"

    @property
    def forbids(self) -> bool:
        """Return True if the rule takes a right away."""
        return self.permission == _DENY

    def covers(self, topic: str) -> bool:
        """Return True if the rule holds for this topic."""
        if self.pattern == PREFIXED:
            return topic.startswith(self.topic)
        return self.topic in (topic, _WILDCARD)

    def overlaps(self, other: AclRule) -> bool:
        """Return True if both rules may hold for one topic."""
        if self.pattern == other.pattern == PREFIXED:
            return self.topic.startswith(other.topic) or other.topic.startswith(self.topic)
        return self.covers(other.topic) or other.covers(self.topic)


def copies(
    rules: Iterable[AclRule],
    remote_name: Callable[[str], str],
    concerned: Callable[[frozenset[str]], frozenset[str]],
    topics: Collection[str],
    *,
    prefixed: bool,
) -> Iterator[AclRule]:
    """Yield the rules that the target should have for these rules of the source.

    `concerned` returns True for names that pass the topic filter, `topics` are the topics that do. `prefixed`: rules
    for prefixes of their names are copied as such.
    """
    known = [weakened for rule in rules if (weakened := _weakened(rule)) is not None]
    passing = concerned(frozenset(rule.topic for rule in known if rule.pattern == LITERAL))
    for rule in known:
        if rule.pattern == LITERAL:
            passes = rule.topic in passing
        else:
            passes = prefixed and _still_begin(rule.topic, remote_name, topics)
        if passes:
            yield replace(rule, topic=remote_name(rule.topic))
        if rule.forbids and _is_wide(rule) and not (passes and _means_the_same(rule, remote_name)):
            for topic in filter(rule.covers, topics):
                yield replace(rule, topic=remote_name(topic), pattern=LITERAL)


def left_out(
    rules: Iterable[AclRule],
    remote_name: Callable[[str], str],
    concerned: Callable[[frozenset[str]], frozenset[str]],
    topics: Collection[str],
    *,
    prefixed: bool,
) -> Iterator[str]:
    """Yield messages about rules for these topics that the target does not get; the words are those of `copies`."""
    allowed = [rule for rule in rules if rule.permission == _ALLOW and any(map(rule.covers, topics))]
    if written := sum(rule.operation == "WRITE" for rule in allowed):
        yield f"rules that allow WRITE are left out ({written}), because only the mirror writes copies"
    begun = sum(rule.pattern == PREFIXED and _weakened(rule) is not None for rule in allowed)
    if begun and not prefixed:
        yield f"rules that allow something by a prefix are left out ({begun}): sync.topic.acls.prefixed=true adds them"
    every = sum(rule.topic == _WILDCARD and rule.pattern == LITERAL and _weakened(rule) is not None for rule in allowed)
    if every and (why := _why_no_wildcard(remote_name, concerned)):
        yield (
            f"rules that allow something for every topic do not reach the copies ({every}), because {why}: allow it "
            "for the copies at the target"
        )


def _why_no_wildcard(remote_name: Callable[[str], str], concerned: Callable[[frozenset[str]], frozenset[str]]) -> str:
    if not concerned(frozenset((_WILDCARD,))):
        return f"the choice of topics does not match {_WILDCARD} itself"
    remote = remote_name(_WILDCARD)
    return "" if remote == _WILDCARD else f"{remote} is the name of no topic"


def removable(
    made: frozenset[AclRule],
    rules: Iterable[AclRule],
    remote_name: Callable[[str], str],
    target: frozenset[AclRule],
) -> frozenset[AclRule]:
    """Return the target's rules to remove: those that we `made` and that no longer stand for a rule of the source.

    A rule of the source counts whatever the topic filter says: rules that were only switched off stay.
    """
    weakened = [rule for rule in map(_weakened, rules) if rule is not None]
    spread = {_without_topic(rule) for rule in weakened if rule.forbids and _is_wide(rule)}
    gone = (made & target) - {replace(rule, topic=remote_name(rule.topic)) for rule in weakened}
    return frozenset(rule for rule in gone if _without_topic(rule) not in spread)


def _without_topic(rule: AclRule) -> AclRule:
    return replace(rule, topic="", pattern=LITERAL)


def _is_wide(rule: AclRule) -> bool:
    """Return True if the rule holds for more topics than one."""
    return rule.pattern == PREFIXED or rule.topic == _WILDCARD


def _means_the_same(rule: AclRule, remote_name: Callable[[str], str]) -> bool:
    """Return True if a wide rule still holds for the copies: a wildcard with an alias before it is the name of one
    topic.
    """
    return rule.pattern == PREFIXED or remote_name(rule.topic) == _WILDCARD


def _weakened(rule: AclRule) -> AclRule | None:
    if rule.permission != _ALLOW:
        return rule
    if rule.operation == "WRITE":
        return None
    return replace(rule, operation="READ") if rule.operation == "ALL" else rule


def _still_begin(prefix: str, remote_name: Callable[[str], str], topics: Collection[str]) -> bool:
    """Return True if some topic has the prefix, and the copies of all such topics have its remote name as prefix."""
    remote = remote_name(prefix)
    names = [remote_name(topic) for topic in topics if topic.startswith(prefix)]
    return bool(names) and all(name.startswith(remote) for name in names)
