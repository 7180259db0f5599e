"""The driver's clients of the source and the features' of both ends: librdkafka's, or ours for logins it lacks."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.clients.api import Admin, Inspector, Member, MembershipListener, TopicLister
from legacy_mm.clients.librdkafka.client import ErrorLines, LibrdkafkaTopicLister
from legacy_mm.clients.librdkafka.inspector import LibrdkafkaInspector
from legacy_mm.clients.librdkafka.membership import LibrdkafkaMember
from legacy_mm.config.kafka_clients import ConnectionSettings, ConsumerSettings
from legacy_mm.control_channel.frames import Statistics
from legacy_mm.policies.logins import beyond_librdkafka


def load_native() -> None:
    """Load our own clients in this thread, before several threads need them.

    The modules of kafka-python below them import each other: of threads that begin at once, one finds them half made.
    """
    from legacy_mm.clients.native import access_rules, admin, groups, inspector, membership  # noqa: F401


def member(
    settings: ConsumerSettings,
    client_id: str,
    listener: MembershipListener,
    on_statistics: Callable[[Statistics], None],
    timeout: float,
) -> Member:
    """Return a group membership; `timeout` is for one question to the cluster."""
    if beyond_librdkafka(settings.connection) is None:
        return LibrdkafkaMember(settings, client_id, listener, on_statistics)
    from legacy_mm.clients.native.membership import NativeMember

    return NativeMember(settings, client_id, listener, on_statistics, ErrorLines(client_id).tell, timeout)


def topic_lister(settings: ConnectionSettings, timeout: float) -> TopicLister:
    """Return the client that lists the names of all topics."""
    if beyond_librdkafka(settings) is None:
        return LibrdkafkaTopicLister(settings, timeout)
    from legacy_mm.clients.native.inspector import NativeTopicLister

    return NativeTopicLister(settings, timeout)


def admin(name: str, settings: ConnectionSettings) -> Admin:
    """Return an admin client of a cluster for the features, which ask more than the legacy tool did and make changes.

    `name` is the cluster's name in errors.
    """
    if beyond_librdkafka(settings) is None:
        from legacy_mm.clients.librdkafka.admin import LibrdkafkaAdmin

        return LibrdkafkaAdmin(name, settings)
    from legacy_mm.clients.native.admin import NativeAdmin

    return NativeAdmin(name, settings)


def inspector(settings: ConnectionSettings) -> Inspector:
    """Return the client that asks for topics and offsets without joining the group."""
    if beyond_librdkafka(settings) is None:
        return LibrdkafkaInspector(settings)
    from legacy_mm.clients.native.inspector import NativeInspector

    return NativeInspector(settings)
