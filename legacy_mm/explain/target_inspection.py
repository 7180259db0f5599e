"""Finds topics that the target could not have, for `explain` and `plan`. It creates nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.topic_creation import trials
from legacy_mm.policies.changes import BROKER_DEFAULT, CreateTopic
from legacy_mm.policies.target_names import obstacles

_MAKES_TOPICS = "auto.create.topics.enable"
_PARTITIONS = "num.partitions"


def impossible_copies(
    target: Admin, copies: Iterable[str], deadline: Deadline, created: Mapping[str, int] = {}
) -> dict[str, str]:
    """Copy -> why the target would not have it, of those that are missing; raises HostError.

    `created`: those that the mirror creates -> replication factor. Whoever makes the others is taken to be the brokers,
    when the first record comes.
    """
    present = target.topics(deadline)
    missing = sorted(set(copies) - present.keys())
    if not missing:
        return {}
    found = obstacles(missing, present)
    properties = target.broker_properties(deadline)
    if properties.get(_MAKES_TOPICS) == "false":
        none = f"it is missing, and the brokers make no topic ({_MAKES_TOPICS}=false): make it, or set topic.creation"
        found = {name: none for name in missing if name not in created} | found
    replicas = BROKER_DEFAULT if properties else 1  # old brokers want a number, and which one is not to be known
    wanted = [CreateTopic(name, 1, created.get(name, replicas)) for name in missing if name not in found]
    return found | trials.creations(target, wanted, deadline).impossible


def partitions_of_copies(target: Admin, copies: Iterable[str], deadline: Deadline) -> dict[str, int]:
    """Copy -> its partitions, or those that the brokers would give it; raises HostError.

    One that is missing is left out where the brokers do not tell.
    """
    present = target.topics(deadline)
    wanted = set(copies)
    found = {name: present[name] for name in wanted & present.keys()}
    missing = wanted - present.keys()
    given = target.broker_properties(deadline).get(_PARTITIONS, "") if missing else ""
    return found | (dict.fromkeys(missing, int(given)) if given else {})
