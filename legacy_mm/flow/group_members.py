"""The membership in the source's group: ours, or librdkafka's for group protocols and tuning that ours lacks."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.base.kafka_clients import ConsumerSettings
from legacy_mm.base.reports import Statistics
from legacy_mm.clients.group.member import Member, MembershipListener
from legacy_mm.clients.group.membership import NativeMember, WorkerGroup
from legacy_mm.clients.group.sharing import Sharing
from legacy_mm.clients.net.error_lines import ErrorLines
from legacy_mm.policies.logins import librdkafka_keeps_membership


def load_native() -> None:
    """Load our own clients in this thread, before several threads need them.

    The modules of kafka-python below them import each other: of threads that begin at once, one finds them half made.
    """
    from legacy_mm.clients.group import groups  # noqa: F401


def member(
    settings: ConsumerSettings,
    client_id: str,
    listener: MembershipListener,
    on_statistics: Callable[[Statistics], None],
    timeout: float,
    *,
    tuned: bool,
) -> Member:
    """Return a group membership; `timeout` is for one question to the cluster.

    `tuned` as for `librdkafka_keeps_membership`.
    """
    if librdkafka_keeps_membership(settings, tuned=tuned):
        from legacy_mm.clients.librdkafka.membership import LibrdkafkaMember

        return LibrdkafkaMember(settings, client_id, listener, on_statistics)
    return NativeMember(settings, client_id, listener, on_statistics, ErrorLines(client_id).tell, timeout)


def node_member(
    settings: ConsumerSettings,
    client_id: str,
    listener: MembershipListener,
    on_statistics: Callable[[Statistics], None],
    timeout: float,
    workers: WorkerGroup,
    sharing: Sharing,
) -> NativeMember:
    """Return a node of a flow, in the group of MirrorMaker 2's workers, whose offsets somebody else keeps."""
    tell = ErrorLines(client_id).tell
    return NativeMember(settings, client_id, listener, on_statistics, tell, timeout, sharing, workers=workers)
