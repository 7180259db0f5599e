"""The duty that copies the source's client quotas to the target, and names SCRAM users that the target lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.admin.client_quotas import Credential, client_quotas, scram_credentials
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene
from legacy_mm.features.quotas.flags import QuotaSyncSettings
from legacy_mm.policies.changes import Inspection, SetQuota
from legacy_mm.policies.quota_entities import Quotas, entity_text

ReadQuotas = Callable[[str, ConnectionSettings, Deadline], Quotas]
ReadCredentials = Callable[[str, ConnectionSettings, Deadline], Mapping[Credential, int]]
_MOST_NAMED = 20


class ClientQuotas:
    """`quotas`: limits that the target lacks, or has otherwise, are set.

    None is ever removed: what the target has beside them is its own.
    """

    name = "quotas"

    def __init__(
        self,
        source: Admin,
        target: Admin,
        own: frozenset[tuple[str, str]],
        read_quotas: ReadQuotas,
        read_credentials: ReadCredentials,
    ) -> None:
        """Take both clusters, the kinds and names of the mirror's own clients, and how a cluster is asked."""
        self._source, self._target = source, target
        self._own = own
        self._read_quotas = read_quotas
        self._read_credentials = read_credentials

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        """Find the limits that the target lacks; raises HostError.

        Users are a matter of their own: a cluster that does not tell them is a trouble, and holds no quota back.
        """
        source, target = (
            self._read_quotas(each.name, each.connection, deadline) for each in (self._source, self._target)
        )
        own = {entity for entity in source if self._own.intersection(entity)}
        changes = (
            SetQuota(entity, name, target.get(entity, {}).get(name), limit)
            for entity in sorted(source.keys() - own, key=entity_text)
            for name, limit in sorted(source[entity].items())
            if target.get(entity, {}).get(name) != limit
        )
        notes, troubles = [], []
        if own:
            named = "; ".join(sorted(map(entity_text, own)))
            notes.append(f"quotas of the mirror's own clients are not copied: {named}")
        try:
            notes += self._missing_users(deadline)
        except HostError as error:
            troubles.append(str(error))
        return Inspection(tuple(changes), tuple(troubles), tuple(notes))

    def _missing_users(self, deadline: Deadline) -> Iterator[str]:
        """Yield what to say of credentials that the target lacks."""
        source, target = (
            self._read_credentials(each.name, each.connection, deadline) for each in (self._source, self._target)
        )
        if not (missing := sorted(source.keys() - target.keys())):
            return
        named = [f"{user} ({mechanism}, {source[user, mechanism]} iterations)" for user, mechanism in missing]
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        user, mechanism = missing[0]
        yield (
            f"SCRAM users that the target lacks: {', '.join(named[:_MOST_NAMED])}{more}. Brokers tell nobody their "
            "passwords, so set each there: kafka-configs.sh --bootstrap-server TARGET --alter --entity-type users "
            f"--entity-name '{user}' --add-config '{mechanism}=[iterations={source[user, mechanism]},password=...]'"
        )


def scheduled(scene: DutyScene, settings: QuotaSyncSettings) -> Scheduled:
    """Return the duty."""
    duty = ClientQuotas(scene.source, scene.target, scene.own_clients, client_quotas, scram_credentials)
    return Scheduled(duty, settings.interval)
