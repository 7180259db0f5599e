"""Client quotas as values: whose they are, and how they are called."""

from __future__ import annotations

from collections.abc import Mapping

Entity = tuple[tuple[str, str | None], ...]
"""Kinds (`user`, `client-id`, `ip`) and names, sorted; without a name it is the default of all that have none."""
Quotas = Mapping[Entity, Mapping[str, float]]
"""Entity -> its limits by Kafka's names, such as `producer_byte_rate`."""


def entity_text(entity: Entity) -> str:
    """Return whose a quota is, such as `user alice, every other client-id`."""
    return ", ".join(f"every other {kind}" if name is None else f"{kind} {name}" for kind, name in entity)


def limit_text(limit: float) -> str:
    """Return a limit without an exponent."""
    return f"{limit:.0f}" if limit.is_integer() else f"{limit}"
