"""Finds out by requests that change nothing which topics a cluster would refuse, and its replication factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.policies.changes import BROKER_DEFAULT, CreateTopic

_REPLICAS = "default.replication.factor"


class Numbered(NamedTuple):
    """Topics to create, with a replication factor that the target takes."""

    wanted: Sequence[CreateTopic]
    errors: dict[str, str]
    """Topic -> why it would not be created even so."""
    notes: list[str]


def creation_errors(target: Admin, wanted: Sequence[CreateTopic], deadline: Deadline) -> dict[str, str]:
    """Return topic -> why it would not be created; raises HostError."""
    if not wanted:
        return {}
    outcomes = target.create_topics(wanted, deadline, trial=True)
    return {each.topic: outcome.error for each, outcome in zip(wanted, outcomes, strict=True) if outcome.error}


def numbered(target: Admin, wanted: Sequence[CreateTopic], deadline: Deadline, flag: str) -> Numbered:
    """Return these topics; where the brokers want a number, those without one get the brokers' own default.

    Brokers before 2.4 create no topic without a number. `flag` is what sets another one. Raises HostError.
    """
    errors = creation_errors(target, wanted, deadline)
    bare = [replace(each, configs={}) for each in wanted if _lacks_a_number(each) and each.topic in errors]
    default = target.broker_properties(deadline).get(_REPLICAS, "") if bare else ""
    if not default or not (refused := creation_errors(target, bare, deadline)):
        return Numbered(wanted, errors, [])
    with_number = [replace(each, replication_factor=int(default)) for each in bare]
    if creation_errors(target, with_number, deadline).keys() >= refused.keys():
        return Numbered(wanted, errors, [])
    note = (
        f"the brokers of the {target.name} are older than 2.4 and want a replication factor: topics are created with "
        f"{default}, their {_REPLICAS}; set {flag} for another one"
    )
    given = [replace(each, replication_factor=int(default)) if _lacks_a_number(each) else each for each in wanted]
    return Numbered(given, creation_errors(target, given, deadline), [note])


def _lacks_a_number(topic: CreateTopic) -> bool:
    return topic.replication_factor == BROKER_DEFAULT
