"""Finds out what the target would refuse, by requests that change nothing.

A property that the target refuses is left out and named, the rest is done. Its error is reported for no other property.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.trial_creations import creation_errors, numbered
from legacy_mm.policies.changes import Alteration, CreateTopic, SetConfig, by_topic

_FACTOR = "replication.factor"
Item = TypeVar("Item")


class Tried(NamedTuple):
    """Changes that the target would accept, and the messages about the rest."""

    made: list[CreateTopic]
    impossible: dict[str, str]
    """Topic -> why it cannot be created at all."""
    left_out: list[str]
    """One line for each refused property."""
    notes: list[str]

    @property
    def troubles(self) -> list[str]:
        """One line for each change that would not be made."""
        refused = [f"topic {topic} cannot be created at the target: {why}" for topic, why in self.impossible.items()]
        return [*refused, *self.left_out]


def creations(target: Admin, wanted: Sequence[CreateTopic], deadline: Deadline) -> Tried:
    """Return these topics as the target would create them; raises HostError."""
    wanted, errors, notes = numbered(target, wanted, deadline, _FACTOR)
    bare = {topic: why for topic, why in errors.items() if not _configs(wanted, topic)}
    doubtful = [each for each in wanted if each.topic in errors and each.configs]
    bare |= creation_errors(target, [replace(each, configs={}) for each in doubtful], deadline)
    spared = [each for each in doubtful if each.topic not in bare]
    refused = _refused_alone(target, spared, deadline)
    left = {each.topic: _without(each, refused[each.topic]) for each in spared}
    bare |= creation_errors(target, list(left.values()), deadline)
    left_out = [
        _left_out(topic, name, _configs(wanted, topic)[name], why)
        for topic, found in refused.items()
        for name, why in found.items()
    ]
    made = [left.get(each.topic, each) for each in wanted if each.topic not in bare]
    return Tried(made, bare, left_out, notes)


def alterations(target: Admin, wanted: Sequence[Alteration], deadline: Deadline) -> tuple[list[Alteration], list[str]]:
    """Return the changes that the target would make, and messages about the others; raises HostError."""
    doubtful = {each.change.topic for each in target.alter(wanted, deadline, trial=True) if each.error}  # type: ignore[union-attr]
    errors: dict[tuple[str, str], str] = {}
    for some in _in_turns({topic: of for topic, of in by_topic(wanted).items() if topic in doubtful}):
        for change, outcome in zip(some, target.alter(some, deadline, trial=True), strict=True):
            if outcome.error:
                errors[change.topic, change.name] = outcome.error
    troubles = [
        _left_out(each.topic, each.name, each.new if isinstance(each, SetConfig) else None, why)
        for each in wanted
        if (why := errors.get((each.topic, each.name)))
    ]
    return [each for each in wanted if (each.topic, each.name) not in errors], troubles


def _refused_alone(
    target: Admin, wanted: Sequence[CreateTopic], deadline: Deadline
) -> defaultdict[str, dict[str, str]]:
    """Return topic -> property -> why it would be refused, each tried alone."""
    refused: defaultdict[str, dict[str, str]] = defaultdict(dict)
    alone = {
        each.topic: [replace(each, configs={name: text}) for name, text in each.configs.items()] for each in wanted
    }
    for some in _in_turns(alone):
        for change, outcome in zip(some, target.create_topics(some, deadline, trial=True), strict=True):
            if outcome.error:
                refused[change.topic] |= dict.fromkeys(change.configs, outcome.error)
    return refused


def _in_turns(of_topic: Mapping[str, Sequence[Item]]) -> list[list[Item]]:
    """Split requests into groups in which each topic occurs at most once."""
    most = max(map(len, of_topic.values()), default=0)
    return [[items[turn] for items in of_topic.values() if turn < len(items)] for turn in range(most)]


def _without(change: CreateTopic, refused: Mapping[str, str]) -> CreateTopic:
    return replace(change, configs={name: text for name, text in change.configs.items() if name not in refused})


def _configs(wanted: Sequence[CreateTopic], topic: str) -> Mapping[str, str]:
    return next(each.configs for each in wanted if each.topic == topic)


def _left_out(topic: str, name: str, value: str | None, why: str) -> str:
    wanted = f"{name} removed" if value is None else f"{name}={value}"
    return f"topic {topic}: the target refuses {wanted}, which is left out: {why}"
