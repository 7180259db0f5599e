"""Messages and refusals for a source and target that may be one cluster: topics would be copied into themselves.
Pure.
"""

from __future__ import annotations

from collections.abc import Collection

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.model import TopicPartition

_CIRCLE = "records are copied into the topics that they were read from, again and again"
_LOOK = "look at bootstrap.servers of both files, and at advertised.listeners of the brokers that they name"


def same_addresses(source: tuple[str, ...], target: tuple[str, ...]) -> str:
    """Return a warning if two bootstrap lists name the same broker, perhaps one that is gone; else an empty text."""
    both = set(source) & set(target)
    if not both:
        return ""
    named = f"both files name {min(both)}"
    if set(source) == set(target):
        return f"{named}, so source and target are one cluster: where names are kept, {_CIRCLE}"
    return (
        f"{named}: if a broker answers there, source and target are one cluster, and where names are kept, {_CIRCLE}; "
        "if none does, take it out of both lists"
    )


def what_one_cluster_means(cluster_id: str, *, renames: bool, features: bool, aliases: tuple[str, str]) -> str:
    """Return the warning; raise ConfigurationError where features are on that must not run within one cluster.

    `aliases`: the source's and the target's.
    """
    if renames and len(set(aliases)) == 1:
        return f"source and target are one cluster ({cluster_id}): its topics are renamed within it"
    if renames:
        raise ConfigurationError(
            f"source.cluster.alias={aliases[0]} and target.cluster.alias={aliases[1]} are one cluster ({cluster_id}), "
            "so its copies would be copied again and again: to rename topics within one cluster give both the same "
            "alias (which kafka-mirror-maker.sh and connectors can have, the file of connect-mirror-maker.sh cannot), "
            f"or {_LOOK}"
        )
    if features:
        raise ConfigurationError(
            f"source and target are one cluster ({cluster_id}), and with features that keep names {_CIRCLE}: {_LOOK}"
        )
    return f"source and target are one cluster ({cluster_id}): where names are kept, {_CIRCLE}; {_LOOK}"


def several_clusters(end: str, ids: Collection[str]) -> str:
    """Return a warning if brokers that are taken for one cluster are of several; else an empty text.

    `end`: which cluster it should be.
    """
    if len(ids) < 2:
        return ""
    return (
        f"the brokers of the {end} are of several clusters ({' and '.join(sorted(ids))}): the bootstrap servers belong "
        f"to one, and brokers that they advertise to another; {_LOOK}"
    )


def what_goes_round(partition: TopicPartition, offset: int) -> str:
    """Return why copying ends where records that were written to a partition, from this offset on, were read again."""
    return (
        f"records of {partition} multiply: what was written to it at offset {offset} and after was read from it again, "
        f"because source and target are one cluster: {_LOOK}"
    )
