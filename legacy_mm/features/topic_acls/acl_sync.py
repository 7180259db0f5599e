"""The duty that copies the source's access rules for topics to the target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import NoAuthorizer
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.admin.access_rules import access_rules
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene
from legacy_mm.features.topic_acls.flags import AclSyncSettings
from legacy_mm.features.topic_acls.made_rules import MadeRules, state_folder
from legacy_mm.policies import acl_rules
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.changes import Change, CreateAcl, DeleteAcl, Inspection


class TopicAcls:
    """`topic-acls`: rules that the target lacks are added.

    None is changed, and only rules that we added are ever removed.
    """

    name = "topic-acls"

    def __init__(
        self,
        source: Admin,
        target: Admin,
        remote_name: Callable[[str], str],
        concerned: Callable[[frozenset[str]], frozenset[str]],
        read: Callable[[str, ConnectionSettings, Deadline], frozenset[AclRule]],
        *,
        prefixed: bool,
        made: MadeRules | None,
    ) -> None:
        """Take both clusters and how rules are chosen, read and noted.

        `concerned` returns the names, of topics or not, whose rules are to be copied. `read` returns all rules of the
        cluster with this name on this way; it raises NoAuthorizer. `made` holds the rules that we added, which
        are removed with the source's; None: they stay.
        """
        self._source, self._target = source, target
        self._remote_name = remote_name
        self._concerned = concerned
        self._read = read
        self._prefixed = prefixed
        self._made = made

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        """Find the rules that the target lacks, and those it must lose; raises HostError.

        The target is not asked if the source has no authorizer.
        """
        try:
            rules = self._rules(self._source, deadline)
        except NoAuthorizer as error:
            return Inspection(notes=(f"{error}, so there are no access rules to copy",))
        wanted = set(acl_rules.copies(rules, self._remote_name, self._concerned, topics, prefixed=self._prefixed))
        made = self._made_before(deadline)
        present = self._rules(self._target, deadline) if wanted or made else frozenset()
        unwanted = acl_rules.removable(made, rules, self._remote_name, present)
        added = (CreateAcl(rule) for rule in sorted(wanted - present))
        left_out = acl_rules.left_out(rules, self._remote_name, self._concerned, topics, prefixed=self._prefixed)
        return Inspection((*added, *(DeleteAcl(rule) for rule in sorted(unwanted))), notes=tuple(left_out))

    def _rules(self, cluster: Admin, deadline: Deadline) -> frozenset[AclRule]:
        return self._read(cluster.name, cluster.connection, deadline)

    def _made_before(self, deadline: Deadline) -> frozenset[AclRule]:
        if self._made is None:
            return frozenset()
        clusters = self._source.cluster_id(deadline), self._target.cluster_id(deadline)
        return self._made.between(*clusters, naming=self._remote_name("topic"))


def scheduled(scene: DutyScene, settings: AclSyncSettings) -> Scheduled:
    """Return the duty, which notes the rules that it adds if they are ever to be removed."""
    made = MadeRules(state_folder()) if settings.remove else None
    duty = TopicAcls(
        scene.source,
        scene.target,
        scene.names.remote,
        scene.names.concerned,
        access_rules,
        prefixed=settings.prefixed,
        made=made,
    )
    return Scheduled(duty, settings.interval, note=None if made is None else partial(_note, made))


def _note(made: MadeRules, changes: Sequence[Change]) -> None:
    added = [change.rule for change in changes if isinstance(change, CreateAcl)]
    made.note(added, [change.rule for change in changes if isinstance(change, DeleteAcl)])
