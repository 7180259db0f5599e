"""The choice of the engine: `batches` wherever possible, `records` for the rest, or the engine that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from legacy_mm.errors import ConfigurationError

Asked = Literal["auto", "batches", "records"]
EngineName = Literal["batches", "records"]


class EngineChoice(NamedTuple):
    """An engine and why it is this one."""

    engine: EngineName
    reason: str


def choose(asked: Asked, *, insecurity: Callable[[], str | None], only_batches: str | None = None) -> EngineChoice:
    """Choose the engine.

    `insecurity` names security that `batches` lacks, `only_batches` names a login that `records` lacks. Raise
    ConfigurationError when the engine that is asked for, or the only one there is, cannot do it.
    """
    if asked == "records":
        if only_batches:
            raise ConfigurationError(f"--engine records cannot be used: it has no login by {only_batches}")
        return EngineChoice("records", "--engine records")
    obstacle = insecurity()
    if obstacle is None:
        return EngineChoice("batches", "nothing in the options and the files needs single records")
    if only_batches:
        raise ConfigurationError(f"{only_batches} is possible with --engine batches only, and not here: {obstacle}")
    if asked == "batches":
        raise ConfigurationError(f"--engine batches cannot be used: {obstacle}")
    return EngineChoice("records", obstacle)
