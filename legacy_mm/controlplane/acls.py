"""The duty that brings the source's access rules for topics to the target."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.clock import Deadline
from legacy_mm.errors import NoAuthorizer
from legacy_mm.kafka.admin import ClusterAdmin
from legacy_mm.policies import acl_rules
from legacy_mm.policies.changes import CreateAcl, Look


class TopicAcls:
    """`topic-acls`: rules that the target lacks are added; none is changed."""

    name = "topic-acls"

    def __init__(
        self,
        source: ClusterAdmin,
        target: ClusterAdmin,
        remote_name: Callable[[str], str],
        concerned: Callable[[frozenset[str]], frozenset[str]],
        *,
        prefixed: bool,
    ) -> None:
        """`concerned`: which of these names, of topics or not, are to have their rules brought over."""
        self._source, self._target = source, target
        self._remote_name = remote_name
        self._concerned = concerned
        self._prefixed = prefixed

    def look(self, topics: frozenset[str], deadline: Deadline) -> Look:
        """Which rules the target lacks; raises HostError. It is not asked when the source keeps none."""
        try:
            rules = self._source.rules(deadline)
        except NoAuthorizer as error:
            return Look(notes=(f"{error}, so there are no access rules to bring over",))
        prefixes_of = topics if self._prefixed else ()
        wanted = set(acl_rules.copies(rules, self._remote_name, self._concerned, prefixes_of))
        lacking = wanted - self._target.rules(deadline) if wanted else set()
        return Look(tuple(CreateAcl(rule) for rule in sorted(lacking)))
