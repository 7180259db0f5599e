"""The choice of the engine: `batches` wherever possible, `records` for the rest, or the engine that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from legacy_mm.config.kafka_clients import ProduceSettings
from legacy_mm.errors import ConfigurationError

Asked = Literal["auto", "batches", "records"]
Engine = Literal["batches", "records"]

_OWN_PARTITIONER = "murmur2_random"


class EngineChoice(NamedTuple):
    """An engine and why it is this one."""

    engine: Engine
    reason: str


def choose(
    asked: Asked,
    target: ProduceSettings,
    *,
    needs_records: str | None,
    partitions_by_key: bool,
    insecurity: Callable[[], str | None],
    only_batches: str | None = None,
) -> EngineChoice:
    """Choose the engine for these settings of the producer.

    `needs_records` names features that must see each record, `partitions_by_key` is True if the producer's partitioner
    is used, `insecurity` names security that `batches` lacks, `only_batches` names a login that `records` lacks. Raise
    ConfigurationError when the engine that is asked for, or the only one there is, cannot do it.
    """
    if asked == "records":
        if only_batches:
            raise ConfigurationError(f"--engine records cannot be used: it has no login by {only_batches}")
        return EngineChoice("records", "--engine records")
    obstacle = needs_records or _obstacle(target, partitions_by_key=partitions_by_key) or insecurity()
    if obstacle is None:
        return EngineChoice("batches", "nothing in the options and the files needs single records")
    if only_batches:
        raise ConfigurationError(f"{only_batches} is possible with --engine batches only, and not here: {obstacle}")
    if asked == "batches":
        raise ConfigurationError(f"--engine batches cannot be used: {obstacle}")
    return EngineChoice("records", obstacle)


def _obstacle(target: ProduceSettings, *, partitions_by_key: bool) -> str | None:
    if target.acks == 0:
        return "acks=0 has no acknowledgements"
    if partitions_by_key and target.partitioner != _OWN_PARTITIONER:
        return f"the partitioner is {target.partitioner}"
    return None
