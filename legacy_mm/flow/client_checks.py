"""Checks of a flow before it begins: addresses, logins and keys that cannot work, and two ends that are one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import KERBEROS
from legacy_mm.clients.net.bootstrap import require_resolvable
from legacy_mm.flow import key_stores
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.logs import events
from legacy_mm.policies.logins import beyond_librdkafka, membership_obstacle, membership_remedy
from legacy_mm.policies.same_cluster import same_addresses

if TYPE_CHECKING:
    from legacy_mm.flow.cluster_identity import IdentityCheck


def check_clients(settings: Settings) -> None:
    """Raise ConfigurationError for addresses and logins that cannot work, before a JVM is started or a cluster asked.

    The mirror and all commands that ask its clusters begin with it.
    """
    check_addresses(settings)
    check_logins(settings)


def check_addresses(settings: Settings) -> None:
    """Raise ConfigurationError if a bootstrap list resolves to nothing, before a JVM is started."""
    require_resolvable("producer", settings.target.connection.bootstrap_servers)
    require_resolvable("consumer", settings.source.connection.bootstrap_servers)


def check_logins(settings: Settings) -> None:
    """Raise ConfigurationError for a login or key that cannot work.

    A login that librdkafka lacks must not be combined with a membership that only librdkafka has. No client can be made
    of broken keys and certificates.
    """
    from legacy_mm.clients.net.connection_security import unsupported

    key_stores.check_pem(settings)
    for name, connection in (("source", settings.source.connection), ("target", settings.target.connection)):
        if reason := unsupported(connection):
            raise ConfigurationError(f"{name}: {reason}")
        by_ticket = connection.sasl.mechanism == KERBEROS and connection.protocol.logs_in
        if by_ticket and not settings.process.spark.embedded:
            raise ConfigurationError(
                f"sasl.mechanism={KERBEROS} is not possible with --spark.master: its tickets are on this host"
            )
    source = settings.source.client
    if (login := beyond_librdkafka(source.connection)) and (wanted := membership_obstacle(source.membership)):
        raise ConfigurationError(f"{login} is not possible with {wanted}: {membership_remedy(source.membership)}")


def identity_check(settings: Settings) -> IdentityCheck | None:
    """Return the identity check; None if no feature needs it (invariant E). Raises ConfigurationError."""
    if not settings.features.concern_both_ends:
        ends = settings.source.connection, settings.target.connection
        if text := same_addresses(*(each.bootstrap_servers for each in ends)):
            events.emit(events.ONE_CLUSTER, what=text)
        return None
    from legacy_mm.flow.cluster_identity import IdentityCheck

    check = IdentityCheck(settings)
    check.inspect()
    return check
