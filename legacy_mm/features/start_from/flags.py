"""Flags of a start at a time, and their settings."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.option import Option, past_milliseconds
from legacy_mm.base.settings import SourceSettings
from legacy_mm.features.flag import Flag
from legacy_mm.features.flag_values import FlagValues

_OWNER = "legacy_mm.controlplane.positions"
_EVERY, _TOPIC = "start.from", "start.from.topic"


def _time_or_none(text: str) -> int | None:
    return past_milliseconds(text) if text else None


FLAGS = (
    Flag(
        Option(
            _EVERY,
            "",
            "time",
            "Where no position of a partition is known, begin at its first record of this time or later, whatever "
            "auto.offset.reset says; at its end where there is none yet. This holds for topics that appear later, too. "
            "A time has its zone, such as 2026-11-01T00:00Z, or is in milliseconds since 1970.",
            _OWNER,
            type=_time_or_none,
        )
    ),
    Flag(
        Option(
            _TOPIC,
            None,
            "topic=time",
            "The same for one topic of the source; also --start.from.topic.TOPIC=TIME, a line for each in a file.",
            _OWNER,
            repeated=True,
        )
    ),
)


@dataclass(frozen=True, slots=True)
class StartTimes:
    """The times, in milliseconds since 1970, at which partitions without a position begin."""

    every: int | None = None
    """The time of topics without one of their own; None: they begin as `auto.offset.reset` says."""
    topics: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.every is not None or bool(self.topics)

    def of(self, topic: str) -> int | None:
        """Return the time of a topic; None: it has none."""
        return self.topics.get(topic, self.every)

    def among(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the times of those partitions whose topic has one."""
        return {each: time for each in partitions if (time := self.of(each.topic)) is not None}


def read(values: FlagValues) -> StartTimes | None:
    """Return the settings, or None if no time is given; raise ConfigurationError."""
    every, topics = values[_EVERY], values.pairs(_TOPIC)
    if every is None and not topics:
        return None
    return StartTimes(every, {topic: _time(topic, text.strip()) for topic, text in topics.items()})


def check(times: StartTimes | None, source: SourceSettings) -> None:
    """Raise ConfigurationError if the start is also said in another way."""
    if times is not None and source.new_from_earliest:
        flag = _EVERY if times.every is not None else _TOPIC
        raise ConfigurationError(
            f"{flag} and new.topics.from=earliest exclude each other, because both say where a partition without a "
            "position begins"
        )


def _time(topic: str, text: str) -> int:
    try:
        return past_milliseconds(text)
    except ArgumentTypeError as error:
        raise ConfigurationError(f"{_TOPIC}: {topic}: {error}") from None
