"""Built-in handlers that depend on topic names, resolved in the driver, which has Java, for the topics of a copy job.

The copy tasks get the same steps with names instead of expressions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from legacy_mm.base.errors import ConfigurationError, HandlerFailure, InvalidPattern
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.flow import transform_steps
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.transform_steps import TransformStep
from legacy_mm.handlers.built_in import KeepPartition, RenameTopic, rows_of, step
from legacy_mm.handlers.transforms import STEP
from legacy_mm.policies.topic_choice import Matcher
from legacy_mm.policies.topic_letters import has_legal_letters, why_no_topic
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.runtime.jvm.topic_router import TopicRename

_MAP, _FILTER = "rename.map", "filter.topic"


class _Step(Protocol):
    """Effect of a step on topic names."""

    keeps_partition: bool
    """Records go to the partition that they have at the source."""

    def renamed(self, names: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return name -> its possible new names, without dropped topics, or with none of them."""

    def exact(self, names: Collection[str]) -> str:
        """Return the step for a task that sees records of these topics only."""


class _Map:
    keeps_partition = False

    def __init__(self, value: str, java: StartJvm) -> None:
        self._rows = [TopicRename(java(), expression, name) for expression, name in rows_of(value)]
        for row in self._rows:
            _check_letters(row.sample)

    def renamed(self, names: Collection[str]) -> Mapping[str, Collection[str]]:
        return {name: [self._first(name)] for name in names}

    def exact(self, names: Collection[str]) -> str:
        return renaming({name: self._first(name) for name in names})

    def _first(self, name: str) -> str:
        found = (row.renamed(name) for row in self._rows)
        return next((new for new in found if new is not None), name)


class _Filter:
    keeps_partition = False

    def __init__(self, value: str, java: StartJvm) -> None:
        self._matcher: Matcher = java().topic_matcher(value)

    def renamed(self, names: Collection[str]) -> Mapping[str, Collection[str]]:
        return {name: [name] for name in sorted(self._matcher.matching(names))}

    def exact(self, names: Collection[str]) -> str:
        return f"{_FILTER}={','.join(self.renamed(names))}"


class _Other:
    """An affix step, or a step that ignores names."""

    def __init__(self, text: str) -> None:
        made = step(text)
        self._text = text
        self._rename = made.renamed if isinstance(made, RenameTopic) else str
        self.keeps_partition = isinstance(made, KeepPartition)
        _check_letters(self._rename(""))

    def renamed(self, names: Collection[str]) -> Mapping[str, Collection[str]]:
        return {name: [self._rename(name)] for name in names}

    def exact(self, names: Collection[str]) -> str:
        return self._text


class TopicSteps:
    """The steps of a line, one after the other."""

    def __init__(self, steps: Sequence[str], java: StartJvm) -> None:
        """Build the steps; raises ConfigurationError for one that cannot be made.

        `java` is called only if there are expressions.
        """
        self._steps = [_make_step(text, java) for text in steps]
        self.see_records = see_records(steps)
        """False: topic names are all that counts, so that whole batches can go their way unopened."""

    def exact(self, topics: Collection[str]) -> list[str]:
        """Return the steps with names in place of expressions; raises HandlerFailure for an illegal name."""
        self.names(topics)
        texts, names = [], set(topics)
        for each in self._steps:
            texts.append(each.exact(sorted(names)))
            names = set().union(*each.renamed(names).values())
        return texts

    @property
    def keep_partition(self) -> bool:
        """Return True if records keep their partitions."""
        return any(each.keeps_partition for each in self._steps)

    def behind(self, names: Mapping[str, str]) -> list[str]:
        """Return `exact` for a task that sees these topics, whose records the first step sees by their new names."""
        return [renaming(names), *self.exact({*names.values()})]

    def names(self, topics: Collection[str]) -> dict[str, str]:
        """Return topic -> new name, `a or b` where the record decides, without dropped topics; raises
        HandlerFailure.
        """
        found = {topic: {topic} for topic in sorted(topics)}
        for each in self._steps:
            made = each.renamed(set().union(*found.values()))
            found = {topic: set().union(*(made.get(name, ()) for name in names)) for topic, names in found.items()}
        for topic, names in found.items():
            for name in names:
                if why := why_no_topic(name):
                    raise HandlerFailure(f"{self._says} topic {topic} {name!r} at the target: {why}")
        return {topic: " or ".join(sorted(names)) for topic, names in found.items() if names}

    @property
    def _says(self) -> str:
        transforms = any(isinstance(each, TransformStep) for each in self._steps)
        return "the transforms call" if transforms else "--handler.step calls"


def move_whole_topics(settings: Settings) -> bool:
    """Return True if the handler is steps that are names for whole topics, so that no task needs them.

    Not with features that expect a topic's copy under the name that the policy gives it.
    """
    handler, features = settings.handler, settings.features
    if handler is None or not handler.steps or features.have_duties or features[OFFSET_SYNCS] is not None:
        return False
    return not see_records(handler.steps)


def see_records(steps: Sequence[str]) -> bool:
    """Return True unless all these steps give all records of a topic the same way, by its name."""
    return any(map(_sees_records, steps))


def _sees_records(text: str) -> bool:
    name, _, value = text.partition("=")
    if name == STEP:
        return transform_steps.sees_records(value)
    return name not in (_MAP, _FILTER) and not isinstance(step(text), RenameTopic | KeepPartition)


def renaming(names: Mapping[str, str]) -> str:
    """Return the step that gives these topics their new names."""
    return f"{_MAP}={','.join(f'{name}->{new}' for name, new in names.items())}"


def _make_step(text: str, java: StartJvm) -> _Step:
    name, _, value = text.partition("=")
    if name == STEP:
        return TransformStep(value, java)
    try:
        if name == _MAP:
            return _Map(value, java)
        return _Filter(value, java) if name == _FILTER else _Other(text)
    except (ConfigurationError, InvalidPattern) as error:
        said = getattr(error, "advice", "") or str(error)
        raise ConfigurationError(said if said.startswith("--") else f"--handler.step {name}: {said}") from None


def _check_letters(made: str) -> None:
    if not has_legal_letters(made):
        raise ConfigurationError(
            f"{made!r} is not legal in the name of a topic, which has letters, digits, dots, dashes and _ only"
        )
