"""The membership in the source's group: ours, or librdkafka's for group protocols and tuning that ours lacks."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.base.kafka_clients import ConsumerSettings
from legacy_mm.clients.api import Member, MembershipListener
from legacy_mm.clients.error_lines import ErrorLines
from legacy_mm.clients.native.membership import NativeMember, WorkerGroup
from legacy_mm.clients.native.sharing import Sharing
from legacy_mm.control_channel.frames import Statistics
from legacy_mm.policies.logins import librdkafka_keeps_membership


def load_native() -> None:
    """Load our own clients in this thread, before several threads need them.

    The modules of kafka-python below them import each other: of threads that begin at once, one finds them half made.
    """
    from legacy_mm.clients.native import access_rules, admin, groups, inspector  # noqa: F401


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


def bundle_member(
    settings: ConsumerSettings,
    client_id: str,
    listener: MembershipListener,
    on_statistics: Callable[[Statistics], None],
    timeout: float,
    positions_topic: str,
) -> NativeMember:
    """Return a member of a group that shares out whole bundles, whose offsets carry the mark of this topic."""
    from legacy_mm.clients.native.sharing import ByBundles
    from legacy_mm.exactly_once.bundle import BUNDLES
    from legacy_mm.exactly_once.evidence import mark

    return NativeMember(
        settings,
        client_id,
        listener,
        on_statistics,
        ErrorLines(client_id).tell,
        timeout,
        ByBundles(BUNDLES, client_id),
        mark(positions_topic),
    )


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
