"""Which access rules for topics the target gets, as MirrorMaker 2 decides.

Whoever may read a topic may read its copy; who may write it may not write the copy, because that is the mirror's.
What forbids is copied as it is. A rule is taken by the *name* it is for, whether or not there is such a topic: `*`, the
wildcard, is a name like any other, so that it becomes `A.*` where names change, and stays the wildcard where they
are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

LITERAL, PREFIXED = "LITERAL", "PREFIXED"


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


def copies(
    rules: Iterable[AclRule],
    remote_name: Callable[[str], str],
    concerned: Callable[[frozenset[str]], frozenset[str]],
    prefixes_of: Collection[str] = (),
) -> Iterator[AclRule]:
    """What the target should have of these rules of the source.

    `concerned` tells which names pass the topic filter. `prefixes_of` are the topics whose prefixes count too.
    """
    known = [weakened for rule in rules if (weakened := _weakened(rule)) is not None]
    passing = concerned(frozenset(rule.topic for rule in known if rule.pattern == LITERAL))
    for rule in known:
        passes = (
            rule.topic in passing if rule.pattern == LITERAL else _still_begin(rule.topic, remote_name, prefixes_of)
        )
        if passes:
            yield replace(rule, topic=remote_name(rule.topic))


def removable(
    made: frozenset[AclRule],
    rules: Iterable[AclRule],
    remote_name: Callable[[str], str],
    target: frozenset[AclRule],
) -> frozenset[AclRule]:
    """Which of the target's rules go: those that we `made` and that no rule of the source stands for any more.

    A rule of the source counts whatever the topic filter says: what was only switched off stays.
    """
    weakened = filter(None, map(_weakened, rules))
    return (made & target) - {replace(rule, topic=remote_name(rule.topic)) for rule in weakened}


def _weakened(rule: AclRule) -> AclRule | None:
    if rule.permission != "ALLOW":
        return rule
    if rule.operation == "WRITE":
        return None
    return replace(rule, operation="READ") if rule.operation == "ALL" else rule


def _still_begin(prefix: str, remote_name: Callable[[str], str], topics: Collection[str]) -> bool:
    """Some topic begins with it, and the copies of all that do begin with its remote name."""
    remote = remote_name(prefix)
    names = [remote_name(topic) for topic in topics if topic.startswith(prefix)]
    return bool(names) and all(name.startswith(remote) for name in names)
